"""Questions at a real terminal, from the first look to the answer."""

import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.terminal.pty_program import write_script
from support.terminal.screen import ScreenUser, open_screen
from tejat.ui.terminal.dialogs.key_guard import GRACE_SECONDS

PROGRAM = (sys.executable, str(Path(__file__).with_name("approver_program.py")))


@contextmanager
def at_question(what: str, seen: str, **settings: object) -> Generator[ScreenUser]:
    """Somebody who has looked at the question for long enough."""
    with open_screen(what, program=PROGRAM, **settings) as person:  # pyright: ignore[reportArgumentType]
        person.wait_for(seen)
        time.sleep(GRACE_SECONDS + 0.05)  # this is the time that it takes
        yield person


def answered(person: ScreenUser) -> str:
    person.wait_for("answered: ")
    assert person.wait_for_exit() == 0
    assert person.modes_are_restored()
    (line,) = (line for line in person.text.splitlines() if line.startswith("answered: "))
    return line.removeprefix("answered: ").strip()


@pytest.mark.parametrize("settings", [{}, {"columns": 40}, {"lang": "C"}, {"rows": 10}])
def test_yes(settings: dict[str, object]) -> None:
    with at_question("shell", "$ git log", **settings) as person:
        assert "Run a shell command in /w" in person.text
        person.press("y")
        assert answered(person) == "proceed_once None None None"
        assert "$ git log" not in person.text


def test_enter_that_was_meant_for_something_else() -> None:
    with open_screen("shell", program=PROGRAM) as person:
        person.wait_for("$ git log")
        person.press("enter")
        person.wait_idle()
        assert "answered" not in person.text
        time.sleep(GRACE_SECONDS)
        person.press("n")
        assert answered(person) == "cancel None None None"


@pytest.mark.parametrize("columns", [80, 40])
def test_a_risky_call_with_all_that_would_be_hidden(columns: int) -> None:
    with at_question("risky", "No", columns=columns) as person:
        shown = person.text.replace("\n| ", "")
        assert "Risk: it deletes or overwrites" in shown
        assert "$ echo <U+001B>]52;c;eA==<U+0007><U+001B>[2J<U+000D><U+202E>; touch MARK" in shown
        assert b"]52;c" not in person.raw.replace(b"<U+001B>]52;c", b"")
        person.press("enter")
        assert answered(person) == "cancel None None None"


def test_57_no_yes_unseen() -> None:
    with at_question("long", "$ echo 0") as person:
        assert "touch MARK" not in person.text
        person.press("y")
        person.wait_for("Not all of it has been on the screen yet.")
        person.press("end")
        person.wait_for("> touch MARK")
        person.press("y")
        assert answered(person) == "proceed_once None None None"


def test_a_word_to_the_model_with_the_caret_where_it_is_typed() -> None:
    with at_question("shell", "$ git log") as person:
        person.press("t")
        person.wait_for("What should the model know?")
        person.type("use 日本")
        person.wait_for("> use 日本")
        row = next(at for at, line in enumerate(person.text.splitlines()) if line.startswith("> use"))
        assert person.screen.cursor == (10, row)
        person.press("enter")
        assert answered(person) == "cancel use 日本 None None"


@pytest.mark.parametrize("key", ["escape", "c-c", "q"])
def test_stopping(key: str) -> None:
    with at_question("shell", "$ git log") as person:
        person.press(key)
        assert answered(person) == "stop None None None"


def test_a_change_rewritten_in_the_editor(tmp_path: Path) -> None:
    editor = write_script(tmp_path / "editor", 'printf "mine\\n" > "$1"')
    with at_question("edit", "+new", VISUAL=editor) as person:
        person.press("e")
        assert answered(person) == r"modify_with_editor None 'mine\n' None"


def test_an_editor_that_fails_leaves_the_question_open() -> None:
    with at_question("edit", "+new", VISUAL="false") as person:
        person.press("e")
        person.wait_for("The editor ended with exit code 1")
        time.sleep(GRACE_SECONDS + 0.05)
        person.press("n")
        assert answered(person) == "cancel None None None"


def test_the_pager(tmp_path: Path) -> None:
    pager = write_script(tmp_path / "pager", 'tail -n 1 "$1"', "echo 'in the pager'", "read line")
    with at_question("long", "$ echo 0", PAGER=pager) as person:
        person.press("v")
        person.wait_for("in the pager")
        assert "> touch MARK" in person.text
        person.press("enter")
        person.wait_for("more rows below")
        time.sleep(GRACE_SECONDS + 0.05)
        person.press("y")
        assert answered(person) == "proceed_once None None None"


def test_a_terminal_that_goes_away_is_no_yes() -> None:
    with at_question("shell", "$ git log") as person:
        person.hang_up()
        assert person.wait_for_exit() != 0 or b"proceed" not in person.raw


def test_what_a_server_wants_to_know() -> None:
    with at_question("form", "Answer it?") as person:
        person.press("y")
        person.wait_for("name (text)")
        person.type("Ada")
        person.press("enter")
        person.wait_for('To be sent: {"name":"Ada"}')
        time.sleep(GRACE_SECONDS + 0.05)
        person.press("y")
        assert answered(person) == "proceed_once None None {'name': 'Ada'}"


def test_stopping_while_a_server_asks() -> None:
    with at_question("form", "Answer it?") as person:
        person.press("c-c")
        assert answered(person) == "stop None None None stopped"
