"""Runs one small program to its end: it is given its input, heard out within bounds, and ended when it goes too far."""

import asyncio
import errno
import os
import stat
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from enum import StrEnum

from tejat.core.value import value
from tejat.core.visible import visible
from tejat.workspace.processes.bounded import Bounded
from tejat.workspace.processes.collect import Ended, Limits, Why, collect, open_pipe
from tejat.workspace.processes.keeping import Keeper, Running
from tejat.workspace.processes.launching import Exit, Launch

_PIECE = 1 << 16


class Cause(StrEnum):
    """Why a program is over."""

    EXITED = "exited"
    TIME = "time"
    OUTPUT = "output"


@value
class Finished:
    """What a program printed, at most as much of each stream as was asked for, and how it ended.

    `exit` is None only for a program that was to be stopped and could not be.
    """

    stdout: bytes
    stderr: bytes
    exit: Exit | None
    cause: Cause


async def run_program(
    keeper: Keeper,
    arguments: Sequence[str],
    *,
    directory: str,
    environment: Mapping[str, str],
    input: bytes = b"",  # noqa: A002 -- everybody calls it so
    seconds: float,
    most_bytes: int,
) -> Finished:
    """Run a program in a directory, without a shell, with nothing but this environment and this input.

    It is stopped with all that descends from it after so many `seconds`, when it prints more than `most_bytes` to one
    of its streams, and when the waiting is cancelled, before the cancellation goes on. Whether it reads its input is up
    to it. What it left behind when it ended by itself is not waited for and lives on until the keeper is closed, but
    nobody reads what that prints. Raises OSError: the program is not to be found (FileNotFoundError with its name as
    `filename`) or cannot be started, or the keeper died.
    """
    program = find_program(arguments[0], directory=directory, environment=environment)
    out, err = (Bounded(head=most_bytes, tail=0, spool=None, spool_limit=0) for _ in range(2))
    with ExitStack() as ours:
        with ExitStack() as theirs:
            stdout, stdout_end = _output_pipe(ours, theirs)
            stderr, stderr_end = _output_pipe(ours, theirs)
            stdin = _input_pipe(input, ours, theirs) if input else None
            where = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            theirs.callback(os.close, where)
            launch = Launch((program, *arguments[1:]), where, environment)
            running = await keeper.start(launch, stdin=stdin, stdout=stdout_end, stderr=stderr_end)
        ended = await _hear_out(running, stdout, stderr, out=out, err=err, seconds=seconds)
    if ended is None or not (out.is_whole and err.is_whole):
        cause = Cause.OUTPUT
    else:
        cause = Cause.TIME if ended.why is Why.TOTAL else Cause.EXITED
    exited = running.exit if ended is None else ended.exit
    return Finished(out.head_bytes, err.head_bytes, exited, cause)


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


def why_not_run(error: OSError) -> str:
    """What `run_program` raised, in words for a person and ready to be shown."""
    reason = error.strerror or str(error)
    return visible(f"{reason}: {error.filename}" if error.filename else reason)


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
    ours.callback(_Feeding(writable, data).close)
    return readable


class _Feeding:
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


async def _hear_out(
    running: Running, stdout: int, stderr: int, *, out: Bounded, err: Bounded, seconds: float
) -> Ended | None:
    """Read until the program is over; None when it was stopped because it printed too much."""

    def look(_: bytes) -> None:
        if enough.when() is None and not (out.is_whole and err.is_whole):
            enough.reschedule(0)

    limits = Limits(idle=None, total=seconds)
    enough = asyncio.timeout(None)  # what stops a command when the waiting is cancelled stops it here too
    try:
        async with enough:
            return await collect(running, stdout, stderr, out=out, err=err, limits=limits, on_output=look)
    except TimeoutError:
        if not enough.expired():
            raise
        return None
