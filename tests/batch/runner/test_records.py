"""Records of a run, read from the events that it has written."""

import errno
import json
from pathlib import Path

import pytest

from tejat.batch.directory import TaskDirectory
from tejat.batch.runner.outcome import RunReport
from tejat.batch.runner.records import is_disk_full, is_full_error, record_run, write_plain_file

INIT = {"type": "init", "model": "gemini-x"}
RESULT = {
    "type": "result",
    "status": "error",
    "error": {"type": "turn_limit", "message": "Limit.", "code": 53},
    "stats": {"total_tokens": 12, "tool_calls": 3},
    "permission_denials": [{"reason": "No."}, {"reason": "Nor this."}],
    "cost_usd": 0.25,
}


@pytest.fixture
def task(tmp_path: Path) -> TaskDirectory:
    return TaskDirectory(str(tmp_path))


def write_events(task: TaskDirectory, *events: object, end: str = "\n") -> None:
    Path(task.events).write_text("\n".join(map(json.dumps, events)) + end)


def test_the_result_is_kept_and_read(task: TaskDirectory) -> None:
    write_events(task, INIT, {"type": "message", "content": "x"}, RESULT)
    expected = RunReport(53, "turn_limit", "Limit.", ("No.", "Nor this."), 3, 12, 0.25, "gemini-x")
    assert record_run(task, 53, 5) == expected
    assert json.loads(Path(task.run).read_text()) == RESULT


def test_a_long_result(task: TaskDirectory) -> None:
    denials = [{"reason": "No." * 100}] * 1000
    write_events(task, INIT, {**RESULT, "permission_denials": denials})
    assert len(record_run(task, 0, 0).denials) == 1000


def test_an_unknown_price(task: TaskDirectory) -> None:
    write_events(task, INIT, {name: value for name, value in RESULT.items() if name != "cost_usd"})
    assert record_run(task, 53, 0).cost is None


def test_a_run_that_could_not_begin_costs_nothing(task: TaskDirectory) -> None:
    write_events(task, {"type": "result", "status": "error", "error": {"type": "input", "message": "No."}})
    assert record_run(task, 42, 0) == RunReport(42, "input", "No.", cost=0.0)


@pytest.mark.parametrize("end", ["", "\n{", '\n{"type":"result"'])
def test_a_run_that_was_cut(task: TaskDirectory, end: str) -> None:
    write_events(task, INIT, {"type": "message"}, end=end)
    assert record_run(task, 53, 8) == RunReport(53, tokens=8, model="gemini-x")
    assert not Path(task.run).exists()


@pytest.mark.parametrize("content", ["", "\n", "[]\n", "nonsense\n"])
def test_a_run_without_events(task: TaskDirectory, content: str) -> None:
    Path(task.events).write_text(content)
    assert record_run(task, 1, 0) == RunReport(1, cost=0.0)


def test_a_plain_file_is_private(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_plain_file(str(path), "long\n")
    write_plain_file(str(path), "x\udcff")
    assert path.read_text() == "x\\udcff"
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_disk_with_room(tmp_path: Path) -> None:
    assert not is_disk_full(str(tmp_path))
    assert not is_disk_full(str(tmp_path / "missing"))
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_by_its_error() -> None:
    assert is_full_error(OSError(errno.ENOSPC, "full"))
    assert is_full_error(OSError(errno.EDQUOT, "quota"))
    assert not is_full_error(OSError(errno.EACCES, "no"))
