"""`batch.json`."""

import json
from pathlib import Path

import pytest

from tejat.batch.directory import BatchDirectory
from tejat.batch.driver.options import BatchOptions
from tejat.batch.driver.settings import FORMAT, check_directory, read_settings, record_end, record_start
from tejat.batch.events import BatchEnded
from tejat.core.errors import UsageError


@pytest.fixture
def directory(tmp_path: Path) -> BatchDirectory:
    return BatchDirectory(str(tmp_path))


def start(directory: BatchDirectory, now: float = 5.0, **options: object) -> None:
    chosen = BatchOptions(directory.path, version="1.2.3", **options)  # pyright: ignore[reportArgumentType]
    record_start(directory, chosen, total=7, now=now)


def test_runs_and_totals_are_recorded(directory: BatchDirectory) -> None:
    start(directory, 5.0)
    start(directory, 6.0, max_cost=2.0, redo=("failed",), rates={"gemini": 60.0}, shard=(1, 3), resources={"CPU": 1})
    record_end(directory, BatchEnded({"passed": 7}, 1.5, 20, 3.0), now=9.0)
    found = read_settings(directory)
    assert (found["format"], found["tejat"], found["tasks"], found["started"]) == (FORMAT, "1.2.3", 7, [5.0, 6.0])
    assert found["totals"] == {"counts": {"passed": 7}, "cost": 1.5, "unknown_costs": 0, "tokens": 20, "reason": ""}
    options = found["options"]
    assert isinstance(options, dict)
    assert (options["max_cost"], options["redo"], options["shard"]) == (2.0, ["failed"], [1, 3])


def test_a_long_history_is_cut(directory: BatchDirectory) -> None:
    for number in range(105):
        start(directory, float(number))
    assert read_settings(directory)["started"] == [float(number) for number in range(5, 105)]


def test_a_new_an_empty_and_a_planned_directory_can_be_used(tmp_path: Path) -> None:
    check_directory(BatchDirectory(str(tmp_path / "new")))
    check_directory(BatchDirectory(str(tmp_path)))
    for name in ("lock", ".tejat-1-0123456789abcdef.tmp", "tasks.jsonl", "events.jsonl"):
        (tmp_path / name).touch()
        check_directory(BatchDirectory(str(tmp_path)))
    (tmp_path / "tasks").mkdir()
    check_directory(BatchDirectory(str(tmp_path)))


@pytest.mark.parametrize("name", ["tasks", "events.jsonl", "results.jsonl"])
def test_without_a_plan_it_is_not_a_batch(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    with pytest.raises(UsageError, match="holds other files"):
        check_directory(BatchDirectory(str(tmp_path)))


def test_a_directory_with_other_files_is_refused(directory: BatchDirectory) -> None:
    Path(directory.path, "main.py").touch()
    with pytest.raises(UsageError, match=r"holds other files \(main.py\) and is not the directory of a batch"):
        check_directory(directory)


def test_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="is not a directory"):
        check_directory(BatchDirectory(str(tmp_path / "file")))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "Cannot read .*batch.json: .* Remove it to continue the batch"),
        ("[]", "is not the file of a batch"),
        ('{"name": "npm"}', "is not the file of a batch"),
        (
            json.dumps({"kind": "tejat-batch", "format": FORMAT + 1, "tejat": "9.0"}),
            r"newer version of Tejat \(9.0\). Update Tejat",
        ),
    ],
)
def test_a_file_of_others_is_refused(directory: BatchDirectory, content: str, message: str) -> None:
    Path(directory.settings).write_text(content, encoding="utf-8")
    with pytest.raises(UsageError, match=message):
        check_directory(directory)
