"""Shift-Enter in terminals: which terminal this is, whether it reports the key, and what to configure."""

import json
import os
import re
from collections.abc import Mapping

from tejat.config.jsonc import JsoncError, JsonNode, parse_jsonc
from tejat.core.errors import UsageError
from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.text.str_enum import StrEnum

_SEQUENCE = "[13;2u"
"""What follows the escape character when Shift-Enter is reported."""
_ARRAY_START = re.compile(r"\A\ufeff?(?:\s|//[^\n]*\n|/\*.*?\*/)*\[", re.DOTALL)


class TerminalKind(StrEnum):
    """A terminal or multiplexer whose configuration is known. The values are the words after `/terminal-setup`."""

    VSCODE = "vscode"
    CURSOR = "cursor"
    WINDSURF = "windsurf"
    ITERM2 = "iterm2"
    KITTY = "kitty"
    WEZTERM = "wezterm"
    GHOSTTY = "ghostty"
    ALACRITTY = "alacritty"
    FOOT = "foot"
    TMUX = "tmux"
    OTHER = "other"


class KeySetup(Frozen):
    """How a terminal is made to report Shift-Enter.

    `is_native`: it does so without configuration. `snippet` belongs into `path`; without a path the user adds it by
    hand as `instructions` say.
    """

    kind: TerminalKind
    name: str
    is_native: bool = False
    instructions: str = ""
    snippet: str = ""
    path: str | None = None
    reload_hint: str = ""


def detect_terminal(environment: Mapping[str, str]) -> TerminalKind:
    """The innermost terminal or multiplexer that keys come from."""
    if environment.get("TMUX"):
        return TerminalKind.TMUX
    program, term = environment.get("TERM_PROGRAM", "").casefold(), environment.get("TERM", "")
    if program == "vscode":
        hints = f"{environment.get('VSCODE_GIT_ASKPASS_MAIN', '')} {environment.get('BROWSER', '')}".casefold()
        if environment.get("CURSOR_TRACE_ID") or "cursor" in hints:
            return TerminalKind.CURSOR
        return TerminalKind.WINDSURF if "windsurf" in hints else TerminalKind.VSCODE
    by_program = {"iterm.app": TerminalKind.ITERM2, "wezterm": TerminalKind.WEZTERM, "ghostty": TerminalKind.GHOSTTY}
    if program in by_program:
        return by_program[program]
    if environment.get("LC_TERMINAL") == "iTerm2":
        return TerminalKind.ITERM2
    if environment.get("KITTY_WINDOW_ID") or term == "xterm-kitty":
        return TerminalKind.KITTY
    if environment.get("WEZTERM_PANE"):
        return TerminalKind.WEZTERM
    by_term = {
        "xterm-ghostty": TerminalKind.GHOSTTY,
        "alacritty": TerminalKind.ALACRITTY,
        "foot": TerminalKind.FOOT,
        "foot-extra": TerminalKind.FOOT,
    }
    return by_term.get(term, TerminalKind.OTHER)


def key_setup(kind: TerminalKind, environment: Mapping[str, str], *, home: str, is_mac: bool) -> KeySetup:
    """What to configure in a terminal. Paths are those of this machine; over SSH the terminal is elsewhere."""
    config = environment.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    is_remote = bool(environment.get("SSH_CONNECTION") or environment.get("SSH_TTY"))
    match kind:
        case TerminalKind.VSCODE | TerminalKind.CURSOR | TerminalKind.WINDSURF:
            setup = _vscode_setup(kind, config, home, is_mac=is_mac)
        case TerminalKind.KITTY:
            directory = environment.get("KITTY_CONFIG_DIRECTORY") or os.path.join(config, "kitty")
            setup = KeySetup(
                kind,
                "kitty",
                instructions=lazy("Add this line to kitty.conf:"),
                snippet=f"map shift+enter send_text all \\e{_SEQUENCE}",
                path=os.path.join(directory, "kitty.conf"),
                reload_hint=lazy("Press Ctrl-Shift-F5 in kitty to reload its configuration."),
            )
        case TerminalKind.ALACRITTY:
            setup = KeySetup(
                kind,
                "Alacritty",
                instructions=lazy("Add this to alacritty.toml:"),
                snippet=f'[[keyboard.bindings]]\nkey = "Return"\nmods = "Shift"\nchars = "\\u001b{_SEQUENCE}"',
                path=os.path.join(config, "alacritty", "alacritty.toml"),
                reload_hint=lazy("Alacritty reloads its configuration by itself."),
            )
        case TerminalKind.TMUX:
            own = os.path.join(config, "tmux", "tmux.conf")
            setup = KeySetup(
                kind,
                "tmux",
                instructions=lazy("Add these lines to tmux.conf (tmux 3.2 or newer):"),
                snippet=(
                    "set -s extended-keys on\nset -as terminal-features ',*:extkeys'\n"
                    f'bind-key -n S-Enter send-keys Escape "{_SEQUENCE}"'
                ),
                path=own if os.path.exists(own) else os.path.join(home, ".tmux.conf"),
                reload_hint=lazy("Reload with: tmux source-file ~/.tmux.conf. The terminal around tmux needs it too."),
            )
        case _:
            return _manual_setup(kind)
    return setup if not is_remote or kind is TerminalKind.TMUX else _without_path(setup)


