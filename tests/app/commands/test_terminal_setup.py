"""`/terminal-setup`."""

import pytest

from support.command_runner import CommandEnv
from support.prompter import FakePrompter

YES = 1


def run(env: CommandEnv, line: str = "/terminal-setup", *answers: int) -> list[str]:
    return env.output_of(line, prompter=FakePrompter(choices=answers)).splitlines()


def test_a_terminal_that_needs_nothing(env: CommandEnv) -> None:
    env.environment["TERM_PROGRAM"] = "ghostty"
    assert run(env) == [
        "Ghostty reports Shift-Enter; nothing to set up.",
        "Ctrl-J and Alt-Enter insert a new line in every terminal.",
    ]


def test_kitty_after_a_yes(env: CommandEnv) -> None:
    env.environment["KITTY_WINDOW_ID"] = "1"
    path = env.home / ".config" / "kitty" / "kitty.conf"
    path.parent.mkdir(parents=True)
    path.write_text("font_size 12")
    path.chmod(0o640)
    assert run(env)[-1] == "Nothing was written."
    lines = run(env, "/terminal-setup", YES)
    assert lines[:4] == [
        "Shift-Enter for new lines",
        "kitty does not report Shift-Enter unless it is configured to.",
        "Add this line to kitty.conf:",
        "map shift+enter send_text all \\e[13;2u",
    ]
    assert lines[-2:] == [
        "Added to ~/.config/kitty/kitty.conf.",
        "Press Ctrl-Shift-F5 in kitty to reload its configuration.",
    ]
    assert path.read_text().startswith("font_size 12\n\n# ")
    assert path.read_text().endswith("\nmap shift+enter send_text all \\e[13;2u\n")
    assert path.stat().st_mode & 0o777 == 0o640
    assert run(env, "/terminal-setup kitty", YES)[-1] == "~/.config/kitty/kitty.conf already has it."


def test_a_new_file(env: CommandEnv) -> None:
    assert run(env, "/terminal-setup tmux", YES)[-2] == "Added to ~/.tmux.conf."
    assert "bind-key -n S-Enter" in (env.home / ".tmux.conf").read_text()


def test_a_file_that_cannot_be_understood(env: CommandEnv) -> None:
    path = env.home / ".config" / "Code" / "User" / "keybindings.json"
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    shown = run(env, "/terminal-setup vscode", YES)[-1]
    assert shown == "~/.config/Code/User/keybindings.json: The file is not a list of key bindings. Nothing was changed."
    assert path.read_text() == "{}"


def test_over_ssh_nothing_is_written(env: CommandEnv) -> None:
    env.environment |= {"SSH_CONNECTION": "a", "TERM_PROGRAM": "vscode"}
    shown = env.output_of("/terminal-setup", prompter=FakePrompter(choices=[YES]))
    assert "Preferences: Open Keyboard Shortcuts (JSON)" in shown
    assert not (env.home / ".config").exists()


@pytest.mark.parametrize("name", ["iterm2", "wezterm"])
def test_terminals_that_are_set_up_by_hand(env: CommandEnv, name: str) -> None:
    assert "[13;2u" in "\n".join(run(env, f"/terminal-setup {name}"))


def test_an_unknown_terminal(env: CommandEnv) -> None:
    assert run(env)[1] == "Unknown terminal. It may not report Shift-Enter: press it in a prompt to try."
    assert run(env, "/terminal-setup notepad")[0].startswith("Unknown terminal notepad. Known: vscode, cursor, ")
