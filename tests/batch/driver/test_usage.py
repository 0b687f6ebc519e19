"""What attempts used."""

import json
from pathlib import Path

import pytest

from tejat.batch.directory import TaskDirectory
from tejat.batch.driver.usage import Spending, earlier_spending, next_attempt, run_error, spending_of

RUN = {"cost_usd": 0.25, "stats": {"total_tokens": 12}, "error": {"type": "cost_limit"}}


@pytest.fixture
def task(tmp_path: Path) -> TaskDirectory:
    return TaskDirectory(str(tmp_path))


def keep(task: TaskDirectory, number: str, **files: object) -> None:
    folder = Path(task.attempts, number)
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")


def test_attempts_are_numbered_on(task: TaskDirectory) -> None:
    assert next_attempt(task) == 1
    for number in ("2", "10", "x"):
        keep(task, number)
    assert next_attempt(task) == 11


def test_the_result_counts_or_else_the_run(task: TaskDirectory) -> None:
    keep(task, "1", run=RUN)
    keep(task, "2", run=RUN, result={"cost": 0.5, "tokens": 3})
    keep(task, "3")
    keep(task, "4", run={"stats": {}})
    spent = [Spending(0.25, 12), Spending(0.5, 3), Spending(0.0, 0), Spending(None, 0)]
    assert list(earlier_spending(task)) == spent


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"stats": 5}', '{"cost_usd": "x", "stats": {"total_tokens": null}}']
)
def test_damaged_files(task: TaskDirectory, content: str) -> None:
    Path(task.run).write_text(content, encoding="utf-8")
    assert spending_of(task).tokens == 0
    assert run_error(task) == ""


def test_the_error_of_a_run(task: TaskDirectory) -> None:
    Path(task.run).write_text(json.dumps(RUN), encoding="utf-8")
    assert run_error(task) == "cost_limit"
