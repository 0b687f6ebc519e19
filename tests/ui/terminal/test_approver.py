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
    with open_screen(what, program=PROGRAM, **settings) as user:  # pyright: ignore[reportArgumentType]
        user.wait_for(seen)
        time.sleep(GRACE_SECONDS + 0.05)  # this is the time that it takes
        yield user


def answered(user: ScreenUser) -> str:
    user.wait_for("answered: ")
    assert user.wait_for_exit() == 0
    assert user.modes_are_restored()
    (line,) = (line for line in user.text.splitlines() if line.startswith("answered: "))
    return line.removeprefix("answered: ").strip()


@pytest.mark.parametrize("settings", [{}, {"columns": 40}, {"lang": "C"}, {"rows": 10}])
def test_yes(settings: dict[str, object]) -> None:
    with at_question("shell", "$ git log", **settings) as user:
        assert "Run a command in /w" in user.text
        user.press("y")
        assert answered(user) == "proceed_once None None None"
        assert "$ git log" not in user.text


def test_enter_that_was_meant_for_something_else() -> None:
    with open_screen("shell", program=PROGRAM) as user:
        user.wait_for("$ git log")
        user.press("enter")
        user.wait_idle()
        assert "answered" not in user.text
        time.sleep(GRACE_SECONDS)
        user.press("n")
        assert answered(user) == "cancel None None None"


@pytest.mark.parametrize("columns", [80, 40])
def test_a_risky_call_with_all_that_would_be_hidden(columns: int) -> None:
    with at_question("risky", "Enter to confirm", columns=columns) as user:
        shown = user.text.replace("\n↪ ", "")
        assert "Risk: deletes or overwrites files" in shown
        assert "$ echo <U+001B>]52;c;eA==<U+0007><U+001B>[2J<U+000D><U+202E>; touch MARK" in shown
        assert b"]52;c" not in user.raw.replace(b"<U+001B>]52;c", b"")
        user.press("enter")
        assert answered(user) == "cancel None None None"


def test_no_yes_unseen() -> None:
    with at_question("long", "$ echo 0") as user:
        assert "touch MARK" not in user.text
        user.press("y")
        user.wait_for("Not everything has been shown yet.")
        user.press("end")
        user.wait_for("> touch MARK")
        user.press("y")
        assert answered(user) == "proceed_once None None None"


def test_a_word_to_the_model_with_the_caret_where_it_is_typed() -> None:
    with at_question("shell", "$ git log") as user:
        user.press("t")
        user.wait_for("What should the model do instead?")
        assert "the rule:" not in user.text
        user.type("use 日本")
        user.wait_for("> use 日本")
        row = next(at for at, line in enumerate(user.text.splitlines()) if line.startswith("> use"))
        assert user.screen.cursor == (10, row)
        user.press("enter")
        assert answered(user) == "cancel use 日本 None None"


@pytest.mark.parametrize("key", ["escape", "c-c", "q"])
def test_stopping(key: str) -> None:
    with at_question("shell", "$ git log") as user:
        user.press(key)
        assert answered(user) == "stop None None None"


@pytest.mark.parametrize(("questions", "is_added"), [("shell-shell", False), ("shell-edit", True)])
def test_the_note_about_a_rule_goes_when_its_question_returns(questions: str, is_added: bool) -> None:
    with at_question(questions, "$ git log") as user:
        user.press("p")
        user.wait_for("Asked next.", idle=True)
        assert ("Rule added for this project" in user.text) is is_added
        time.sleep(GRACE_SECONDS + 0.05)
        user.press("n")
        assert answered(user) == "cancel None None None"


def test_a_change_rewritten_in_the_editor(tmp_path: Path) -> None:
    editor = write_script(tmp_path / "editor", 'printf "mine\\n" > "$1"')
    with at_question("edit", "+ new", VISUAL=editor) as user:
        user.press("e")
        assert answered(user) == r"modify_with_editor None 'mine\n' None"


def test_an_editor_that_fails_leaves_the_question_open() -> None:
    with at_question("edit", "+ new", VISUAL="false") as user:
        user.press("e")
        user.wait_for("The editor exited with code 1")
        time.sleep(GRACE_SECONDS + 0.05)
        user.press("n")
        assert answered(user) == "cancel None None None"


def test_the_pager(tmp_path: Path) -> None:
    pager = write_script(tmp_path / "pager", 'tail -n 1 "$1"', "echo 'in the pager'", "read line")
    with at_question("long", "$ echo 0", PAGER=pager) as user:
        user.press("v")
        user.wait_for("q to close")
        user.press("v")
        user.wait_for("in the pager")
        assert "> touch MARK" in user.text
        user.press("enter")
        user.wait_for("Space for more")
        time.sleep(GRACE_SECONDS + 0.05)
        user.press("y")
        assert answered(user) == "proceed_once None None None"


def test_q_closes_a_view_and_stops_nothing() -> None:
    with at_question("long", "$ echo 0") as user:
        user.press("v")
        user.wait_for("q to close")
        user.press("q", "q")
        user.wait_for("Run this command?")
        user.wait_idle()
        assert "answered" not in user.text
        time.sleep(GRACE_SECONDS + 0.05)
        user.press("q")
        assert answered(user) == "stop None None None"


def test_a_terminal_that_goes_away_is_no_yes() -> None:
    with at_question("shell", "$ git log") as user:
        user.hang_up()
        assert user.wait_for_exit() != 0 or b"proceed" not in user.raw


def test_what_a_server_wants_to_know() -> None:
    with at_question("form", "Answer?") as user:
        user.press("y")
        user.wait_for("name (text)")
        user.type("Ada")
        user.press("enter")
        user.wait_for('Answers: {"name":"Ada"}')
        time.sleep(GRACE_SECONDS + 0.05)
        user.press("y")
        assert answered(user) == "proceed_once None None {'name': 'Ada'}"


def test_stopping_while_a_server_asks() -> None:
    with at_question("form", "Answer?") as user:
        user.press("c-c")
        assert answered(user) == "stop None None None stopped"
