"""The terminal is asked for its background, and its answer never gets in the way."""

import fcntl
import os
import termios
import time
from typing import Any

import pytest

from support.program import text_script
from support.terminal.chat import TerminalEnv, quit_program, send_prompt, terminal_env
from support.terminal.screen import ScreenUser
from tejat.ui.terminal.background import is_dark_report, may_ask_background

__all__ = ["terminal_env"]

QUERY = b"\x1b]11;?\x1b\\"


@pytest.mark.parametrize(
    ("colour", "is_dark"),
    [
        ("rgb:0000/0000/0000", True),
        ("rgb:ffff/ffff/ffff", False),
        ("rgb:1e1e/1e1e/2e2e", True),
        ("rgb:fd/f6/e3", False),
        ("rgba:0/0/0/f", True),
        ("#FFFFFF", False),
        ("rgb:8080/8080/8080", False),
        ("", None),
        ("?", None),
        ("rgb:zz/00/00", None),
        ("rgb:00000/0/0", None),
    ],
)
def test_colours_of_terminals(colour: str, is_dark: bool | None) -> None:
    assert is_dark_report(colour) is is_dark


@pytest.mark.parametrize(
    ("environment", "may_ask"),
    [
        ({"TERM": "xterm-256color"}, True),
        ({"TERM": "alacritty"}, True),
        ({"TERM": "tmux-256color", "TMUX": "/tmp/x"}, True),
        ({"TERM": "screen-256color", "TMUX": "/tmp/x"}, True),
        ({"TERM": "screen"}, False),
        ({"TERM": "linux"}, False),
        ({"TERM": "dumb"}, False),
        ({}, False),
        ({"TERM": "xterm", "COLORFGBG": "15;0"}, False),
        ({"TERM": "xterm", "NO_COLOR": "1"}, False),
    ],
)
def test_who_is_asked(environment: dict[str, str], may_ask: bool) -> None:
    assert may_ask_background(environment) is may_ask


SCRIPT = text_script("# Heading")


def heading_style(terminal_env: TerminalEnv, background: str = "", **environment: Any) -> str:
    with terminal_env.open_chat(SCRIPT, background=background, **environment) as user:
        send_prompt(user, "hello")
        user.wait_for("Heading", idle=True)
        assert "11;" not in user.text
        assert "rgb" not in user.text
        style = str(user.screen.style_of("Heading"))
        quit_program(user)
        assert user.modes_are_restored()
        return style


COLOURS: dict[str, Any] = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}


def test_the_theme_follows_the_background(terminal_env: TerminalEnv) -> None:
    dark, light = (heading_style(terminal_env, background, **COLOURS) for background in ("#1e1e2e", "#ffffff"))
    assert dark != light
    assert heading_style(terminal_env, **COLOURS) == dark  # without an answer
    assert heading_style(terminal_env, "#ffffff", **COLOURS, COLORFGBG="15;0") == dark  # nobody needs to ask
    terminal_env.write_settings(ui={"theme": "dark"})
    assert heading_style(terminal_env, "#ffffff", **COLOURS) == dark


def test_an_answer_that_comes_late_does_not_reach_the_shell(terminal_env: TerminalEnv) -> None:
    with terminal_env.open_chat(SCRIPT, ready=None, **COLOURS) as user:
        user.wait_until(lambda _: QUERY in user.raw, wanted="the question")
        user.press("c-d")
        time.sleep(0.05)
        user.type("\x1b]11;rgb:ffff/ffff/ffff\x1b\\")
        assert user.wait_for_exit() == 0
        assert unread_bytes(user) == 0
        assert user.modes_are_restored()


def unread_bytes(user: ScreenUser) -> int:
    """What the shell would read now."""
    line = os.open(os.ttyname(user._line), os.O_RDWR | os.O_NOCTTY)  # pyright: ignore[reportPrivateUsage]
    try:
        modes = termios.tcgetattr(line)
        modes[3] &= ~termios.ICANON
        termios.tcsetattr(line, termios.TCSANOW, modes)
        count = fcntl.ioctl(line, termios.FIONREAD, bytes(4))
        modes[3] |= termios.ICANON
        termios.tcsetattr(line, termios.TCSANOW, modes)
        return int.from_bytes(count, "little")
    finally:
        os.close(line)
