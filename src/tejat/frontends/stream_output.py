"""`--output-format stream-json`: one object in a line for every event, the result last."""

import time
from typing import cast

from tejat.core.agent_events import (
    AgentEvent,
    Answered,
    Compressed,
    HistoryRepaired,
    LoopDetected,
    ModelChanged,
    Noticed,
    Prompted,
    Retrying,
    RunEnded,
    SessionStarted,
    Severity,
    TextStreamed,
)
from tejat.core.events import CallFinished
from tejat.core.json_text import dump_json
from tejat.core.model import CONVERSATION
from tejat.core.types import FunctionCall, FunctionResponse, InlineData, JsonObject, JsonValue, Part, Text
from tejat.engine.statistics import Statistics
from tejat.frontends.endings import error_name_of
from tejat.frontends.output import Streams, aside, one_line


class StreamOutput:
    def __init__(self, streams: Streams) -> None:
        self._streams = streams
        self._statistics = Statistics(streams.milliseconds)
        self._announced: set[str | None] = set()

    def tell(self, event: AgentEvent) -> None:
        self._statistics.count(event)
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
                if event.call.id not in self._announced:
                    self._announce(event.call)  # the prompt itself made it
                self._print("tool_result", _result(event))
            case Retrying():
                self._print("retry", _retry(event))
            case RunEnded():
                self._finish(event)
            case Noticed() | LoopDetected() | ModelChanged() | Compressed() | HistoryRepaired():
                self._note(event)
            case _:
                pass

    def fail(self, message: str, *, name: str, code: int) -> None:
        self._streams.aside(one_line(message))
        error: JsonObject = {"type": name, "message": message, "code": code}
        self._print("result", {"status": "error", "error": error, "permission_denials": []})

    def _announce(self, call: FunctionCall) -> None:
        self._announced.add(call.id)
        parameters = cast("JsonObject", call.args)
        self._print("tool_use", {"tool_name": call.name, "tool_id": call.id, "parameters": parameters})

    def _note(self, event: Noticed | LoopDetected | ModelChanged | Compressed | HistoryRepaired) -> None:
        severity = event.severity if isinstance(event, Noticed) else Severity.WARNING
        message = aside(event)
        if message and severity is not Severity.NOTE:
            self._print("error", {"severity": severity.value, "message": message})
        elif message:
            self._streams.aside(one_line(message))

    def _finish(self, ended: RunEnded) -> None:
        name = error_name_of(ended)
        known: dict[str, JsonValue] = {"status": "success" if name is None else "error"}
        if name is not None:
            known["error"] = {"type": name, "message": ended.message, "code": self._streams.code_of(ended)}
            self._streams.aside(one_line(ended.message))
        elif ended.message:
            self._print("error", {"severity": Severity.WARNING.value, "message": ended.message})
        known["stats"] = self._numbers(ended)
        known["permission_denials"] = list(self._statistics.denials)
        if ended.cost is not None:
            known["cost_usd"] = round(ended.cost, 6)
        self._print("result", known)

    def _numbers(self, ended: RunEnded) -> JsonObject:
        usage = self._statistics.usage
        return {
            "total_tokens": usage.total,
            "input_tokens": usage.prompt,
            "output_tokens": usage.output,
            "cached": usage.cached,
            "input": usage.prompt - usage.cached,
            "duration_ms": self._streams.milliseconds(ended.seconds),
            "tool_calls": self._statistics.calls,
            "models": {
                name: {
                    "total_tokens": model.usage.total,
                    "input_tokens": model.usage.prompt,
                    "output_tokens": model.usage.output,
                    "cached": model.usage.cached,
                    "input": model.usage.prompt - model.usage.cached,
                }
                for name, model in self._statistics.models.items()
            },
        }

    def _print(self, kind: str, fields: JsonObject) -> None:
        now = self._streams.now()
        timestamp = f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(now))}.{int(now % 1 * 1000):03d}Z"
        self._streams.result(dump_json({"type": kind, "timestamp": timestamp, **fields}) + "\n")


def _result(event: CallFinished) -> JsonObject:
    error, display = event.result.error, event.result.return_display
    known: dict[str, JsonValue] = {"tool_id": event.call.id, "status": "success" if error is None else "error"}
    if isinstance(display, str):
        known["output"] = display
    if error is not None:
        known["error"] = error.to_json()
    known["content"] = _as_text(event.response)
    return known


def _as_text(parts: tuple[Part, ...]) -> str:
    """What the model got, as far as it is text."""
    found: list[str] = []
    for part in parts:
        match part:
            case Text(text):
                found.append(text)
            case FunctionResponse(response=response):
                found.extend(value for value in response.values() if isinstance(value, str))
            case InlineData(mime_type, data):
                found.append(f"[{mime_type}, {len(data)} bytes]")
            case _:
                found.append(f"[{part.mime_type}: {part.file_uri}]")
    return "\n".join(found)


def _retry(event: Retrying) -> JsonObject:
    return {
        "kind": event.kind.value,
        "reason": event.reason,
        "attempt": event.attempt,
        "max_attempts": event.most,
        "wait_seconds": round(event.wait, 3),
        "purpose": event.purpose,
    }
