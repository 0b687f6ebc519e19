"""`--output-format stream-json`: one object per line for each event, the result last."""

import time
from typing import cast

from tejat.core.agent.events import (
    AgentEvent,
    Answered,
    AwaitingModel,
    Compressed,
    CompressionStarted,
    HistoryRepaired,
    LoopDetected,
    ModelChanged,
    Noticed,
    PlanPresented,
    Prompted,
    Retrying,
    RunEnded,
    SessionStarted,
    Severity,
    TextStreamed,
)
from tejat.core.agent.subagent_events import AgentActivity, AgentEnded, AgentStarted
from tejat.core.agent.subagents import SubagentEnd
from tejat.core.json_text import dump_json
from tejat.core.messages.types import FunctionCall, FunctionResponse, InlineData, JsonObject, JsonValue, Part, Text
from tejat.core.model import CONVERSATION, Usage
from tejat.core.tools.call_events import CallFinished
from tejat.core.tools.todos import TodoList
from tejat.engine.sessions.statistics import Statistics
from tejat.ui.headless.output import OutputStreams, describe_event, notice_line, plan_to_json
from tejat.ui.shared.exit_status import error_name_for
from tejat.ui.shared.notices import notice_for_event


class StreamOutput:
    def __init__(self, streams: OutputStreams) -> None:
        self._streams = streams
        self._statistics = Statistics(streams.milliseconds)
        self._announced: set[tuple[str, str | None]] = set()
        self._plan: PlanPresented | None = None
        self._agent_id = ""
        """The sub-agent that the present event is from."""

    def handle_event(self, event: AgentEvent) -> None:
        self._statistics.record(event)
        match event:
            case AgentStarted():
                self._print("agent_start", _agent_start(event))
            case AgentActivity(agent_id, _, inner):
                self._agent_id = agent_id
                self._handle(inner)
                self._agent_id = ""
            case AgentEnded():
                self._print("agent_end", self._agent_end(event))
            case _:
                self._handle(event)

    def _handle(self, event: AgentEvent) -> None:
        match event:
            case SessionStarted(session_id, model):
                self._print("init", {"session_id": session_id, "model": model})
            case Prompted(message, shown):
                self._print("message", {"role": "user", "content": shown or message.text})
            case TextStreamed(text):
                self._print("message", {"role": "assistant", "content": text, "delta": True})
            case Answered(answer, purpose=purpose) if purpose == CONVERSATION:
                for call in answer.calls:
                    self._announce(call)
            case CallFinished():
                if (self._agent_id, event.call.id) not in self._announced:
                    self._announce(event.call)  # made by the prompt itself, as for `@file`
                self._print("tool_result", _result(event))
            case Retrying():
                self._print("retry", _retry(event))
            case PlanPresented():
                self._plan = event
            case RunEnded():
                self._finish(event)
            case Noticed() | LoopDetected() | ModelChanged() | CompressionStarted() | Compressed() | HistoryRepaired():
                self._note(event)
            case _:
                self._note_waiting(event)

    def fail(self, message: str, *, name: str, code: int) -> None:
        self._streams.write_notice(notice_line(message))
        error: JsonObject = {"type": name, "message": message, "code": code}
        self._print("result", {"status": "error", "error": error, "permission_denials": []})

    def _announce(self, call: FunctionCall) -> None:
        self._announced.add((self._agent_id, call.id))
        parameters = cast("JsonObject", call.args)
        self._print("tool_use", {"tool_name": call.name, "tool_id": call.id, "parameters": parameters})

    def _note_waiting(self, event: AgentEvent) -> None:
        if isinstance(event, AwaitingModel):
            self._note(event)

    def _note(self, event: AgentEvent) -> None:
        notice = notice_for_event(event)
        severity = Severity.NOTE if notice is None else notice.severity
        message = describe_event(event)
        if message and severity is not Severity.NOTE:
            self._print("error", {"severity": severity.value, "message": message})
        elif message:
            self._streams.write_notice(notice_line(message))

    def _finish(self, ended: RunEnded) -> None:
        name = error_name_for(ended)
        result: dict[str, JsonValue] = {"status": "success" if name is None else "error"}
        if name is not None:
            result["error"] = {"type": name, "message": ended.message, "code": self._streams.exit_code_for(ended)}
            self._streams.write_notice(notice_line(ended.message))
        elif ended.message:
            self._print("error", {"severity": Severity.WARNING.value, "message": ended.message})
        result["stats"] = self._stats(ended)
        if self._plan is not None:
            result["plan"] = plan_to_json(self._plan)
        result["permission_denials"] = list(self._statistics.denials)
        if ended.cost is not None:
            result["cost_usd"] = round(ended.cost, 6)
        self._print("result", result)

    def _stats(self, ended: RunEnded) -> JsonObject:
        return {
            **_usage(self._statistics.usage),
            "duration_ms": self._streams.milliseconds(ended.seconds),
            "tool_calls": self._statistics.calls,
            "models": {name: _usage(model.usage) for name, model in self._statistics.models.items()},
        }

    def _print(self, kind: str, fields: JsonObject) -> None:
        now = self._streams.now()
        timestamp = f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(now))}.{int(now % 1 * 1000):03d}Z"
        agent: JsonObject = {"agent_id": self._agent_id} if self._agent_id else {}
        self._streams.write_result(dump_json({"type": kind, "timestamp": timestamp, **agent, **fields}) + "\n")

    def _agent_end(self, ended: AgentEnded) -> JsonObject:
        return {
            "agent_id": ended.agent_id,
            "status": "success" if ended.reason is SubagentEnd.GOAL else "error",
            "reason": ended.reason.value,
            "turns": ended.turns,
            "tool_calls": ended.calls,
            "tokens": ended.usage.total,
            "cost_usd": None if ended.cost is None else round(ended.cost, 6),
            "duration_ms": self._streams.milliseconds(ended.seconds),
            "files_changed": ended.files_changed,
            **({"error": ended.error} if ended.error else {}),
            **({"patch": ended.patch} if ended.patch else {}),
        }


