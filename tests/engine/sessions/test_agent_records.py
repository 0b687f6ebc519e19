"""Journal records of sub-agents."""

from pathlib import Path

import pytest

from tejat.core.agent.history_events import CallResponsesAdded, PromptAdded, ResponseAdded
from tejat.core.agent.subagent_events import AgentEnded, AgentStarted
from tejat.core.agent.subagents import SubagentEnd
from tejat.core.messages.history import model_message, user_message
from tejat.core.messages.types import FunctionCall, FunctionResponse
from tejat.core.model import Usage
from tejat.engine.sessions.agent_records import agent_event_records, agent_usage, read_agent_transcripts
from tejat.engine.sessions.journal import SessionJournal
from tejat.engine.sessions.journal_reader import read_journal

CALL = FunctionCall("glob", {"pattern": "*"}, "1")
EVENTS = (
    AgentStarted("a#1", "a", "call-1", "Look.", "model"),
    PromptAdded(user_message("Look."), "Look."),
    ResponseAdded(model_message(CALL), Usage(prompt=7, output=2), "model"),
    CallResponsesAdded([(0, (FunctionResponse("glob", {"output": "x"}, "1"),))]),
    AgentEnded("a#1", "a", SubagentEnd.MAX_TURNS, turns=1, error="Too many."),
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A journal of a prompt during which an agent ran."""
    journal = SessionJournal.create(str(tmp_path / "j"), session_id="id", root="/", model="m")
    journal.record_agent("a#0", agent_event_records(EVENTS[0]))  # before the first prompt nothing is written
    journal.record_prompt(user_message("go"), "go")
    for event in EVENTS:
        journal.record_agent("a#1", agent_event_records(event))
    journal.record_answer(model_message("done"), Usage(prompt=1), "m")
    journal.close()
    return Path(journal.path)


def test_they_are_no_part_of_the_history(path: Path) -> None:
    with path.open("rb") as file:
        loaded = read_journal(file.fileno(), session_id="")
    assert [message.text for message in loaded.messages] == ["go", "done"]
    assert not loaded.repairs
    assert not loaded.problems


def test_they_can_be_read(path: Path) -> None:
    [(agent_id, run)] = read_agent_transcripts(str(path)).items()
    assert (agent_id, run.agent_name, run.prompt, run.model) == ("a#1", "a", "Look.", "model")
    assert (run.reason, run.error) == ("MAX_TURNS", "Too many.")
    assert [message.role.value for message in run.messages] == ["user", "model", "user"]
    assert run.messages[1].calls == (CALL,)


def test_usage_is_found_without_reading_everything(path: Path) -> None:
    found = [used for line in path.read_bytes().splitlines(keepends=True) if (used := agent_usage(line))]
    assert found == [("model", Usage(prompt=7, output=2))]


def test_damaged_records_are_passed_over(path: Path) -> None:
    lines = path.read_text().splitlines()
    agent = [line for line in lines if '"kind":"agent"' in line]
    broken = agent[1].replace('"message":', '"massage":')
    path.write_text("\n".join([broken, *agent[:1], broken, agent[1][:40], *agent[-1:]]) + "\n")
    [run] = read_agent_transcripts(str(path)).values()
    assert (run.messages, run.reason) == ((), "MAX_TURNS")
