"""What interrupted attempts leave is kept in a folder for each."""

import asyncio
import json
import os
from pathlib import Path

import pytest

from support.batch_jobs import JobCase, saying, shell, start_driver, writing
from support.process_marks import living_pids
from support.wait import wait_until
from tejat.batch.directory import TaskDirectory
from tejat.batch.git.mirror import Mirror
from tejat.batch.runner.attempts import keep_attempt, remember_mirror


@pytest.fixture
def task(tmp_path: Path) -> TaskDirectory:
    task = TaskDirectory(str(tmp_path / "tasks" / "one"))
    Path(task.path).mkdir(parents=True)
    return task


def kept(task: TaskDirectory, number: int) -> Path:
    return Path(task.attempts) / str(number)


def test_everything_is_moved(task: TaskDirectory) -> None:
    for number in (1, 2):
        Path(task.events).write_text(f"{number}")
        keep_attempt(task, f"reason {number}")
        assert os.listdir(task.path) == ["attempts"]
    for number in (1, 2):
        assert sorted(os.listdir(kept(task, number))) == ["events.jsonl", "reason.json"]
        assert (kept(task, number) / "events.jsonl").read_text() == f"{number}"
        assert json.loads((kept(task, number) / "reason.json").read_text())["reason"] == f"reason {number}"


def test_nothing_is_no_attempt(task: TaskDirectory, tmp_path: Path) -> None:
    keep_attempt(task, "none")
    assert os.listdir(task.path) == []
    keep_attempt(TaskDirectory(str(tmp_path / "missing")), "none")
    assert not (tmp_path / "missing").exists()


def test_a_tree_whose_mirror_is_gone_is_kept(task: TaskDirectory) -> None:
    Path(task.tree).mkdir(parents=True)
    (Path(task.tree) / "file").write_text("x")
    remember_mirror(task, Mirror("/missing", "0" * 40))
    keep_attempt(task, "why")
    assert (kept(task, 1) / "work" / "tree" / "file").exists()
    assert json.loads((kept(task, 1) / "reason.json").read_text())["problem"]


def test_a_tree_that_was_not_complete_is_removed(task: TaskDirectory) -> None:
    Path(task.tree).mkdir(parents=True)
    keep_attempt(task, "why")
    assert os.listdir(kept(task, 1)) == ["reason.json"]


def test_a_killed_driver(case: JobCase, mark: str) -> None:
    job = case.job(
        writing("b.txt", "two\n"), shell(f"sleep {mark}", is_background=True), shell(f"sleep {mark}"), saying()
    )
    driver = start_driver([job], case.base)
    try:
        wait_until(lambda: case.exists("events.jsonl") and case.text("events.jsonl").count('"tool_use"') == 3)
    finally:
        driver.kill()
        driver.wait()
    keep_attempt(case.task(), "The batch was killed.")
    wait_until(lambda: not living_pids(mark))
    names = ["events.jsonl", "patch.diff", "reason.json", "session.jsonl", "stderr.txt"]
    assert sorted(os.listdir(kept(case.task(), 1))) == names
    assert "+two" in (kept(case.task(), 1) / "patch.diff").read_text()


def test_it_can_be_called_in_an_event_loop(case: JobCase) -> None:
    case.run(case.job(writing("b.txt", "two\n"), saying(), keeps_tree=True))
    os.unlink(case.task().patch)

    async def main() -> None:
        keep_attempt(case.task(), "again")

    asyncio.run(main())
    assert "+two" in (kept(case.task(), 1) / "patch.diff").read_text()
    assert (kept(case.task(), 1) / "transcript.md").exists()
    assert not (kept(case.task(), 1) / "work").exists()
