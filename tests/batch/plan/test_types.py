"""Defaults of flags are those of a task."""

from tejat.batch.plan.types import InvalidTask, TaskDefaults
from tejat.batch.result import TaskFailure
from tejat.batch.task import BatchTask
from tejat.core.frozen import fields_of


def test_defaults_are_those_of_a_task() -> None:
    task, defaults = BatchTask("a", "/r", "p"), TaskDefaults()
    for each in fields_of(TaskDefaults):
        expected = "" if each.name == "prompt" else getattr(task, each.name)
        assert getattr(defaults, each.name) == expected


def test_a_wrong_task_is_wrong_input_unless_it_says_otherwise() -> None:
    assert InvalidTask("why").failure is TaskFailure.INPUT
    assert InvalidTask("why", TaskFailure.REPOSITORY).failure is TaskFailure.REPOSITORY
    assert str(InvalidTask("why")) == "why"
