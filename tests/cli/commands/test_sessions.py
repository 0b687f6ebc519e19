"""What can be resumed here, listed and deleted."""

import re
from pathlib import Path

import pytest

from support.program import ProgramEnv, ProgramResult, text_script


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path)


def test_none(machine: ProgramEnv) -> None:
    assert machine.run("--list-sessions") == ProgramResult(0, "There are no sessions for this project yet.\n", "")
    assert machine.run("--delete-session", "1") == ProgramResult(
        42, "", "tejat: There are no sessions of this project.\n"
    )


def test_they_are_numbered_the_latest_last_and_titles_cannot_command_the_terminal(machine: ProgramEnv) -> None:
    model = machine.script(text_script("Hello."))
    ids = [machine.run("-p", prompt, "-m", model, "-o", "json").json["session_id"] for prompt in ("one", "two\x1b[2J")]
    done = machine.run("--list-sessions")
    assert (done.code, done.stderr) == (0, "")
    assert re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "WHEN", done.stdout).splitlines() == [
        "Available sessions for this project (2):",
        f"  1. one (WHEN) [{ids[0]}]",
        f"  2. two<U+001B>[2J (WHEN) [{ids[1]}]",
    ]
    assert machine.run("--delete-session", "1") == ProgramResult(0, f"Deleted session {ids[0]}.\n", "")
    assert machine.run("--delete-session", ids[1]) == ProgramResult(0, f"Deleted session {ids[1]}.\n", "")
    assert machine.run("--list-sessions").stdout == "There are no sessions for this project yet.\n"


def test_those_of_another_project_are_not_among_them(machine: ProgramEnv) -> None:
    machine.run("-p", "hi", "-m", machine.script(text_script("Hello.")))
    other = machine.run_shell('mkdir ../other && cd ../other && "$@" --list-sessions')
    assert other == ProgramResult(0, "There are no sessions for this project yet.\n", "")


def test_one_that_is_not_there_is_bad_input(machine: ProgramEnv) -> None:
    machine.run("-p", "hi", "-m", machine.script(text_script("Hello.")))
    done = machine.run("--delete-session", "\x1b[2J")
    assert (done.code, done.stdout) == (42, "")
    assert done.stderr.startswith("tejat: There is no session '<U+001B>[2J' of this project, but ")
