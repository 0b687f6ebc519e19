"""`/help`."""

from pathlib import Path

import pytest

from command_checks import Desks
from tejat.app.commands.catalogue import own_commands


@pytest.fixture
def desks(tmp_path: Path) -> Desks:
    return Desks(tmp_path)


def test_all_commands_and_keys(desks: Desks) -> None:
    lines = desks.shown("/help").splitlines()
    assert lines[0] == "Commands"
    for summary in own_commands():
        names = ", ".join(f"/{name}" for name in (summary.name, *summary.aliases))
        assert f"{names}  {summary.summary}" in lines
    assert lines[len(own_commands()) + 1 :][:2] == ["/help COMMAND tells more about one of them.", "In a prompt"]
    assert "Ctrl-D  leave, where the line is empty" in lines
    assert desks.shown("/?").splitlines() == lines


def test_commands_of_others_by_where_they_come_from(desks: Desks) -> None:
    for folder, name in ((desks.home, "mine"), (desks.project, "theirs")):
        (folder / ".gemini" / "commands").mkdir(parents=True)
        (folder / ".gemini" / "commands" / f"{name}.toml").write_text(f'prompt = "x"\ndescription = "It is {name}"')
    shown = desks.shown("/help")
    assert "\nFrom your commands\n/mine  It is mine\n" in shown
    assert "\nFrom commands of this project\n/theirs  It is theirs\n" in shown


def test_one_command(desks: Desks) -> None:
    told = "/stats\nRequests, tokens, calls and times\nUsage: /stats [model | tools]\nAlso called /usage"
    assert desks.shown("/help stats") == desks.shown("/help /usage") == told


def test_one_that_there_is_not(desks: Desks) -> None:
    assert desks.shown("/help nothing") == "There is no command /nothing. /help shows all of them."
