"""One line to type."""

import pytest

from dialog_checks import HOSTILE, PLAIN_ASCII, SHOWN, UNICODE, drawn, pressed
from tejat.frontends.terminal.enter_dialog import EnterDialog


def test_what_is_typed_is_the_answer() -> None:
    assert pressed(EnterDialog("Name", UNICODE), [*"Ada", "enter"]) == "Ada"
    assert pressed(EnterDialog("Name", UNICODE, initial="Ada"), ["enter"]) == "Ada"
    assert pressed(EnterDialog("Name", UNICODE), ["enter"]) == ""
    assert pressed(EnterDialog("Key", UNICODE), ["paste", *"a\nb", "paste-end", "enter"]) == "a b"


@pytest.mark.parametrize("key", ["escape", "c-c"])
def test_leaving_is_no_answer(key: str) -> None:
    dialog = EnterDialog("Name", UNICODE)
    pressed(dialog, "Ada")
    decided = dialog.press(key)
    assert decided is not None
    assert decided.result is None


@pytest.mark.parametrize("width", [80, 40, 20])
def test_what_is_shown(width: int) -> None:
    dialog = EnterDialog(HOSTILE, UNICODE)
    pressed(dialog, "Ada")
    rows = drawn(dialog, width=width)
    at = rows.index("> Ada")
    assert "".join(rows[:at]).replace(" ", "") == SHOWN.replace(" ", "")
    assert " ".join(rows[at + 1 :]) == "Enter takes it, Esc leaves it."
    assert dialog.caret(width=width, height=24) == (5, at)


def test_a_secret_stays_one() -> None:
    dialog = EnterDialog("Key", PLAIN_ASCII, is_secret=True)
    pressed(dialog, "hunter2")
    assert drawn(dialog, look=PLAIN_ASCII)[1] == "> *******"
    assert pressed(dialog, ["enter"]) == "hunter2"


@pytest.mark.parametrize("height", [1, 2, 3, 5])
def test_in_few_rows_the_line_is_seen(height: int) -> None:
    dialog = EnterDialog("A label that takes more than one row of the few", UNICODE, initial="typed")
    assert "> typed" in drawn(dialog, width=20, height=height)
