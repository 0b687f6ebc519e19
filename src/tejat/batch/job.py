"""A job: one attempt at a task, as an engine gets it. It can be sent to another machine."""

from collections.abc import Mapping
from typing import Any

from tejat.batch.task import BatchTask, task_from_json, task_to_json
from tejat.core.frozen import Frozen, field
from tejat.core.messages.types import JsonObject


class TaskJob(Frozen):
    """One attempt at a task.

    `directory` is the directory of the batch on the machine that runs the job. `commit` is the hash that the task's
    commit had when the batch was planned, empty if the repository is a URL that nobody has fetched yet. `attempt`
    counts from 1. `rates` are requests per minute by service. `keeps_tree` leaves the working copy in place.
    """

    task: BatchTask
    directory: str
    commit: str = ""
    attempt: int = 1
    rates: Mapping[str, float] = field(default_factory=dict[str, float])
    keeps_tree: bool = False


def job_to_json(job: TaskJob) -> JsonObject:
    """The job as a JSON object."""
    return {
        "task": task_to_json(job.task),
        "directory": job.directory,
        "commit": job.commit,
        "attempt": job.attempt,
        "rates": dict(job.rates),
        "keeps_tree": job.keeps_tree,
    }


def job_from_json(found: JsonObject) -> TaskJob:
    """The job of an object that `job_to_json` made. Raises KeyError, TypeError or ValueError for any other."""
    values: dict[str, Any] = dict(found)
    values["task"] = task_from_json(values["task"])
    return TaskJob(**values)
