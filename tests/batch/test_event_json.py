"""Events as JSON: a type and a time for each, one line whatever is in them."""

import json

import pytest

from support.batch_results import failed
from tejat.batch.event_json import event_to_json
from tejat.batch.events import (
    BatchEnded,
    BatchEvent,
    BatchNoticed,
    BatchStarted,
    TaskEnded,
    TaskPhase,
    TaskProgressed,
    TaskRetried,
    TaskStarted,
)
from tejat.batch.result import result_from_json
from tejat.core.i18n import lazy
from tejat.core.json_text import dump_json

EVENTS: dict[str, BatchEvent] = {
    "batch_start": BatchStarted(3, {"passed": 1}, 0.5, 100, 4, "ray"),
    "task_start": TaskStarted("a", 2, "node-1"),
    "task_progress": TaskProgressed("a", TaskPhase.RUNNING, "replace src/a.py", 50),
    "task_retry": TaskRetried("a", 1, "overloaded", 2.5),
    "task_end": TaskEnded(failed("a")),
    "notice": BatchNoticed("line one\nline two \x1b[31m\u2028\ud800"),
    "batch_end": BatchEnded({"passed": 2}, 1.5, 300, 10.25, "stopped", 1),
}


@pytest.mark.parametrize(("kind", "event"), EVENTS.items())
def test_every_event_has_a_type_and_a_time_and_is_one_line(kind: str, event: BatchEvent) -> None:
    found = event_to_json(event, now=1_700_000_000.25)
    assert (found["type"], found["timestamp"]) == (kind, "2023-11-14T22:13:20.250Z")
    assert list(found)[:2] == ["type", "timestamp"]
    line = dump_json(found)
    assert len(line.splitlines()) == 1
    assert json.loads(line)["type"] == kind


def test_fields() -> None:
    started = event_to_json(EVENTS["batch_start"])
    assert (started["version"], started["total"], started["finished"]) == (1, 3, {"passed": 1})
    assert event_to_json(EVENTS["task_progress"])["phase"] == "running"
    assert event_to_json(EVENTS["task_retry"])["wait_seconds"] == 2.5
    assert event_to_json(EVENTS["batch_end"])["unknown_costs"] == 1
    assert event_to_json(BatchNoticed(lazy("Hello")))["message"] == "Hello"


def test_the_end_of_a_task_has_its_whole_result() -> None:
    found = dict(event_to_json(TaskEnded(failed("a"))))
    del found["type"], found["timestamp"]
    assert result_from_json(found) == failed("a")
