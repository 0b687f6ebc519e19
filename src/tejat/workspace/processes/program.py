"""Runner for a small program: input, bounded output and a time limit, without a shell."""

import asyncio
import errno
import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack

from tejat.core.frozen import Frozen
from tejat.core.sanitize import sanitize_text
from tejat.core.text.str_enum import StrEnum
from tejat.workspace.files.regular_file import is_executable_file
from tejat.workspace.paths.real_path import real_path
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
from tejat.workspace.sandbox.types import ProgramWrapper, SandboxedCommand

_PIECE = 1 << 16


class ProgramEndReason(StrEnum):
    """Why a program ended."""

    EXITED = "exited"
    TIME = "time"
    OUTPUT = "output"


class ProgramResult(Frozen):
    """Output of a program, up to the limit per stream, and how it ended.

    `exit` is None only if it could not be stopped.
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
    max_bytes: int,
    wrap: ProgramWrapper | None = None,
) -> ProgramResult:
    """Run a program in a directory, without a shell, with exactly this environment and input.

    With `wrap` it runs in a container, where it is looked up on the PATH of the image.

    It is stopped with all its descendants after `seconds`, when a stream exceeds `max_bytes`, and on cancellation. It
    need not read its input. Background processes that it leaves are not waited for; they live until the supervisor is
    closed and their output is discarded. Raises OSError if the program is not found (FileNotFoundError with its name as
    `filename`) or cannot be started, or if the supervisor died.
    """
    if wrap is None:
        program = find_program(arguments[0], directory=directory, environment=environment)
        command = SandboxedCommand((program, *arguments[1:]))
    else:
        command = wrap((path_in_container(arguments[0], directory), *arguments[1:]), real_path(directory))
    out, err = (BoundedBuffer(head=max_bytes, tail=0, spool=None, spool_limit=0) for _ in range(2))
    with ExitStack() as ours:
        ours.callback(command.clean_up)
        with ExitStack() as theirs:
            stdout, stdout_end = _output_pipe(ours, theirs)
            stderr, stderr_end = _output_pipe(ours, theirs)
            stdin = _input_pipe(input, ours, theirs) if input else None
            directory_fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            theirs.callback(os.close, directory_fd)
            spec = ProcessSpec(command.arguments, directory_fd, {**environment, **command.environment})
            running = await supervisor.start(spec, stdin=stdin, stdout=stdout_end, stderr=stderr_end)
        ended = await _collect(running, stdout, stderr, out=out, err=err, seconds=seconds)
    if ended is None or not (out.is_complete and err.is_complete):
        cause = ProgramEndReason.OUTPUT
    else:
        cause = ProgramEndReason.TIME if ended.reason is CommandEndReason.TOTAL else ProgramEndReason.EXITED
    exited = running.exit if ended is None else ended.exit
    return ProgramResult(out.head_bytes, err.head_bytes, exited, cause)


def find_program(name: str, *, directory: str, environment: Mapping[str, str]) -> str:
    """Return the path of a program: relative to the directory if its name has a slash, else from absolute PATH entries.

    Raises FileNotFoundError if it is not on PATH. A name with a slash is not checked.
    """
    if "/" in name:
        return os.path.join(directory, name)
    for entry in environment.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(entry, name)
        if entry.startswith("/") and is_executable_file(path):
            return path
    raise FileNotFoundError(errno.ENOENT, "There is no such program on PATH", name)


def path_in_container(name: str, directory: str) -> str:
    """Return a program as a container gets it: a name without a slash is for the PATH of the image."""
    return os.path.normpath(os.path.join(os.path.realpath(directory), name)) if "/" in name else name


def format_start_error(error: OSError) -> str:
    """Format an error of `run_program` for display."""
    reason = error.strerror or str(error)
    return sanitize_text(f"{reason}: {error.filename}" if error.filename else reason)


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
    """Writer that fills a pipe whenever there is room and closes it when done or when nobody reads."""

    def __init__(self, descriptor: int, data: bytes) -> None:
        self._loop = asyncio.get_running_loop()
        self._descriptor = descriptor
        self._unsent = memoryview(data)
        self._is_open = True
        self._loop.add_writer(descriptor, self._write)

    def _write(self) -> None:
        try:
            self._unsent = self._unsent[os.write(self._descriptor, self._unsent[:_PIECE]) :]
        except BlockingIOError:
            return
        except OSError:
            self._unsent = self._unsent[:0]
        if not self._unsent:
            self.close()

    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            self._loop.remove_writer(self._descriptor)
            os.close(self._descriptor)


async def _collect(
    running: RunningProcess, stdout: int, stderr: int, *, out: BoundedBuffer, err: BoundedBuffer, seconds: float
) -> CommandOutcome | None:
    """Read until the program ends; return None if it was stopped because it printed too much."""

    def stop_at_limit(_: memoryview) -> None:
        if enough.when() is None and not (out.is_complete and err.is_complete):
            enough.reschedule(0)

    limits = TimeLimits(idle=None, total=seconds)
    enough = asyncio.timeout(None)  # expiry cancels the collection, which stops the command
    try:
        async with enough:
            return await collect_output(
                running, stdout, stderr, out=out, err=err, limits=limits, on_output=stop_at_limit
            )
    except TimeoutError:
        if not enough.expired():
            raise
        return None
