"""What can be resumed here, listed and deleted."""

import re
from pathlib import Path

import pytest

from program_checks import Done, Machine, said


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_none(machine: Machine) -> None:
    assert machine.run("--list-sessions") == Done(0, "There are no sessions for this project yet.\n", "")
    assert machine.run("--delete-session", "1") == Done(42, "", "tejat: There are no sessions of this project.\n")


def test_they_are_numbered_the_latest_last_and_titles_cannot_command_the_terminal(machine: Machine) -> None:
    model = machine.script(said("Hello."))
    ids = [machine.run("-p", prompt, "-m", model, "-o", "json").json["session_id"] for prompt in ("one", "two\x1b[2J")]
    done = machine.run("--list-sessions")
    assert (done.code, done.aside) == (0, "")
    assert re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "WHEN", done.result).splitlines() == [
        "Available sessions for this project (2):",
        f"  1. one (WHEN) [{ids[0]}]",
        f"  2. two<U+001B>[2J (WHEN) [{ids[1]}]",
    ]
    assert machine.run("--delete-session", "1") == Done(0, f"Deleted session {ids[0]}.\n", "")
    assert machine.run("--delete-session", ids[1]) == Done(0, f"Deleted session {ids[1]}.\n", "")
    assert machine.run("--list-sessions").result == "There are no sessions for this project yet.\n"


def test_those_of_another_project_are_not_among_them(machine: Machine) -> None:
    machine.run("-p", "hi", "-m", machine.script(said("Hello.")))
    other = machine.shell('mkdir ../other && cd ../other && "$@" --list-sessions')
    assert other == Done(0, "There are no sessions for this project yet.\n", "")


def test_one_that_is_not_there_is_bad_input(machine: Machine) -> None:
    machine.run("-p", "hi", "-m", machine.script(said("Hello.")))
    done = machine.run("--delete-session", "\x1b[2J")
    assert (done.code, done.result) == (42, "")
    assert done.aside.startswith("tejat: There is no session '<U+001B>[2J' of this project, but ")
