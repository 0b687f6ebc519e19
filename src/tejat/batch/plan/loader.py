"""Loading the tasks of a batch from a file, or one for each repository that a pattern matches."""

import os
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from tejat.batch.plan.csv_file import read_csv
from tejat.batch.plan.jsonl_file import read_jsonl
from tejat.batch.plan.repositories import read_repositories
from tejat.batch.plan.task_builder import TaskBuilder
from tejat.batch.plan.text_lines import open_task_file
from tejat.batch.plan.toml_file import read_toml
from tejat.batch.plan.types import RejectedTask, TaskDefaults, TaskRecord
from tejat.batch.task import BatchTask
from tejat.core.errors import UsageError
from tejat.core.i18n import _

_ReadFile: TypeAlias = Callable[[str], Iterator[TaskRecord | RejectedTask]]
_FORMATS: Mapping[str, _ReadFile] = {
    ".jsonl": read_jsonl,
    ".ndjson": read_jsonl,
    ".toml": read_toml,
    ".csv": read_csv,
}


def load_tasks(path: str, defaults: TaskDefaults) -> Iterator[BatchTask | RejectedTask]:
    """The tasks of a file, in its order, read as they are needed. A wrong line becomes a RejectedTask.

    A field of a task precedes that of `[defaults]` in a TOML file, and that one precedes the defaults given here.
    Raises UsageError, at once or when the first task is taken, if the file itself cannot be read or has no tasks.
    """
    read = _FORMATS.get(os.path.splitext(path)[1].lower())
    if read is None:
        known = ", ".join(_FORMATS)
        raise UsageError(_("Unknown format of {path}. Supported endings: {known}.", path=path, known=known))
    with open_task_file(path):
        pass  # a missing file is reported before anything is created for the batch
    return _build_tasks(read(path), TaskBuilder(defaults, directory=os.path.dirname(path)), path)


def tasks_of_repositories(pattern: str, defaults: TaskDefaults) -> Iterator[BatchTask | RejectedTask]:
    """A task for each git repository that matches a glob, sorted by path. Raises UsageError if there is none.

    A directory that matches and is not a repository becomes a RejectedTask, unless the pattern ends in `**`. `**`
    does not search within repositories.
    """
    if not defaults.prompt:
        raise UsageError(_("No prompt. Add -p PROMPT."))
    return _build_tasks(iter(read_repositories(pattern)), TaskBuilder(defaults, directory=os.getcwd()), pattern)


def _build_tasks(
    records: Iterator[TaskRecord | RejectedTask], builder: TaskBuilder, path: str
) -> Iterator[BatchTask | RejectedTask]:
    is_empty = True
    for record in records:
        is_empty = False
        yield builder.build(record) if isinstance(record, TaskRecord) else record
    if is_empty:
        raise UsageError(_("{path} has no tasks.", path=path))