def _manual_setup(kind: TerminalKind) -> KeySetup:
    """Terminals that need no configuration, or have one that is not a plain file."""
    match kind:
        case TerminalKind.GHOSTTY:
            return KeySetup(kind, "Ghostty", is_native=True)
        case TerminalKind.FOOT:
            return KeySetup(kind, "foot", is_native=True)
        case TerminalKind.ITERM2:
            text = lazy(
                "In Settings > Profiles > Keys > Key Mappings add Shift-Enter with the action "
                "Send Escape Sequence and this text:"
            )
            return KeySetup(kind, "iTerm2", instructions=text, snippet=_SEQUENCE)
        case TerminalKind.WEZTERM:
            snippet = (
                "config.keys = {\n"
                f'  {{ key = "Enter", mods = "SHIFT", action = wezterm.action.SendString("\\x1b{_SEQUENCE}") }},\n'
                "}"
            )
            return KeySetup(kind, "WezTerm", instructions=lazy("Add this to wezterm.lua:"), snippet=snippet)
        case _:
            text = lazy("Configure your terminal to send this text for Shift-Enter:")
            return KeySetup(kind, lazy("this terminal"), instructions=text, snippet=f"\\x1b{_SEQUENCE}")


def _vscode_setup(kind: TerminalKind, config: str, home: str, *, is_mac: bool) -> KeySetup:
    folder = {"vscode": "Code", "cursor": "Cursor", "windsurf": "Windsurf"}[kind]
    base = os.path.join(home, "Library", "Application Support") if is_mac else config
    return KeySetup(
        kind,
        {"vscode": "VS Code", "cursor": "Cursor", "windsurf": "Windsurf"}[kind],
        instructions=lazy("Run the command 'Preferences: Open Keyboard Shortcuts (JSON)' and add:"),
        snippet=json.dumps(_VSCODE_BINDING, indent=2),
        path=os.path.join(base, folder, "User", "keybindings.json"),
    )


def _without_path(setup: KeySetup) -> KeySetup:
    return KeySetup(setup.kind, setup.name, instructions=setup.instructions, snippet=setup.snippet)


def add_snippet(setup: KeySetup, text: str) -> str | None:
    """The text of a configuration file with the snippet, None if it is there already.

    Raises UsageError if the file cannot be understood, or if Shift-Enter does something else there.
    """
    if setup.kind not in (TerminalKind.VSCODE, TerminalKind.CURSOR, TerminalKind.WINDSURF):
        if setup.snippet in text:
            return None
        before = text if not text or text.endswith("\n") else f"{text}\n"
        return f"{before}\n# Shift-Enter inserts a new line in tejat.\n{setup.snippet}\n".lstrip("\n")
    return _add_vscode_binding(text)


def _add_vscode_binding(text: str) -> str | None:
    if not text.strip():
        return f"{json.dumps([_VSCODE_BINDING], indent=2)}\n"
    try:
        bindings = parse_jsonc(text).value
    except JsoncError as error:
        raise UsageError(lazy("The file has an error: {why}. Nothing was changed.", why=error)) from None
    start = _ARRAY_START.match(text)
    if not isinstance(bindings, list) or start is None:
        raise UsageError(lazy("The file is not a list of key bindings. Nothing was changed."))
    for binding in bindings:
        if _member(binding, "key") == "shift+enter" and "terminal" in str(_member(binding, "when")):
            if _SEQUENCE in str(binding):
                return None
            raise UsageError(lazy("Shift-Enter has another key binding there. Nothing was changed."))
    entry = json.dumps(_VSCODE_BINDING, indent=2).replace("\n", "\n  ")
    comma = "," if bindings else "" if text[start.end() :].startswith("\n") else "\n"
    return f"{text[: start.end()]}\n  {entry}{comma}{text[start.end() :]}"


def _member(binding: JsonNode, name: str) -> object:
    members = binding.value
    return members[name].value if isinstance(members, dict) and name in members else None


_VSCODE_BINDING = {
    "key": "shift+enter",
    "command": "workbench.action.terminal.sendSequence",
    "when": "terminalFocus",
    "args": {"text": f"\x1b{_SEQUENCE}"},
}
