"""Prompts of commands at a real terminal."""

import base64
import sys
from pathlib import Path
from typing import Any

import pytest

from support.terminal.pty_program import write_script
from support.terminal.screen import ScreenUser, open_screen

PROGRAM = (sys.executable, str(Path(__file__).with_name("approver_program.py")))


def answered(user: ScreenUser) -> str:
    user.wait_for("answered: ")
    assert user.wait_for_exit() == 0
    assert user.modes_are_restored()
    (line,) = (line for line in user.text.splitlines() if line.startswith("answered: "))
    return line.removeprefix("answered: ").strip()


@pytest.mark.parametrize(
    ("keys", "place"), [(["enter"], "0"), (["down", "enter"], "1"), (["3"], "2"), (["escape"], "None")]
)
def test_choosing(keys: list[str], place: str) -> None:
    with open_screen("choose", program=PROGRAM, columns=40) as user:
        user.wait_for("Which?")
        assert "Look at this." in user.text
        user.press(*keys)
        assert answered(user) == place


def test_entering_a_secret() -> None:
    with open_screen("enter", program=PROGRAM) as user:
        user.wait_for("Your key")
        user.paste("hunter2\n")
        user.wait_for("> ••••••••")
        assert b"hunter2" not in user.raw
        user.press("enter")
        assert answered(user) == "hunter2"


class TestPaging:
    def test_what_is_longer_than_the_screen_is_in_the_pager(self, tmp_path: Path) -> None:
        pager = write_script(tmp_path / "pager", 'sed -n "1p;3p;42p" "$1"', "read line")
        with open_screen("page", program=PROGRAM, PAGER=pager) as user:
            user.wait_for("row 39")
            assert [line for line in user.text.splitlines() if line] == ["Short.", "row 0", "row 39"]
            user.press("enter")
            assert answered(user) == "True"

    def test_less(self) -> None:
        with open_screen("page", program=PROGRAM, PAGER="less") as user:
            user.wait_for("Space for more, q to continue")
            assert "row 20" in user.text
            user.press("G")
            user.wait_for("End, q to continue")
            user.press("q")
            assert answered(user) == "True"
            assert "row 39" not in user.text

    def test_what_fits_stays_on_the_screen(self) -> None:
        with open_screen("fitting", program=PROGRAM, PAGER="less") as user:
            assert answered(user) == "False"
            assert "Short." in user.text

    @pytest.mark.parametrize(("name", "value"), [("PAGER", "cat"), ("PATH", "/nowhere")], ids=["off", "none"])
    def test_without_a_pager_everything_is_printed(self, name: str, value: str) -> None:
        environment: dict[str, Any] = {name: value}
        with open_screen("page", program=PROGRAM, **environment) as user:
            assert answered(user) == "False"
            assert "row 39" in user.text


def test_editing(tmp_path: Path) -> None:
    editor = write_script(tmp_path / "editor", 'printf "after" >> "$1"', 'case "$1" in *.txt) ;; *) exit 1;; esac')
    with open_screen("write", program=PROGRAM, EDITOR=editor) as user:
        user.wait_for("answered: before")
        user.wait_for("after")
        assert user.wait_for_exit() == 0


def test_editing_without_an_editor() -> None:
    with open_screen("write", program=PROGRAM) as user:
        user.wait_for("refused: No external editor is available.")
        assert user.wait_for_exit() == 0


def test_copying_through_the_terminal() -> None:
    with open_screen("copy", program=PROGRAM, PATH="/nowhere") as user:
        assert answered(user) == "Sent to the terminal to copy."
        assert b"\x1b]52;c;" + base64.b64encode(b"Hello") + b"\x07" in user.raw
