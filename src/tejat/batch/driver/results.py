"""The results of a batch: `result.json` of each task, and `results.jsonl` with a line for each."""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import cast

from tejat.batch.directory import BatchDirectory
from tejat.batch.result import TaskResult, result_from_json, result_to_json
from tejat.core.json_text import dump_json, load_json
from tejat.core.messages.types import JsonObject
from tejat.workspace.files.private_files import (
    make_missing_directories,
    open_private_file,
    replace_private_file,
    write_private_file,
)
from tejat.workspace.files.regular_file import regular_file_opener


class InvalidResult(ValueError):
    """A line or file that is not a result."""


def read_results(directory: BatchDirectory) -> Iterator[TaskResult]:
    """The results in `results.jsonl`, in the order of completion. Damaged lines are left out. Raises OSError."""
    for line in _read_lines(directory.results):
        with suppress(InvalidResult):
            yield _decode_line(line)


class ResultStore:
    """Writes results. A task is done once its `result.json` is in place; its line follows.

    A process that is killed between the two leaves a `result.json` without a line, which `append` adds later.
    """

    def __init__(self, directory: BatchDirectory) -> None:
        self._directory = directory
        self._descriptor = -1

    def keep_lines(self, keep: Callable[[TaskResult], bool]) -> int:
        """Remove the lines that are damaged or not to be kept; return how many were damaged. Raises OSError."""
        decisions = bytearray()
        damaged = 0
        for line in _read_lines(self._directory.results):
            try:
                decisions.append(keep(_decode_line(line)))
            except InvalidResult:
                damaged += line.endswith(b"\n")
                decisions.append(False)
        if not all(decisions):
            with replace_private_file(self._directory.results) as descriptor:
                kept = zip(_read_lines(self._directory.results), decisions, strict=False)
                _write_all(descriptor, (line for line, is_kept in kept if is_kept))
        return damaged

    def read(self, task_id: str) -> TaskResult | None:
        """The result of a task that is done, else None. Raises InvalidResult for a damaged file, OSError."""
        path = self._directory.task(task_id).result
        try:
            with open(path, "rb", opener=regular_file_opener) as file:
                result = _decode(file.read())
        except FileNotFoundError:
            return None
        if result.id != task_id:
            raise InvalidResult(f"the result of {result.id}")
        return result

    def write(self, result: TaskResult) -> None:
        """Record the result of a task in one durable step, without its line. Raises OSError."""
        folder = self._directory.task(result.id)
        make_missing_directories(folder.path)
        write_private_file(folder.result, dump_json(result_to_json(result), indent=2) + "\n", follow_symlinks=False)

    def append(self, result: TaskResult) -> None:
        """Add a line to `results.jsonl`: all of it or nothing. Raises OSError."""
        if self._descriptor < 0:
            self._descriptor = open_private_file(self._directory.results, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        append_line(self._descriptor, dump_json(result_to_json(result)).encode() + b"\n")

    def close(self) -> None:
        """Flush the lines to the disk. Raises OSError."""
        if self._descriptor >= 0:
            descriptor, self._descriptor = self._descriptor, -1
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def append_line(descriptor: int, line: bytes) -> None:
    """Append a whole line, or nothing if the disk is full. Raises OSError."""
    # Whoever holds the lock of the batch is the only writer.
    size = os.fstat(descriptor).st_size
    rest = memoryview(line)
    try:
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    except BaseException:
        with suppress(OSError):
            os.ftruncate(descriptor, size)
        raise


def _read_lines(path: str) -> Iterator[bytes]:
    """The lines with their ends; none if there is no file. Raises OSError."""
    try:
        file = open(path, "rb", opener=regular_file_opener)  # noqa: SIM115 -- closed below
    except FileNotFoundError:
        return
    with file:
        yield from file


def _decode_line(line: bytes) -> TaskResult:
    if not line.endswith(b"\n"):
        raise InvalidResult("cut off")
    return _decode(line)


def _decode(text: bytes) -> TaskResult:
    try:
        found = load_json(text)
        if not isinstance(found, dict):
            raise InvalidResult("not an object")
        result = result_from_json(cast("JsonObject", found))
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidResult(str(error)) from error
    # The constructor checks no types.
    numbers = cast("tuple[object, ...]", (result.tokens, result.attempts, result.cost or 0))
    if not isinstance(cast("object", result.id), str) or not all(isinstance(each, int | float) for each in numbers):
        raise InvalidResult("a field of another type")
    return result


def _write_all(descriptor: int, lines: Iterator[bytes]) -> None:
    """Raises OSError."""
    with open(descriptor, "wb", closefd=False) as file:
        file.writelines(lines)
