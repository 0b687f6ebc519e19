"""`/copy`."""

from pathlib import Path

import pytest

from command_checks import Desks, Seat
from persons import Answering


@pytest.fixture
def desks(tmp_path: Path) -> Desks:
    return Desks(tmp_path)


async def after_a_run(seat: Seat) -> str:
    await seat.ask("go")
    return await seat.shown_by("/copy")


def test_the_last_answer(desks: Desks) -> None:
    person = Answering()
    assert desks.at_desk(after_a_run, person=person) == "Copied the last answer: clipboard"
    assert person.copied == ["Hello there."]


def test_what_the_model_did_not_say_is_not_copied(desks: Desks) -> None:
    assert desks.shown("/copy") == "The model has not said anything yet that could be copied."


def test_no_clipboard(desks: Desks) -> None:
    assert desks.at_desk(after_a_run, person=Answering(can_copy=False)) == "There is no clipboard here."
