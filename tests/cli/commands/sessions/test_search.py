"""`tejat sessions search` as a program."""

import json
from pathlib import Path

import pytest

from support.journals import JournalFile
from support.program import ProgramEnv, ProgramResult, text_script


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path)


def ask(machine: ProgramEnv, prompt: str, answer: str = "Hello.") -> str:
    return machine.run("-p", prompt, "-m", machine.script(text_script(answer)), "-o", "json").json["session_id"]


def test_sessions_with_all_words_the_latest_first(machine: ProgramEnv) -> None:
    first = ask(machine, "why is the build slow", "Because of the linker.")
    ask(machine, "something else")
    last = ask(machine, "the BUILD again", "It is slow.\x1b[2J")
    done = machine.run("sessions", "search", "slow", "build")
    assert (done.code, done.stderr) == (0, "")
    blocks = [block.splitlines() for block in done.stdout.split("\n\n")]
    assert [block[0].split()[0] for block in blocks] == [last, first]
    assert blocks[0][1:] == [
        "  the BUILD again",
        "  turn 1, prompt: the BUILD again",
        "  turn 1, answer: It is slow.<U+001B>[2J",
    ]
    assert blocks[1][2] == "  turn 1, prompt: why is the build slow"


def test_a_quoted_word_of_the_command_line_is_a_phrase(machine: ProgramEnv) -> None:
    ask(machine, "the build is slow")
    assert "turn 1" in machine.run("sessions", "search", "build is").stdout
    assert machine.run("sessions", "search", "is build").stdout == "No session contains all of these words.\n"


def test_all_projects_as_json(machine: ProgramEnv) -> None:
    state = machine.home / ".local" / "state" / "tejat"
    journal = JournalFile(state, "other-1", root="/elsewhere")
    journal.prompt("a Zebra", 1)
    journal.write()
    assert machine.run("sessions", "search", "--here", "zebra").stdout == (
        "No session contains all of these words. Without --here, all projects are searched.\n"
    )
    done = machine.run("sessions", "search", "--json", "zebra")
    assert json.loads(done.stdout) == [
        {
            "session_id": "other-1",
            "title": "the title",
            "project": "/elsewhere",
            "started": 1770000000.0,
            "modified": journal.path.stat().st_mtime,
            "count": 1,
            "problem": None,
            "matches": [
                {"turn": 1, "place": "prompt", "tool": None, "agent": None, "snippet": "a Zebra", "marks": [[2, 7]]}
            ],
        }
    ]


def test_bad_usage(machine: ProgramEnv) -> None:
    assert machine.run("sessions", "search").code == 2
    assert machine.run("sessions", "search", '""') == ProgramResult(
        42, "", "tejat: Nothing to search for. Give one or more words.\n"
    )
