"""Results on the disk."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tejat.batch.directory import BatchDirectory
from tejat.batch.driver.results import InvalidResult, ResultStore, read_results
from tejat.batch.result import TaskResult, TaskStatus, result_to_json


def result(name: str, status: TaskStatus = TaskStatus.PASSED) -> TaskResult:
    return TaskResult(name, status, cost=0.1, tokens=3)


@pytest.fixture
def directory(tmp_path: Path) -> BatchDirectory:
    return BatchDirectory(str(tmp_path))


def fill(directory: BatchDirectory, *names: str) -> None:
    store = ResultStore(directory)
    for name in names:
        store.append(result(name))
    store.close()


def test_a_result_is_in_its_folder_and_in_a_line(directory: BatchDirectory) -> None:
    store = ResultStore(directory)
    store.write(result("a b"))
    store.append(result("a b"))
    store.close()
    assert store.read("a b") == result("a b")
    assert store.read("other") is None
    assert list(read_results(directory)) == [result("a b")]
    assert Path(directory.results).read_bytes().count(b"\n") == 1
    assert Path(directory.results).stat().st_mode & 0o777 == 0o600


def test_no_results_yet(directory: BatchDirectory) -> None:
    assert list(read_results(directory)) == []
    assert ResultStore(directory).keep_lines(lambda _: True) == 0


@given(cut=st.integers(0, 10_000))
def test_a_cut_last_line_is_left_out_and_removed(tmp_path_factory: pytest.TempPathFactory, cut: int) -> None:
    directory = BatchDirectory(str(tmp_path_factory.mktemp("batch")))
    fill(directory, "a", "b", "c")
    path = Path(directory.results)
    whole = path.read_bytes()
    path.write_bytes(whole[: cut % (len(whole) + 1)])
    complete = path.read_bytes().count(b"\n")
    assert [found.id for found in read_results(directory)] == ["a", "b", "c"][:complete]
    assert ResultStore(directory).keep_lines(lambda _: True) == 0
    fill(directory, "d")
    assert [found.id for found in read_results(directory)] == [*["a", "b", "c"][:complete], "d"]


@pytest.mark.parametrize(
    "damaged",
    [
        b"\n",
        b"[]\n",
        b"{}\n",
        b'{"id": "b"\n',
        b"\xff\x00\n",
        json.dumps({**result_to_json(result("b")), "id": 5}).encode() + b"\n",
        json.dumps({**result_to_json(result("b")), "cost": "free"}).encode() + b"\n",
        json.dumps({**result_to_json(result("b")), "status": "great"}).encode() + b"\n",
    ],
)
def test_damaged_lines_are_left_out_and_removed(directory: BatchDirectory, damaged: bytes) -> None:
    fill(directory, "a")
    path = Path(directory.results)
    path.write_bytes(damaged + path.read_bytes() + damaged)
    assert [found.id for found in read_results(directory)] == ["a"]
    assert ResultStore(directory).keep_lines(lambda _: True) == 2
    assert path.read_bytes().count(b"\n") == 1


def test_lines_that_are_not_kept_are_removed(directory: BatchDirectory) -> None:
    fill(directory, "a", "b", "c")
    before = Path(directory.results).stat().st_ino
    assert ResultStore(directory).keep_lines(lambda found: found.id != "b") == 0
    assert [found.id for found in read_results(directory)] == ["a", "c"]
    assert Path(directory.results).stat().st_ino != before


@pytest.mark.parametrize("content", ["", "{", json.dumps(result_to_json(result("other")))])
def test_a_damaged_result_is_reported(directory: BatchDirectory, content: str) -> None:
    path = Path(directory.task("a").result)
    path.parent.mkdir(parents=True)
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InvalidResult):
        ResultStore(directory).read("a")
