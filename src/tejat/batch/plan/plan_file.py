"""The plan of a batch: its tasks, normalized, one per line of `tasks.jsonl` in its directory."""

import os
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import IO, Any, Self, cast

from tejat.batch.directory import BatchDirectory
from tejat.batch.plan.types import RejectedTask
from tejat.batch.result import TaskFailure
from tejat.batch.task import BatchTask, task_from_json, task_to_json
from tejat.core.errors import UsageError
from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import _
from tejat.core.json_text import dump_json, load_json
from tejat.core.messages.types import JsonObject
from tejat.workspace.files.private_files import make_missing_directories, replace_private_file


class PlanChanges(Frozen):
    """The ids of tasks that a new plan adds, changes or removes. Their order and source do not count.

    Tasks that the old plan rejected never ran: one that is corrected is added, and one that is gone is not removed.
    """

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


def write_plan(
    directory: BatchDirectory,
    entries: Iterable[BatchTask | RejectedTask],
    *,
    accept: Callable[[PlanChanges], None] | None = None,
) -> PlanChanges:
    """Write the plan of a batch, and compare it with the one that it replaces.

    `accept` gets the changes before the old plan is replaced, and may raise to keep it. Of several entries with one
    id the first stays, the others become RejectedTask. Raises UsageError if a plan cannot be read or written.
    """
    before = _read_digests(directory.plan)
    added, changed = list[str](), list[str]()
    try:
        make_missing_directories(directory.path)
        with replace_private_file(directory.plan) as descriptor, open(descriptor, "wb", closefd=False) as file:
            for entry in _with_unique_ids(entries):
                file.write(_to_line(entry))
                digest = before.pop(entry.id, None)
                if digest is None or (digest == _REJECTED and isinstance(entry, BatchTask)):
                    added.append(entry.id)
                elif digest not in (_REJECTED, _digest(entry)):
                    changed.append(entry.id)
            removed = tuple(task_id for task_id, digest in before.items() if digest != _REJECTED)
            changes = PlanChanges(tuple(added), tuple(changed), removed)
            if accept is not None:
                accept(changes)
    except OSError as error:
        raise UsageError(
            _("Could not write {path}: {why}.", path=directory.plan, why=error.strerror or error)
        ) from error
    return changes


class BatchPlan:
    """The tasks of a batch, in the order of the plan. Only ids and positions are in memory."""

    def __init__(self, path: str, ids: Sequence[str], offsets: "array[int]") -> None:
        """`offsets` has the position of each line, and the end of the file. Use `open`."""
        self.ids = ids
        self._path = path
        self._offsets = offsets
        self._sorted = array("L", sorted(range(len(ids)), key=ids.__getitem__))

    @classmethod
    def open(cls, directory: BatchDirectory) -> Self:
        """Raises UsageError if there is no plan, or if it is damaged."""
        if not os.path.exists(directory.plan):
            message = _("{path} is not the directory of a batch: it has no tasks.jsonl.", path=directory.path)
            raise UsageError(message)
        ids, offsets = list[str](), array("Q", [0])
        for entry, end in _read_entries(directory.plan):
            ids.append(entry.id)
            offsets.append(end)
        return cls(directory.plan, tuple(ids), offsets)

    def __len__(self) -> int:
        return len(self.ids)

    def index(self, task_id: str) -> int | None:
        """The position of a task, None if there is no such task."""
        at = bisect_left(self._sorted, task_id, key=self.ids.__getitem__)
        found = self._sorted[at] if at < len(self._sorted) else None
        return found if found is not None and self.ids[found] == task_id else None

    def read(self, index: int) -> BatchTask | RejectedTask:
        """Read a task from the file. Raises IndexError, and UsageError if the file was changed."""
        expected, begin, end = self.ids[index], self._offsets[index], self._offsets[index + 1]
        try:
            with open(self._path, "rb") as file:
                file.seek(begin)
                entry = _from_line(file.read(end - begin))
        except OSError as error:
            raise _unreadable(self._path, error) from error
        except ValueError:
            entry = None
        if entry is None or entry.id != expected:
            raise UsageError(_("{path} was changed while the batch was running. Start it again.", path=self._path))
        return entry


_REJECTED = b""
"""Stands for the digest of a rejected task."""


def _with_unique_ids(entries: Iterable[BatchTask | RejectedTask]) -> Iterator[BatchTask | RejectedTask]:
    sources: dict[str, str] = {}
    for entry in entries:
        unique = _rename(entry, sources) if entry.id in sources else entry
        sources[unique.id] = unique.source
        yield unique


def _rename(entry: BatchTask | RejectedTask, sources: dict[str, str]) -> RejectedTask:
    """The rejection of a second entry with the same id, under an id of its own."""
    unique, count = f"{entry.id} ({entry.source})", 1
    while unique in sources:
        count += 1
        unique = f"{entry.id} ({entry.source}) ({count})"
    if isinstance(entry, RejectedTask):
        return replace(entry, id=unique)
    message = _(
        "Duplicate id {id}: {first} has it already. Change it in {second}.",
        id=entry.id,
        first=sources[entry.id],
        second=entry.source,
    )
    return RejectedTask(unique, TaskFailure.DUPLICATE_ID, message, entry.source)


def _to_json(entry: BatchTask | RejectedTask) -> JsonObject:
    if isinstance(entry, BatchTask):
        return {"task": task_to_json(entry)}
    values = {"id": entry.id, "failure": entry.failure.value, "message": entry.message, "source": entry.source}
    return {"rejected": values}


def _to_line(entry: BatchTask | RejectedTask) -> bytes:
    return dump_json(_to_json(entry)).encode() + b"\n"


def _from_line(line: bytes) -> BatchTask | RejectedTask:
    """Raises ValueError."""
    try:
        found = cast("dict[str, dict[str, Any]]", load_json(line))
        if "task" in found:
            entry = task_from_json(found["task"])
        else:
            values = found["rejected"]
            entry = RejectedTask(**{**values, "failure": TaskFailure(values["failure"])})
    except (KeyError, TypeError) as error:
        raise ValueError(str(error)) from None
    if not isinstance(cast("object", entry.id), str):
        raise ValueError("an id that is no text")
    return entry


def _digest(entry: BatchTask | RejectedTask) -> bytes:
    return blake2b(_to_line(replace(entry, source="")), digest_size=16).digest()


def _read_digests(path: str) -> dict[str, bytes]:
    """The digests of the tasks of an existing plan by id, without their sources. Raises UsageError."""
    if not os.path.exists(path):
        return {}
    return {
        entry.id: _digest(entry) if isinstance(entry, BatchTask) else _REJECTED for entry, _end in _read_entries(path)
    }


def _read_entries(path: str) -> Iterator[tuple[BatchTask | RejectedTask, int]]:
    """The entries of a plan with the positions of their ends. Raises UsageError."""
    try:
        with open(path, "rb") as file:
            yield from _parse_entries(file, path)
    except OSError as error:
        raise _unreadable(path, error) from error


def _parse_entries(file: IO[bytes], path: str) -> Iterator[tuple[BatchTask | RejectedTask, int]]:
    end = 0
    for number, line in enumerate(file, 1):
        end += len(line)
        try:
            yield _from_line(line), end
        except ValueError:
            message = _("{path}:{line} is damaged. Use another directory for the batch.", path=path, line=number)
            raise UsageError(message) from None


def _unreadable(path: str, error: OSError) -> UsageError:
    return UsageError(_("Could not read {path}: {why}.", path=path, why=error.strerror or error))
