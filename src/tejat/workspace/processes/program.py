"""Runs one small program to its end: it is given its input, heard out within bounds, and ended when it goes too far."""

import asyncio
import errno
import os
import stat
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from enum import StrEnum

from tejat.core.frozen import frozen
from tejat.core.sanitize import sanitize_text
from tejat.workspace.processes.bounded_buffer import BoundedBuffer
from tejat.workspace.processes.output_collector import (
    CommandEndReason,
    CommandOutcome,
    TimeLimits,
    collect_output,
    open_pipe,
)
from tejat.workspace.processes.spawn import ExitStatus, ProcessSpec
from tejat.workspace.processes.supervisor_client import ProcessSupervisor, RunningProcess

_PIECE = 1 << 16


class ProgramEndReason(StrEnum):
    """Why a program is over."""

    EXITED = "exited"
    TIME = "time"
    OUTPUT = "output"


@frozen
class ProgramResult:
    """What a program printed, at most as much of each stream as was asked for, and how it ended.

    `exit` is None only for a program that was to be stopped and could not be.
    """

    stdout: bytes
    stderr: bytes
    exit: ExitStatus | None
    reason: ProgramEndReason


async def run_program(
    supervisor: ProcessSupervisor,
    arguments: Sequence[str],
    *,
    directory: str,
    environment: Mapping[str, str],
    input: bytes = b"",  # noqa: A002 -- everybody calls it so
    seconds: float,
    most_bytes: int,
) -> ProgramResult:
    """Run a program in a directory, without a shell, with nothing but this environment and this input.

    It is stopped with all that descends from it after so many `seconds`, when it prints more than `most_bytes` to one
    of its streams, and when the waiting is cancelled, before the cancellation goes on. Whether it reads its input is up
    to it. What it left behind when it ended by itself is not waited for and lives on until the keeper is closed, but
    nobody reads what that prints. Raises OSError: the program is not to be found (FileNotFoundError with its name as
    `filename`) or cannot be started, or the keeper died.
    """
    program = find_program(arguments[0], directory=directory, environment=environment)
    out, err = (BoundedBuffer(head=most_bytes, tail=0, spool=None, spool_limit=0) for _ in range(2))
    with ExitStack() as ours:
        with ExitStack() as theirs:
            stdout, stdout_end = _output_pipe(ours, theirs)
            stderr, stderr_end = _output_pipe(ours, theirs)
            stdin = _input_pipe(input, ours, theirs) if input else None
            where = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            theirs.callback(os.close, where)
            spec = ProcessSpec((program, *arguments[1:]), where, environment)
            running = await supervisor.start(spec, stdin=stdin, stdout=stdout_end, stderr=stderr_end)
        ended = await _collect(running, stdout, stderr, out=out, err=err, seconds=seconds)
    if ended is None or not (out.is_complete and err.is_complete):
        cause = ProgramEndReason.OUTPUT
    else:
        cause = ProgramEndReason.TIME if ended.reason is CommandEndReason.TOTAL else ProgramEndReason.EXITED
    exited = running.exit if ended is None else ended.exit
    return ProgramResult(out.head_bytes, err.head_bytes, exited, cause)


def find_program(name: str, *, directory: str, environment: Mapping[str, str]) -> str:
    """The path of a program: from the directory where its name has a slash, else from the absolute entries of PATH.

    Raises FileNotFoundError for one that PATH does not lead to. A name with a slash is not looked at.
    """
    if "/" in name:
        return os.path.join(directory, name)
    for entry in environment.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(entry, name)
        if entry.startswith("/") and _is_program(path):
            return path
    raise FileNotFoundError(errno.ENOENT, "There is no such program on PATH", name)


def format_start_error(error: OSError) -> str:
    """What `run_program` raised, in words for a person and ready to be shown."""
    reason = error.strerror or str(error)
    return sanitize_text(f"{reason}: {error.filename}" if error.filename else reason)


def _is_program(path: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(path).st_mode) and os.access(path, os.X_OK)
    except (OSError, ValueError):
        return False


def _output_pipe(ours: ExitStack, theirs: ExitStack) -> tuple[int, int]:
    readable, writable = open_pipe()
    ours.callback(os.close, readable)
    theirs.callback(os.close, writable)
    return readable, writable


def _input_pipe(data: bytes, ours: ExitStack, theirs: ExitStack) -> int:
    readable, writable = os.pipe()
    theirs.callback(os.close, readable)
    os.set_blocking(writable, False)
    ours.callback(_PipeWriter(writable, data).close)
    return readable


class _PipeWriter:
    """Writes to a pipe whenever there is room in it, and closes it when all is written or nobody reads any more."""

    def __init__(self, descriptor: int, data: bytes) -> None:
        self._loop = asyncio.get_running_loop()
        self._descriptor = descriptor
        self._left = memoryview(data)
        self._is_open = True
        self._loop.add_writer(descriptor, self._write)

    def _write(self) -> None:
        try:
            self._left = self._left[os.write(self._descriptor, self._left[:_PIECE]) :]
        except BlockingIOError:
            return
        except OSError:
            self._left = self._left[:0]
        if not self._left:
            self.close()

    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            self._loop.remove_writer(self._descriptor)
            os.close(self._descriptor)


async def _collect(
    running: RunningProcess, stdout: int, stderr: int, *, out: BoundedBuffer, err: BoundedBuffer, seconds: float
) -> CommandOutcome | None:
    """Read until the program is over; None when it was stopped because it printed too much."""

    def look(_: bytes) -> None:
        if enough.when() is None and not (out.is_complete and err.is_complete):
            enough.reschedule(0)

    limits = TimeLimits(idle=None, total=seconds)
    enough = asyncio.timeout(None)  # what stops a command when the waiting is cancelled stops it here too
    try:
        async with enough:
            return await collect_output(running, stdout, stderr, out=out, err=err, limits=limits, on_output=look)
    except TimeoutError:
        if not enough.expired():
            raise
        return None
