"""`/theme` at a real terminal: a preview that follows the selection, and a choice that is kept."""

import json

from support.program import text_script
from support.terminal.chat import TerminalEnv, quit_program, send_prompt, terminal_env

__all__ = ["terminal_env"]

LIGHT_ADDED = b"48;2;198;234;216"
"""The background of added lines in the theme Xcode."""


def test_a_theme_is_previewed_and_chosen(terminal_env: TerminalEnv) -> None:
    with terminal_env.open_chat(text_script("Hi."), TERM="xterm-256color", COLORTERM="truecolor") as user:
        send_prompt(user, "/theme")
        user.wait_for("price * percent / 100", idle=True)
        assert LIGHT_ADDED not in user.raw
        user.type("xco")
        user.wait_until(lambda screen: LIGHT_ADDED in user.raw and "❯ Xcode" in screen.text(), idle=True)
        user.press("escape")
        user.wait_until_gone("Choose a theme", idle=True)
        assert not (terminal_env.home / ".gemini" / "settings.json").exists()

        send_prompt(user, "/theme")
        user.wait_for("Choose a theme", idle=True)
        user.type("xco")
        user.wait_until(lambda screen: "❯ Xcode" in screen.text(), idle=True)
        user.press("enter")
        user.wait_for("ui.theme is now Xcode.", idle=True)
        quit_program(user)
    saved = json.loads((terminal_env.home / ".gemini" / "settings.json").read_text(encoding="utf-8"))
    assert saved == {"ui": {"theme": "Xcode"}}
