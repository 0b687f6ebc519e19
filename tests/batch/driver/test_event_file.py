"""`events.jsonl`."""

import json
import os
from pathlib import Path

import pytest

from support.batches import SampleBatch
from support.fault_injection import NthCallFails, fail
from support.shell_engine import NOTHING
from tejat.batch.directory import BatchDirectory
from tejat.batch.driver.event_file import BatchEventFile
from tejat.batch.events import BatchNoticed, TaskPhase, TaskProgressed


def test_every_event_but_progress_is_there(batch: SampleBatch) -> None:
    batch.plan(NOTHING, "echo {}")
    batch.run()
    lines = [json.loads(line) for line in Path(batch.directory.events).read_text(encoding="utf-8").splitlines()]
    shown = [event for event in batch.events if not isinstance(event, TaskProgressed)]
    assert len(shown) < len(batch.events)
    assert len(lines) == len(shown)
    assert (lines[0]["type"], lines[-1]["type"]) == ("batch_start", "batch_end")
    assert lines[0]["timestamp"] == "1970-01-01T00:16:40.000Z"


def test_a_cut_line_is_ended(tmp_path: Path) -> None:
    directory = BatchDirectory(str(tmp_path))
    Path(directory.events).write_text('{"type": "no', encoding="utf-8")
    file = BatchEventFile(directory, lambda: 0.0)
    file(BatchNoticed("one"))
    file(TaskProgressed("a", TaskPhase.RUNNING))
    file(BatchNoticed("two"))
    file.close()
    lines = Path(directory.events).read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["message"] for line in lines[1:]] == ["one", "two"]


def test_a_full_disk_ends_it_quietly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = BatchDirectory(str(tmp_path))
    file = BatchEventFile(directory, lambda: 0.0)
    file(BatchNoticed("one"))
    with monkeypatch.context() as patch:
        NthCallFails(patch, ("write",), 0, lambda: fail(28))
        file(BatchNoticed("two"))
    file(BatchNoticed("three"))
    file.close()
    lines = Path(directory.events).read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["message"] for line in lines] == ["one"]
    assert os.path.getsize(directory.events) > 0
