"""`tejat sessions stats` as a program."""

from pathlib import Path

import pytest

from support.journals import JournalFile
from support.program import ProgramEnv, script_answer, text_script


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path)


def write_file(machine: ProgramEnv) -> str:
    call = ("write_file", {"file_path": "b.txt", "content": "1\n2\n"})
    model = machine.script(script_answer(say="I work.", calls=[call]) + text_script("Done."))
    return machine.run("-p", "write b", "-m", model, "--yolo", "-o", "json").json["session_id"]


def test_one_session(machine: ProgramEnv) -> None:
    session_id = write_file(machine)
    done = machine.run("sessions", "stats", "latest")
    assert (done.code, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == f"{session_id}  write b"
    assert not any(line.endswith(" ") for line in lines)
    words = [line.split() for line in lines]
    assert ["CALLS", "FAILED", "TIME", "MEAN", "TOOL"] in words
    assert ["1", "allowed", "by", "a", "rule"] in words
    assert any(row[:3] == ["+2", "-0", "1"] and row[3].endswith("/b.txt") for row in words)
    found = machine.run("sessions", "stats", session_id, "--json").json
    assert (found["runs"][0]["reason"], found["runs"][0]["calls"], found["cost"]) == ("finished", 1, 0.0)
    assert found["approvals"]["rule"] == 1
    assert {span["kind"] for span in found["timelines"][0]["spans"]} == {"request", "call"}


def test_all_sessions_over_time(machine: ProgramEnv) -> None:
    write_file(machine)
    write_file(machine)
    done = machine.run("sessions", "stats", "--days", "7")
    assert (done.code, done.stderr) == (0, "")
    assert done.stdout.startswith("Last 7 days: 2 sessions, 0 tokens, $0.00\n")
    assert any(line.split()[-1] == str(machine.project) for line in done.stdout.splitlines() if line)
    found = machine.run("sessions", "stats", "--json").json
    assert (found["total"]["sessions"], found["projects"][0]["project"]) == (2, str(machine.project))
    assert found["total"]["tools"][0]["calls"] == 2


def test_what_an_old_session_did_not_record_is_unknown(machine: ProgramEnv) -> None:
    journal = JournalFile(machine.home / ".local" / "state" / "tejat", "old-session")
    journal.prompt("go", 1)
    journal.answer(2, "", ("read_file", {"file_path": "a"}))
    journal.write()
    done = machine.run("sessions", "stats", "old-session")
    assert ["1", "0", "?", "?", "read_file"] in [line.split() for line in done.stdout.splitlines()]
    assert done.stderr == (
        "tejat: Times and approvals of tool calls were not recorded by the version that ran this session.\n"
    )
    assert machine.run("sessions", "stats", "old-session", "--json").json["approvals"] is None


def test_nothing_yet_and_bad_usage(machine: ProgramEnv) -> None:
    assert machine.run("sessions", "stats").stdout == "No sessions in the last 30 days.\n"
    assert machine.run("sessions", "stats", "--days", "0").code == 2
    assert machine.run("sessions", "stats", "nosuch").code == 42
    assert machine.run("sessions", "stats", "nosuch", "--days", "3").code == 42
