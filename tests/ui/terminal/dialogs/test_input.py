"""One line to type."""

import pytest

from support.terminal.dialogs import HOSTILE, HOSTILE_SANITIZED, PLAIN_ASCII, UNICODE, draw, press_keys
from tejat.ui.terminal.dialogs.input import InputDialog


def test_what_is_typed_is_the_answer() -> None:
    assert press_keys(InputDialog("Name", UNICODE), [*"Ada", "enter"]) == "Ada"
    assert press_keys(InputDialog("Name", UNICODE, initial="Ada"), ["enter"]) == "Ada"
    assert press_keys(InputDialog("Name", UNICODE), ["enter"]) == ""
    assert press_keys(InputDialog("Key", UNICODE), ["paste", *"a\nb", "paste-end", "enter"]) == "a b"


@pytest.mark.parametrize("key", ["escape", "c-c"])
def test_leaving_is_no_answer(key: str) -> None:
    dialog = InputDialog("Name", UNICODE)
    press_keys(dialog, "Ada")
    decided = dialog.press(key)
    assert decided is not None
    assert decided.result is None


@pytest.mark.parametrize("width", [80, 40, 20])
def test_what_is_shown(width: int) -> None:
    dialog = InputDialog(HOSTILE, UNICODE)
    press_keys(dialog, "Ada")
    rows = draw(dialog, width=width)
    at = rows.index("> Ada")
    assert "".join(rows[:at]).replace(" ", "") == HOSTILE_SANITIZED.replace(" ", "")
    assert rows[at + 1 :] == ["Enter to confirm · Esc to cancel" if width > 20 else "Enter to confirm"]
    assert dialog.caret(width=width, height=24) == (5, at)


def test_a_secret_stays_one() -> None:
    dialog = InputDialog("Key", PLAIN_ASCII, is_secret=True)
    press_keys(dialog, "hunter2")
    assert draw(dialog, theme=PLAIN_ASCII)[1] == "> *******"
    assert press_keys(dialog, ["enter"]) == "hunter2"


@pytest.mark.parametrize("height", [1, 2, 3, 5])
def test_in_few_rows_the_line_is_seen(height: int) -> None:
    dialog = InputDialog("A label that takes more than one row of the few", UNICODE, initial="typed")
    assert "> typed" in draw(dialog, width=20, height=height)
