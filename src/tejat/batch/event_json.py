"""Events of a batch as JSON objects: the lines of `events.jsonl` and of `-o stream-json`."""

import time
from typing import assert_never

from tejat.batch.events import (
    BatchEnded,
    BatchEvent,
    BatchNoticed,
    BatchStarted,
    TaskEnded,
    TaskProgressed,
    TaskRetried,
    TaskStarted,
)
from tejat.batch.result import result_to_json
from tejat.core.i18n import translate
from tejat.core.messages.types import JsonObject

EVENT_VERSION = 1
"""The version of the format, in every `batch_start`."""


def event_to_json(event: BatchEvent, *, now: float | None = None) -> JsonObject:
    """The event as a JSON object, with its type and the time. `now` is in seconds since the epoch."""
    kind, fields = _kind_and_fields(event)
    return {"type": kind, "timestamp": _timestamp(time.time() if now is None else now), **fields}


def _kind_and_fields(event: BatchEvent) -> tuple[str, JsonObject]:
    match event:
        case BatchStarted():
            return "batch_start", _batch_start(event)
        case TaskStarted():
            return "task_start", {"id": event.id, "attempt": event.attempt, "node": event.node}
        case TaskProgressed():
            progress = {"phase": event.phase.value, "activity": translate(event.activity), "tokens": event.tokens}
            return "task_progress", {"id": event.id, **progress}
        case TaskRetried():
            return "task_retry", _task_retry(event)
        case TaskEnded(result):
            return "task_end", result_to_json(result)
        case BatchNoticed(message):
            return "notice", {"message": translate(message)}
        case BatchEnded():
            return "batch_end", _batch_end(event)
        case _:
            assert_never(event)


def _batch_start(event: BatchStarted) -> JsonObject:
    return {
        "version": EVENT_VERSION,
        "total": event.total,
        "finished": dict(event.finished),
        "spent_cost": event.spent_cost,
        "spent_tokens": event.spent_tokens,
        "jobs": event.jobs,
        "engine": event.engine,
    }


def _task_retry(event: TaskRetried) -> JsonObject:
    return {
        "id": event.id,
        "attempt": event.attempt,
        "reason": translate(event.reason),
        "wait_seconds": round(event.wait_seconds, 3),
    }


def _batch_end(event: BatchEnded) -> JsonObject:
    return {
        "counts": dict(event.counts),
        "cost": event.cost,
        "unknown_costs": event.unknown_costs,
        "tokens": event.tokens,
        "seconds": round(event.seconds, 3),
        "reason": translate(event.reason),
    }


def _timestamp(now: float) -> str:
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(now))}.{int(now % 1 * 1000):03d}Z"
