"""Journal records of sub-agents, which are kept apart from the session's own history."""

from collections.abc import Iterator

from tejat.core.agent.history_events import (
    CallResponsesAdded,
    HistoryEvent,
    HistoryReplaced,
    PromptAdded,
    ResponseAdded,
)
from tejat.core.agent.subagent_events import AgentEnded, AgentStarted
from tejat.core.frozen import Frozen, replace
from tejat.core.messages.history import Message, user_message
from tejat.core.messages.json_fields import JsonFields
from tejat.core.messages.message_json import (
    message_from_json,
    message_part_from_json,
    message_part_to_json,
    message_to_json,
    usage_from_json,
    usage_to_json,
)
from tejat.core.messages.types import JsonObject
from tejat.core.model import NO_USAGE, Usage
from tejat.engine.sessions.journal_format import MAX_LINE_BYTES, RecordKind, decode_record
from tejat.workspace.files.regular_file import regular_file_opener

STARTED = "started"


def agent_event_records(event: HistoryEvent | AgentStarted | AgentEnded) -> Iterator[JsonObject]:
    """Encode what happened in a run of a sub-agent. What nobody could read later is left out."""
    match event:
        case AgentStarted():
            yield {
                "kind": STARTED,
                "name": event.agent_name,
                "call": event.call_id,
                "prompt": event.prompt,
                "model": event.model,
            }
        case AgentEnded():
            yield {
                "kind": RecordKind.ENDED,
                "reason": event.reason,
                "turns": event.turns,
                "calls": event.calls,
                "usage": usage_to_json(event.usage),
                "cost": event.cost,
                "seconds": round(event.seconds, 3),
                "files": event.files_changed,
                "error": event.error,
            }
        case PromptAdded(message):
            yield {"kind": RecordKind.PROMPT, "message": message_to_json(message)}
        case ResponseAdded(message, usage, model, seconds):
            times = {} if seconds is None else {"seconds": round(seconds, 3)}
            fields = {"model": model, "usage": usage_to_json(usage), "message": message_to_json(message)}
            yield {"kind": RecordKind.ANSWER, **times, **fields}
        case CallResponsesAdded(responses):
            for index, parts in responses:
                encoded = [message_part_to_json(part) for part in parts]
                yield {"kind": RecordKind.RESPONSE, "index": index, "parts": encoded}
        case HistoryReplaced(messages):
            yield {"kind": RecordKind.COMPRESSED, "messages": [message_to_json(message) for message in messages]}
        case _:
            pass


class AgentTranscript(Frozen):
    """A run of a sub-agent as recorded. `reason` is empty if its end was not recorded, and the figures are 0 then.

    `messages` are all that were exchanged, in their order; the responses to calls stand one by one. `call_id` is the
    call that started it.
    """

    agent_id: str
    agent_name: str
    prompt: str
    model: str
    messages: tuple[Message, ...] = ()
    reason: str = ""
    error: str = ""
    call_id: str = ""
    turns: int = 0
    calls: int = 0
    usage: Usage = NO_USAGE
    cost: float | None = None
    seconds: float = 0.0
    files_changed: int = 0


def read_agent_transcripts(path: str) -> dict[str, AgentTranscript]:
    """Read the runs of sub-agents in a journal, in the order of their starts. Raises OSError."""
    found: dict[str, AgentTranscript] = {}
    for agent_id, record in _agent_records(path):
        try:
            _apply(found, agent_id, record)
        except ValueError:
            continue
    return found


def agent_usage(line: bytes) -> tuple[str, Usage] | None:
    """Return the model and the usage of a recorded answer of a sub-agent, None for any other record."""
    if not line.startswith(AGENT_BEGINNING) or _ANSWER not in line[:_HEAD_LENGTH]:
        return None
    try:
        record = JsonFields(decode_record(line).object("record"))
        return record.string("model"), usage_from_json(record.object("usage"))
    except ValueError:
        return None


def _agent_records(path: str) -> Iterator[tuple[str, JsonFields]]:
    with open(path, "rb", opener=regular_file_opener) as file:
        for line in iter(lambda: file.readline(MAX_LINE_BYTES), b""):
            if not line.startswith(AGENT_BEGINNING):
                continue
            try:
                record = decode_record(line)
                yield record.string("agent"), JsonFields(record.object("record"))
            except ValueError:
                continue


def _apply(found: dict[str, AgentTranscript], agent_id: str, record: JsonFields) -> None:
    """Raises ValueError."""
    kind = record.string("kind")
    if kind == STARTED:
        name, prompt, model = (record.string(key) for key in ("name", "prompt", "model"))
        call_id = record.string_or_none("call") or ""
        found[agent_id] = AgentTranscript(agent_id, name, prompt, model, call_id=call_id)
        return
    run = found.get(agent_id)
    if run is None:
        return
    match kind:
        case RecordKind.PROMPT | RecordKind.ANSWER:
            run = replace(run, messages=(*run.messages, message_from_json(record.object("message"))))
        case RecordKind.RESPONSE:
            parts = [message_part_from_json(part) for part in record.items("parts")]
            run = replace(run, messages=(*run.messages, user_message(*parts)))
        case RecordKind.ENDED:
            run = replace(run, reason=record.string("reason"), error=record.string("error"), **_figures(record))
        case _:
            pass
    found[agent_id] = run


def _figures(record: JsonFields) -> dict[str, object]:
    """The figures of an ended run. Raises ValueError."""
    return {
        "turns": record.integer("turns"),
        "calls": record.integer("calls"),
        "usage": usage_from_json(record.object("usage")),
        "cost": record.number_or_none("cost"),
        "seconds": record.number("seconds"),
        "files_changed": record.integer("files"),
    }


AGENT_BEGINNING = f'{{"v":1,"kind":"{RecordKind.AGENT}",'.encode()
_ANSWER = f'"record":{{"kind":"{RecordKind.ANSWER}",'.encode()
_HEAD_LENGTH = 400
"""The ids of runs are short, so what follows them stands near the beginning of the line."""
