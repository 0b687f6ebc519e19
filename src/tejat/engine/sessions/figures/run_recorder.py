"""Journal records of what events show and the history does not: times, decisions about calls, side requests."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from tejat.core.agent.events import (
    Answered,
    QuestionAnswered,
    QuestionAsked,
    RequestFailed,
    Retrying,
    RunEnded,
    SessionStarted,
)
from tejat.core.agent.history.decisions import CallDecision
from tejat.core.agent.subagent_events import AgentActivity
from tejat.core.errors import ErrorType
from tejat.core.messages.message_json import usage_to_json
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.core.model import CONVERSATION, NO_USAGE, Usage
from tejat.core.tools.call_events import BY_USER, CallFinished, CallState
from tejat.engine.sessions.journal_format import RecordKind

if TYPE_CHECKING:
    from tejat.core.agent.events import AgentEvent
    from tejat.core.agent.questions import PendingQuestion
    from tejat.core.approval.confirmation import ApprovalReply

_MAX_SOURCE = 200
WITHDRAWN = "withdrawn"
"""The outcome of a question that nobody answered."""


class RunRecorder:
    """A listener that records one line per finished call and one per finished run. `now` is in seconds since 1970."""

    def __init__(self, write: Callable[[RecordKind, JsonObject], None], now: Callable[[], float] = time.time) -> None:
        self._write = write
        self._now = now
        self._open: dict[str, PendingQuestion] = {}
        self._call_waits: dict[tuple[str, int], list[JsonValue]] = {}
        self._begin_run("")

    def __call__(self, event: AgentEvent) -> None:
        match event:
            case SessionStarted(model=model):
                self._begin_run(model)
            case AgentActivity(agent_id, _, inner):
                self._record(inner, agent_id)
            case QuestionAsked(question):
                self._open[question.question_id] = question
            case QuestionAnswered(question_id, reply):
                question = self._open.pop(question_id, None)
                if question is not None:
                    self._add_wait(question, reply)
            case RunEnded():
                self._end_run()
            case _:
                self._record(event, "")

    def _record(self, event: AgentEvent, agent_id: str) -> None:
        match event:
            case CallFinished():
                waits = self._call_waits.pop((agent_id, event.index), [])
                self._write(RecordKind.CALL, call_fields(event, agent_id, waits))
            case Answered(answer, _, purpose) if purpose != CONVERSATION:
                model = answer.model or self._model
                count, usage = self._side.get(model, (0, NO_USAGE))
                self._side[model] = count + 1, usage + answer.usage
            case Retrying():
                self._retries += 1
            case RequestFailed():
                self._failed += 1
            case _:
                pass

    def _begin_run(self, model: str) -> None:
        self._model = model
        self._started = self._now()
        self._side: dict[str, tuple[int, Usage]] = {}
        self._retries = self._failed = 0
        self._waits: list[JsonValue] = []
        self._call_waits.clear()

    def _add_wait(self, question: PendingQuestion, reply: ApprovalReply | None) -> None:
        request = question.request
        seconds = round(max(0.0, self._now() - question.asked_at), 3)
        outcome = WITHDRAWN if reply is None else reply.outcome.value
        wait: JsonValue = [round(question.asked_at, 3), seconds, request.confirmation.type, outcome]
        if request.call_index is None:
            self._waits.append(wait)
        else:
            self._call_waits.setdefault((request.agent, request.call_index), []).append(wait)

    def _end_run(self) -> None:
        fields: dict[str, JsonValue] = {"seconds": round(max(0.0, self._now() - self._started), 3)}
        if self._side:
            fields["side"] = [[model, count, usage_to_json(usage)] for model, (count, usage) in self._side.items()]
        counted = {"retries": self._retries, "failed": self._failed, "waits": self._waits}
        self._write(RecordKind.RUN, fields | {name: count for name, count in counted.items() if count})
        self._begin_run(self._model)


def call_fields(call: CallFinished, agent_id: str, waits: list[JsonValue]) -> JsonObject:
    """The fields of the record of a finished call; what is empty is left out."""
    from tejat.core.tools.display import FileDiff

    decision = _decide(call, waits)
    source = "" if decision is not CallDecision.RULE else str(call.allowed_by)[:_MAX_SOURCE]
    display = call.result.return_display
    changed = display if call.state is CallState.SUCCESS and isinstance(display, FileDiff) else None
    stat = None if changed is None else changed.diff_stat
    lines: list[JsonValue] = []
    if stat is not None:
        added, removed = stat.model_added_lines, stat.model_removed_lines
        lines = [added + stat.user_added_lines, removed + stat.user_removed_lines]
    optional: dict[str, JsonValue] = {
        "agent": agent_id,
        "id": call.call.id or "",
        "decision": decision.value,
        "source": source,
        "waits": waits,
        "file": "" if changed is None else changed.file_path,
        "lines": lines,
    }
    return {
        "index": call.index,
        "name": call.call.name,
        "state": call.state.value,
        "seconds": round(call.seconds, 3),
        **{name: value for name, value in optional.items() if value},
    }


def _decide(call: CallFinished, waits: list[JsonValue]) -> CallDecision:
    error = call.result.error
    if call.was_rejected:
        return CallDecision.REFUSED
    if call.allowed_by == BY_USER:
        is_always = any(isinstance(wait, list) and _is_always(str(wait[-1])) for wait in waits)
        return CallDecision.ALWAYS if is_always else CallDecision.ONCE
    if call.allowed_by:
        return CallDecision.RULE
    is_denied = error is not None and error.type is ErrorType.POLICY_VIOLATION
    return CallDecision.DENIED if is_denied else CallDecision.UNDECIDED


def _is_always(outcome: str) -> bool:
    """Whether the answer to a question also permits later calls."""
    from tejat.core.approval.confirmation import Outcome

    return outcome in {
        Outcome.PROCEED_ALWAYS,
        Outcome.PROCEED_ALWAYS_AND_SAVE,
        Outcome.PROCEED_ALWAYS_SERVER,
        Outcome.PROCEED_ALWAYS_TOOL,
        Outcome.PROCEED_ALWAYS_SANDBOXED,
        Outcome.PROCEED_WITH_TOOLS,
    }
