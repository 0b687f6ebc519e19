"""Which terminal this is, and how its configuration is changed."""

import json

import pytest

from tejat.app.setup.terminal_keys import TerminalKind, add_snippet, detect_terminal, key_setup
from tejat.config.jsonc import parse_jsonc
from tejat.core.errors import UsageError

VSCODE = key_setup(TerminalKind.VSCODE, {}, home="/home/me", is_mac=False)
BINDING = json.loads(VSCODE.snippet)


@pytest.mark.parametrize(
    ("environment", "kind"),
    [
        ({"TMUX": "/tmp/x", "TERM_PROGRAM": "iTerm.app"}, TerminalKind.TMUX),
        ({"TERM_PROGRAM": "vscode"}, TerminalKind.VSCODE),
        ({"TERM_PROGRAM": "vscode", "CURSOR_TRACE_ID": "1"}, TerminalKind.CURSOR),
        ({"TERM_PROGRAM": "vscode", "VSCODE_GIT_ASKPASS_MAIN": "/opt/Windsurf/x"}, TerminalKind.WINDSURF),
        ({"TERM_PROGRAM": "iTerm.app"}, TerminalKind.ITERM2),
        ({"LC_TERMINAL": "iTerm2"}, TerminalKind.ITERM2),
        ({"TERM": "xterm-kitty"}, TerminalKind.KITTY),
        ({"TERM_PROGRAM": "WezTerm"}, TerminalKind.WEZTERM),
        ({"TERM": "xterm-ghostty"}, TerminalKind.GHOSTTY),
        ({"TERM": "alacritty"}, TerminalKind.ALACRITTY),
        ({"TERM": "foot"}, TerminalKind.FOOT),
        ({"TERM": "xterm-256color"}, TerminalKind.OTHER),
    ],
)
def test_detection(environment: dict[str, str], kind: TerminalKind) -> None:
    assert detect_terminal(environment) is kind


def test_paths() -> None:
    assert VSCODE.path == "/home/me/.config/Code/User/keybindings.json"
    mac = key_setup(TerminalKind.CURSOR, {}, home="/Users/me", is_mac=True)
    assert mac.path == "/Users/me/Library/Application Support/Cursor/User/keybindings.json"
    kitty = key_setup(TerminalKind.KITTY, {"KITTY_CONFIG_DIRECTORY": "/k"}, home="/home/me", is_mac=False)
    assert kitty.path == "/k/kitty.conf"


@pytest.mark.parametrize(
    ("text", "others"),
    [
        ("", 0),
        ("[]", 0),
        ("// mine\n[\n]\n", 0),
        ('// [not here]\n/* nor [here] */ [ {"key": "f1", "command": "x"}, // last\n]', 1),
        ('[{"key": "shift+enter", "command": "x", "when": "editorFocus"},]', 1),
    ],
)
def test_a_binding_is_added_and_everything_else_stays(text: str, others: int) -> None:
    changed = add_snippet(VSCODE, text)
    assert changed is not None
    bindings = parse_jsonc(changed).value
    assert isinstance(bindings, list)
    assert len(bindings) == others + 1
    assert changed.endswith(text.rpartition("[")[2])
    assert "\\u001b[13;2u" in changed
    assert add_snippet(VSCODE, changed) is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[", "The file has an error: "),
        ("{}", "The file is not a list of key bindings."),
        ('[{"key": "shift+enter", "command": "x", "when": "terminalFocus"}]', "Shift-Enter has another key binding"),
    ],
)
def test_a_file_that_is_left_alone(text: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        add_snippet(VSCODE, text)


def test_lines_are_added_once() -> None:
    tmux = key_setup(TerminalKind.TMUX, {}, home="/nowhere", is_mac=False)
    changed = add_snippet(tmux, "set -g mouse on\n")
    assert changed is not None
    assert changed.startswith(
        "set -g mouse on\n\n# Shift-Enter inserts a new line in tejat.\nset -s extended-keys on\n"
    )
    assert add_snippet(tmux, changed) is None
