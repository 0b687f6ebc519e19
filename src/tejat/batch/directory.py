"""The directory of a batch: where everything is."""

import os
import re

from tejat.core.text.digest import sha256

_PLAIN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
_REPLACED = re.compile(r"[^A-Za-z0-9._-]+")
_READABLE_LENGTH = 60


class BatchDirectory:
    """The paths of a batch, given its directory. None of them need exist."""

    def __init__(self, path: str) -> None:
        self.path = os.path.abspath(path)
        self.lock = os.path.join(self.path, "lock")
        self.plan = os.path.join(self.path, "tasks.jsonl")
        """The tasks, normalized, one per line."""
        self.settings = os.path.join(self.path, "batch.json")
        self.results = os.path.join(self.path, "results.jsonl")
        self.events = os.path.join(self.path, "events.jsonl")
        self.rates = os.path.join(self.path, "rates.json")
        """The state of the rate limits, shared by all runs on a machine."""
        self.repositories = os.path.join(self.path, "repos")
        self.tasks = os.path.join(self.path, "tasks")

    def task(self, task_id: str) -> "TaskDirectory":
        return TaskDirectory(os.path.join(self.tasks, directory_name(task_id)))

    def relative(self, path: str) -> str:
        """The path relative to the batch."""
        return os.path.relpath(path, self.path)


class TaskDirectory:
    """The paths of a task."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.result = os.path.join(path, "result.json")
        """Exists once the task is done: its result, which is then in `results.jsonl` or about to be."""
        self.patch = os.path.join(path, "patch.diff")
        self.run = os.path.join(path, "run.json")
        """The `result` event of the run."""
        self.events = os.path.join(path, "events.jsonl")
        """The run as stream-json."""
        self.transcript = os.path.join(path, "transcript.md")
        self.stderr = os.path.join(path, "stderr.txt")
        self.check = os.path.join(path, "check.txt")
        """What the check printed."""
        self.attempts = os.path.join(path, "attempts")
        """What interrupted or retried attempts left, in a folder for each."""
        self.work = os.path.join(path, "work")
        """Exists while the task runs: the working copy and the state of the run."""
        self.tree = os.path.join(self.work, "tree")
        self.state = os.path.join(self.work, "state")
        self.git = os.path.join(self.work, "git")
        """An index and objects of our own, which the agent cannot change."""


def directory_name(task_id: str) -> str:
    """A name for the folder of a task: its id if that is plain, else readable and unique."""
    if _PLAIN_ID.fullmatch(task_id):
        return task_id
    readable = _REPLACED.sub("-", task_id).strip("-.")[:_READABLE_LENGTH]
    digest = sha256(task_id.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{readable}-{digest}" if readable else digest
