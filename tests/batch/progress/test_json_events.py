"""JSON for programs: a line per event, the version first."""

import json

import pytest

from support.batch_results import passed
from tejat.batch.events import BatchNoticed, BatchStarted, TaskEnded
from tejat.batch.progress.json_events import JsonEvents


def test_the_first_line_has_the_version() -> None:
    lines: list[str] = []
    with JsonEvents(lines.append) as show:
        show(BatchNoticed("before the start"))
        show(BatchStarted(1))
        show(TaskEnded(passed("a\nb")))
    assert all(line.endswith("\n") and line.count("\n") == 1 for line in lines)
    found = [json.loads(line) for line in lines]
    assert [each["type"] for each in found] == ["notice", "batch_start", "task_end"]
    assert found[0]["version"] == found[1]["version"] == 1
    assert (found[2]["id"], found[2]["status"]) == ("a\nb", "passed")


def test_standard_output_is_the_default(capsys: pytest.CaptureFixture[str]) -> None:
    JsonEvents()(BatchStarted(1))
    printed = capsys.readouterr()
    assert json.loads(printed.out)["total"] == 1
    assert printed.err == ""