def _agent_start(started: AgentStarted) -> JsonObject:
    return {
        "agent_id": started.agent_id,
        "agent_name": started.agent_name,
        "tool_id": started.call_id,
        "prompt": started.prompt,
        "model": started.model,
    }


def _usage(usage: Usage) -> JsonObject:
    return {
        "total_tokens": usage.total,
        "input_tokens": usage.prompt,
        "output_tokens": usage.output,
        "cached": usage.cached,
        "input": usage.prompt - usage.cached,
    }


def _result(event: CallFinished) -> JsonObject:
    error, display = event.result.error, event.result.return_display
    result: dict[str, JsonValue] = {"tool_id": event.call.id, "status": "success" if error is None else "error"}
    if isinstance(display, str):
        result["output"] = display
    elif isinstance(display, TodoList):
        result["todos"] = display.to_state()
    if error is not None:
        result["error"] = error.to_json()
    result["content"] = _as_text(event.response)
    return result


def _as_text(parts: tuple[Part, ...]) -> str:
    """Return the text that the model got, with placeholders for other parts."""
    texts: list[str] = []
    for part in parts:
        match part:
            case Text(text):
                texts.append(text)
            case FunctionResponse(response=response):
                texts.extend(value for value in response.values() if isinstance(value, str))
            case InlineData():
                texts.append(part.label)
            case _:
                texts.append(f"[{part.mime_type}: {part.file_uri}]")
    return "\n".join(texts)


def _retry(event: Retrying) -> JsonObject:
    return {
        "kind": event.kind.value,
        "reason": event.reason,
        "attempt": event.attempt,
        "max_attempts": event.max_attempts,
        "wait_seconds": round(event.wait, 3),
        "purpose": event.purpose,
    }
