"""The background of the terminal, as commands ask for it."""

import sys

import pytest

from support.terminal.screen import open_screen
from tejat.ui.shared.terminal_background import is_dark_report, may_ask_background


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


PROGRAM = (sys.executable, "-c")
READ = "from tejat.ui.shared.terminal_background import read_background as f; print('dark:', f(), f())"


@pytest.mark.parametrize(("background", "is_dark"), [("#000000", True), ("#ffffff", False), ("", None)])
def test_a_command_asks_once_and_leaves_nothing_behind(background: str, is_dark: bool | None) -> None:
    with open_screen(READ, program=PROGRAM, background=background) as user:
        user.wait_for(f"dark: {is_dark} {is_dark}")
        assert user.wait_for_exit() == 0
        assert user.raw.count(b"\x1b]11;?") == 1
        assert "11;" not in user.text
        assert user.modes_are_restored()


def test_keys_that_wait_are_left_to_the_program() -> None:
    code = f"import sys, time; print('ready', flush=True); time.sleep(1); {READ}; print('got', sys.stdin.readline())"
    with open_screen(code, program=PROGRAM, background="#ffffff") as user:
        user.wait_for("ready")
        user.type("hello\r")
        user.wait_for("dark: None None")
        user.wait_for("got hello")
        assert user.wait_for_exit() == 0
