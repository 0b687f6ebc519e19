"""Stored sessions of this project and of others, with their figures."""

import json
import os
from pathlib import Path

import pytest

from support.program import ProgramEnv, text_script
from tejat.app.inspection.stored_sessions import StoredSessions
from tejat.app.run_config import load_run_config
from tejat.core.errors import UsageError


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ProgramEnv:
    machine = ProgramEnv(tmp_path)
    monkeypatch.setenv("HOME", str(machine.home))
    return machine


def ask(machine: ProgramEnv, prompt: str) -> str:
    return machine.run("-p", prompt, "-m", machine.script(text_script("Hello.")), "-o", "json").json["session_id"]


def open_sessions(directory: Path) -> StoredSessions:
    return StoredSessions(load_run_config([str(directory)]))


def test_sessions_of_a_project_and_of_all(machine: ProgramEnv) -> None:
    session_id = ask(machine, "hi there")
    own, other = open_sessions(machine.project), open_sessions(machine.base)
    (found,) = own.list_sessions(every_project=False)
    summary = found.summary
    assert (summary.session_id, summary.title, summary.number) == (session_id, "hi there", 1)
    assert summary.root == os.path.realpath(machine.project)
    assert (found.turns, found.cost) == (1, 0.0)
    assert other.list_sessions(every_project=False) == []
    assert other.list_sessions(every_project=True) == [found]


def test_a_session_of_another_project_is_found_by_its_id_only(machine: ProgramEnv) -> None:
    session_id = ask(machine, "hi")
    other = open_sessions(machine.base)
    found = other.find(session_id[:8])
    assert found.session_id == other.load(found).session_id == session_id
    for word in ("latest", "1", session_id[:3], "x"):
        with pytest.raises(UsageError):
            other.find(word)
    other.delete(found)
    assert other.list_sessions(every_project=True) == []


def test_more_than_one_match(machine: ProgramEnv) -> None:
    model = machine.script(text_script("Hello."))
    for name in ("same-1", "same-2"):
        machine.run("-p", "hi", "-m", model, "--session-id", name)
    with pytest.raises(UsageError, match="same-1"):
        open_sessions(machine.base).find("same")


@pytest.mark.parametrize(
    ("model", "cost"), [("gemini-2.5-pro", 1.25 + 10.0), ("nobody-knows", None), ("ollama:any", 0.0)]
)
def test_the_cost_follows_from_the_price_of_each_answer(machine: ProgramEnv, model: str, cost: float | None) -> None:
    ask(machine, "hi")
    (found,) = open_sessions(machine.project).list_sessions(every_project=False)
    path = Path(found.summary.path)
    records = [json.loads(line) for line in path.read_text().splitlines()]
    for record in records:
        if record["kind"] == "session":
            record["model"] = model
        if record["kind"] == "answer":
            record |= {"model": model}
            record["usage"] = {"prompt": 100_000, "cached": 0, "output": 100_000, "thoughts": 0, "tool": 0}
    lines = [json.dumps(record, separators=(",", ":")) for record in records]
    path.write_text("\n".join([*lines, "broken"]))
    (found,) = open_sessions(machine.project).list_sessions(every_project=False)
    assert found.tokens == 200_000
    assert found.cost == (None if cost is None else pytest.approx(cost / 10))


def test_the_list_reads_only_journals_that_have_changed(machine: ProgramEnv) -> None:
    first, second = ask(machine, "one"), ask(machine, "two")
    before = open_sessions(machine.project).list_sessions(every_project=False)
    assert [entry.summary.session_id for entry in before] == [first, second]
    # A journal with the same identity is not read, so its contents can no longer matter.
    (kept,) = (machine.home / ".local" / "state" / "tejat" / "session-list").iterdir()
    content = json.loads(kept.read_text())
    content["files"][before[0].summary.path]["value"]["turns"] = 7
    kept.write_text(json.dumps(content))
    again = open_sessions(machine.project).list_sessions(every_project=False)
    assert [entry.turns for entry in again] == [7, 1]
    machine.run("-p", "more", "-m", machine.script(text_script("Hello.")), "-r", first)
    later = open_sessions(machine.project).list_sessions(every_project=False)
    assert {entry.summary.session_id: entry.turns for entry in later} == {first: 2, second: 1}


@pytest.mark.parametrize("content", ["", "{", "[]", '{"version": "0", "files": {}}'])
def test_a_kept_list_that_is_damaged_is_made_again(machine: ProgramEnv, content: str) -> None:
    ask(machine, "one")
    before = open_sessions(machine.project).list_sessions(every_project=True)
    (kept,) = (machine.home / ".local" / "state" / "tejat" / "session-list").iterdir()
    kept.write_text(content)
    assert open_sessions(machine.project).list_sessions(every_project=True) == before
