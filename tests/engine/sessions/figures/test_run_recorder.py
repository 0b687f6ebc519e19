"""The lines about calls and runs that the journal gets besides the history."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.program import ProgramEnv, script_answer, text_script
from tejat.core.agent.events import (
    AgentEvent,
    Answered,
    EndReason,
    QuestionAnswered,
    QuestionAsked,
    RequestFailed,
    RunEnded,
    SessionStarted,
)
from tejat.core.agent.questions import PendingQuestion
from tejat.core.agent.subagent_events import AgentActivity
from tejat.core.approval.confirmation import (
    ApprovalReply,
    ApprovalRequest,
    InfoConfirmation,
    ModelChangeConfirmation,
    Outcome,
)
from tejat.core.errors import ErrorType
from tejat.core.messages.history import model_message
from tejat.core.messages.types import FunctionCall, JsonObject
from tejat.core.model import FailureKind, ModelResponse, Usage
from tejat.core.tools.base import ToolError, ToolResult
from tejat.core.tools.call_events import BY_USER, CallFinished, CallState
from tejat.core.tools.display import DiffStat, FileDiff
from tejat.engine.sessions.figures.run_recorder import RunRecorder
from tejat.engine.sessions.journal_format import RecordKind

START = 1_770_000_000.0


class Recorded:
    """A recorder with a clock that is set by hand."""

    def __init__(self) -> None:
        self.now = START
        self.records: list[tuple[RecordKind, JsonObject]] = []
        self.recorder = RunRecorder(lambda kind, fields: self.records.append((kind, fields)), lambda: self.now)

    def emit(self, *events: AgentEvent) -> None:
        for event in events:
            self.recorder(event)

    @property
    def last(self) -> JsonObject:
        return self.records[-1][1]


def finished(index: int = 0, result: ToolResult | None = None, **fields: Any) -> CallFinished:
    call = FunctionCall("write_file", {}, "c1")
    state = fields.pop("state", CallState.SUCCESS)
    return CallFinished(index, call, state, result or ToolResult("done"), (), fields.pop("seconds", 0.5), **fields)


def asked(question_id: str, index: int | None, agent: str = "") -> QuestionAsked:
    request = ApprovalRequest(InfoConfirmation("Confirm", "this"), "write_file", call_index=index, agent=agent)
    return QuestionAsked(PendingQuestion(question_id, request, START))


def test_a_call_that_a_rule_allowed() -> None:
    recorded = Recorded()
    recorded.emit(finished(allowed_by="built-in", seconds=0.12345))
    assert recorded.records == [
        (
            RecordKind.CALL,
            {
                "index": 0,
                "name": "write_file",
                "state": "success",
                "seconds": 0.123,
                "id": "c1",
                "decision": "rule",
                "source": "built-in",
            },
        )
    ]


@pytest.mark.parametrize(
    ("outcome", "decision"),
    [(Outcome.PROCEED_ONCE, "once"), (Outcome.PROCEED_ALWAYS, "always"), (Outcome.PROCEED_ALWAYS_SANDBOXED, "always")],
)
def test_an_approval_of_the_user_with_the_time_it_took(outcome: Outcome, decision: str) -> None:
    recorded = Recorded()
    recorded.emit(asked("q", 0))
    recorded.now += 7
    recorded.emit(QuestionAnswered("q", ApprovalReply(outcome)), finished(allowed_by=BY_USER))
    assert recorded.last["decision"] == decision
    assert recorded.last["waits"] == [[START, 7.0, "info", outcome.value]]
    assert "source" not in recorded.last


def test_refused_denied_and_undecided_calls() -> None:
    recorded = Recorded()
    denied = ToolResult("no", error=ToolError("no", ErrorType.POLICY_VIOLATION))
    unknown = ToolResult("no", error=ToolError("no", ErrorType.TOOL_NOT_REGISTERED))
    recorded.emit(finished(was_rejected=True, state=CallState.CANCELLED))
    recorded.emit(finished(result=denied, state=CallState.ERROR), finished(result=unknown, state=CallState.ERROR))
    assert [record.get("decision") for _, record in recorded.records] == ["refused", "denied", None]


def test_a_change_of_a_file_has_its_lines_with_those_of_the_user() -> None:
    recorded = Recorded()
    stat = DiffStat(3, 1, 30, 10, user_added_lines=2, user_removed_lines=1)
    diff = FileDiff("a.py", "/p/a.py", "@@", False, diff_stat=stat)
    recorded.emit(finished(result=ToolResult("done", diff), allowed_by="built-in"))
    assert (recorded.last["file"], recorded.last["lines"]) == ("/p/a.py", [5, 2])
    recorded.emit(finished(result=ToolResult("done", diff), state=CallState.CANCELLED, was_rejected=True))
    assert "file" not in recorded.last


def test_questions_of_parallel_calls_and_agents_are_kept_apart() -> None:
    recorded = Recorded()
    for question_id, index, agent in (("a", 0, ""), ("b", 1, ""), ("c", 0, "helper-1")):
        recorded.emit(asked(question_id, index, agent))
        recorded.now += 1
        recorded.emit(QuestionAnswered(question_id, ApprovalReply(Outcome.PROCEED_ONCE)))
    recorded.emit(AgentActivity("helper-1", "helper", finished(0, allowed_by=BY_USER)))
    assert recorded.last["agent"] == "helper-1"
    assert recorded.last["waits"] == [[START, 3.0, "info", "proceed_once"]]
    recorded.emit(finished(1, allowed_by=BY_USER))
    assert recorded.last["waits"] == [[START, 2.0, "info", "proceed_once"]]
    recorded.emit(finished(0, allowed_by=BY_USER))
    assert recorded.last["waits"] == [[START, 1.0, "info", "proceed_once"]]


def test_a_run_with_side_requests_failures_and_questions_about_no_call() -> None:
    recorded = Recorded()
    recorded.emit(SessionStarted("s", "fast"))
    answer = ModelResponse(model_message("ok"), usage=Usage(10, 0, 5), model="small")
    recorded.emit(Answered(answer, 1.0, "compression"), Answered(answer, 1.0, "compression"), Answered(answer, 1.0))
    recorded.emit(RequestFailed(FailureKind.EMPTY, "busy", 1.0))
    change = ApprovalRequest(ModelChangeConfirmation("Change?", "a", "b", "busy"), "")
    recorded.emit(QuestionAsked(PendingQuestion("q", change, START)))
    recorded.now += 30
    recorded.emit(QuestionAnswered("q", None), RunEnded(EndReason.FINISHED))
    usage = {"prompt": 20, "cached": 0, "output": 10, "thoughts": 0, "tool": 0}
    assert recorded.records == [
        (
            RecordKind.RUN,
            {
                "seconds": 30.0,
                "side": [["small", 2, usage]],
                "failed": 1,
                "waits": [[START, 30.0, "model_change", "withdrawn"]],
            },
        )
    ]
    recorded.emit(SessionStarted("s", "fast"), RunEnded(EndReason.FINISHED))
    assert recorded.last == {"seconds": 0.0}


def test_a_real_run_records_a_line_per_call_and_one_for_the_run(tmp_path: Path) -> None:
    machine = ProgramEnv(tmp_path)
    calls = [("read_file", {"file_path": "a.txt"}), ("write_file", {"file_path": "b.txt", "content": "1\n2\n"})]
    (machine.project / "a.txt").write_text("apples\n")
    model = machine.script(script_answer(say="I read.", calls=calls) + text_script("Done."))
    assert machine.run("-p", "go", "-m", model, "--yolo").code == 0
    (journal,) = machine.home.glob(".local/state/tejat/sessions/*/*.jsonl")
    records = [json.loads(line) for line in journal.read_text().splitlines()]
    found = {record["name"]: record for record in records if record["kind"] == "call"}
    assert set(found) == {"read_file", "write_file"}
    assert found["write_file"]["lines"] == [2, 0]
    assert found["write_file"]["file"].endswith("/b.txt")
    assert [record["kind"] for record in records][-2:] == ["ended", "run"]
    assert all(record["seconds"] >= 0 for record in records if record["kind"] == "answer")
    assert machine.run("--resume", "latest", "-p", "again", "-m", machine.script(text_script("Hi."))).code == 0
