"""`/init`."""

import os
from pathlib import Path

import pytest

from command_checks import Desks, Seat
from tejat.core.commands import Done, Effect, Submit
from tejat.engine.words import words_about


@pytest.fixture
def desks(tmp_path: Path) -> Desks:
    return Desks(tmp_path)


async def init(seat: Seat) -> tuple[Effect, str]:
    return await seat.type("/init"), seat.person.shown


def test_an_empty_file_and_a_prompt(desks: Desks) -> None:
    done = Submit(words_about("init"), "/init"), "Empty GEMINI.md created. Now the model is asked to fill it."
    assert desks.at_desk(init) == done
    assert (desks.project / "GEMINI.md").read_bytes() == b""


def test_in_a_folder_that_is_not_trusted(desks: Desks) -> None:
    done, shown = desks.at_desk(init, trusts_folder=False)
    assert isinstance(done, Submit)
    assert shown == (
        "Empty GEMINI.md created. Now the model is asked to fill it.\n"
        "This folder is not trusted, so what is written there is not read at the start of a session."
    )


@pytest.mark.parametrize("kind", ["file", "link"])
def test_what_is_there_stays(desks: Desks, kind: str) -> None:
    path = desks.project / "GEMINI.md"
    if kind == "file":
        path.write_text("Mine.")
    else:
        path.symlink_to(desks.base / "elsewhere")
    told = "A GEMINI.md file already exists in this directory. No changes were made."
    assert desks.at_desk(init) == (Done(), told)
    assert kind == "link" or path.read_text() == "Mine."
    assert not os.path.exists(desks.base / "elsewhere")
