"""Commands that ask the person at a real terminal."""

import base64
import sys
from pathlib import Path

import pytest

from support.terminal.pty_program import write_script
from support.terminal.screen import ScreenUser, open_screen

PROGRAM = (sys.executable, str(Path(__file__).with_name("approver_program.py")))


def answered(person: ScreenUser) -> str:
    person.wait_for("answered: ")
    assert person.wait_for_exit() == 0
    assert person.modes_are_restored()
    (line,) = (line for line in person.text.splitlines() if line.startswith("answered: "))
    return line.removeprefix("answered: ").strip()


@pytest.mark.parametrize(
    ("keys", "place"), [(["enter"], "0"), (["down", "enter"], "1"), (["3"], "2"), (["escape"], "None")]
)
def test_choosing(keys: list[str], place: str) -> None:
    with open_screen("choose", program=PROGRAM, columns=40) as person:
        person.wait_for("Which?")
        assert "Look at this." in person.text
        person.press(*keys)
        assert answered(person) == place


def test_entering_a_secret() -> None:
    with open_screen("enter", program=PROGRAM) as person:
        person.wait_for("Your key")
        person.paste("hunter2\n")
        person.wait_for("> ••••••••")
        assert b"hunter2" not in person.raw
        person.press("enter")
        assert answered(person) == "hunter2"


def test_editing(tmp_path: Path) -> None:
    editor = write_script(tmp_path / "editor", 'printf "after" >> "$1"', 'case "$1" in *.txt) ;; *) exit 1;; esac')
    with open_screen("write", program=PROGRAM, EDITOR=editor) as person:
        person.wait_for("answered: before")
        person.wait_for("after")
        assert person.wait_for_exit() == 0


def test_editing_without_an_editor() -> None:
    with open_screen("write", program=PROGRAM) as person:
        person.wait_for("refused: No external editor is available.")
        assert person.wait_for_exit() == 0


def test_copying_through_the_terminal() -> None:
    with open_screen("copy", program=PROGRAM, PATH="/nowhere") as person:
        assert answered(person) == "Handed to the terminal to copy."
        assert b"\x1b]52;c;" + base64.b64encode(b"Hello") + b"\x07" in person.raw
