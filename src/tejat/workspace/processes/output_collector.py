"""Collection of a command's output until it exits, exceeds a time limit, or is cancelled."""

import asyncio
import fcntl
import os
import time
from collections.abc import Callable
from contextlib import suppress

from tejat.core.frozen import Frozen, replace
from tejat.core.text.str_enum import StrEnum
from tejat.workspace.processes.bounded_buffer import BoundedBuffer
from tejat.workspace.processes.spawn import ExitStatus
from tejat.workspace.processes.supervisor_client import RunningProcess

_PIPE_SIZE = 1 << 20
_FIRST_READ = 1 << 15  # most commands print little, and zeroing a megabyte takes longer than reading that
_DRAIN_SECONDS = 0.3
_QUIET_SECONDS = 0.1
# A process that closed the pipe is usually about to exit, as the first process of a sandbox right after the command.
_EXIT_PAUSES = (0.001, 0.002, 0.004, 0.008, 0.015)
_POLL_SECONDS = 0.001
# A command that floods its pipe is read less often, so that more comes at once: waking up for every few kilobytes would
# take processor time from the command, and slow it down. The pause is in place, because a timer of the event loop takes
# a millisecond or two, in which the pipe fills up and the command waits.
_FLOOD_BYTES = 1 << 20
_SMALL_CHUNK = 1 << 16
_PAUSE_SECONDS = 0.0003


class CommandEndReason(StrEnum):
    """Why a command ended."""

    EXITED = "exited"
    IDLE = "idle"
    TOTAL = "total"


class TimeLimits(Frozen):
    """Limits in seconds, None for none. `idle` restarts with every output."""

    idle: float | None
    total: float | None


class CommandOutcome(Frozen):
    """How a command ended. `exit` is None only if it could not be stopped."""

    exit: ExitStatus | None
    reason: CommandEndReason
    seconds: float


def open_pipe() -> tuple[int, int]:
    """Return a large pipe for `collect_output`: the non-blocking read end and the write end."""
    readable, writable = os.pipe()
    os.set_blocking(readable, False)
    with suppress(OSError, AttributeError):  # only on Linux, with a limit per user
        fcntl.fcntl(readable, fcntl.F_SETPIPE_SZ, _PIPE_SIZE)
    return readable, writable


async def collect_output(
    running: RunningProcess,
    stdout: int,
    stderr: int,
    *,
    out: BoundedBuffer,
    err: BoundedBuffer,
    limits: TimeLimits,
    on_output: Callable[[memoryview], None] | None = None,
    stop_survivors: bool = False,
) -> CommandOutcome:
    """Read both pipes until the command's shell exits, then release the process.

    Leftover background processes may hold the pipes open and are not waited for. At a time limit, and on cancellation,
    the command is stopped with all its descendants. With `stop_survivors`, leftovers are stopped in any case. The
    caller keeps the descriptors. What `on_output` gets is valid only until it returns. Raises SupervisorDied.
    """
    loop = asyncio.get_running_loop()
    reader = _PipeReader({stdout: out, stderr: err}, on_output)
    began = loop.time()
    try:
        why = await _wait_for_end(running, reader, limits)
        exited = running.exit
        if stop_survivors and exited is not None and exited.survivors:
            await running.stop()
        await reader.drain(has_writers=exited is None or bool(exited.survivors))
        if exited is not None and exited.survivors:
            exited = replace(exited, survivors=await _find_lasting_survivors(running))
        return CommandOutcome(exited, why, loop.time() - began)
    except asyncio.CancelledError:
        await running.stop()
        reader.read_available()
        raise
    finally:
        reader.close()
        running.release()


async def _find_lasting_survivors(running: RunningProcess) -> tuple[int, ...]:
    """Return the processes that do not exit within a moment."""
    for pause in _EXIT_PAUSES:
        if not await running.survivors():
            return ()
        await asyncio.sleep(pause)
    return await running.survivors()


async def _wait_for_end(running: RunningProcess, reader: "_PipeReader", limits: TimeLimits) -> CommandEndReason:
    loop = asyncio.get_running_loop()
    last = None if limits.total is None else loop.time() + limits.total
    while True:
        silent = None if limits.idle is None else reader.last_output + limits.idle
        try:
            async with asyncio.timeout_at(min((when for when in (last, silent) if when is not None), default=None)):
                await running.wait()
            return CommandEndReason.EXITED
        except TimeoutError:
            if running.exit is not None:  # after a standstill, the exit and the limit are noticed together
                return CommandEndReason.EXITED
            now = loop.time()
            is_last = last is not None and now >= last
            # Output may have come in the meantime.
            if not is_last and (limits.idle is None or now < reader.last_output + limits.idle):
                continue
        await running.stop()
        return CommandEndReason.TOTAL if is_last else CommandEndReason.IDLE


class _PipeReader:
    """Reader of the pipes that takes a bounded chunk at a time, so that other tasks get their turn."""

    def __init__(self, sinks: dict[int, BoundedBuffer], on_output: Callable[[memoryview], None] | None) -> None:
        self._loop = asyncio.get_running_loop()
        self._open = dict(sinks)
        self._on_output = on_output
        self._buffer = bytearray(_FIRST_READ)
        self.last_output = self._loop.time()
        for descriptor in sinks:
            self._loop.add_reader(descriptor, self._read, descriptor)

    def _read(self, descriptor: int) -> bool:
        """Read one chunk if available; return whether there was one."""
        try:
            size = os.readv(descriptor, (self._buffer,))
        except BlockingIOError:
            return False
        if size == 0:
            del self._open[descriptor]
            self._loop.remove_reader(descriptor)
            return False
        self.last_output = self._loop.time()
        view = memoryview(self._buffer)[:size]
        sink = self._open[descriptor]
        sink.add(view)
        if self._on_output is not None:
            self._on_output(view)
        if size == len(self._buffer) < _PIPE_SIZE:
            self._buffer = bytearray(_PIPE_SIZE)
        if size < _SMALL_CHUNK and sink.total > _FLOOD_BYTES:
            time.sleep(_PAUSE_SECONDS)
        return True

    def read_available(self) -> bool:
        """Read one chunk from each pipe; return whether there was any."""
        return sum(self._read(descriptor) for descriptor in list(self._open)) > 0

    async def drain(self, *, has_writers: bool) -> None:
        """Read all that is left in the pipes. If they still have writers, wait briefly for their last output."""
        began = self._loop.time()
        while self._open:
            if self.read_available():
                pause = 0.0
            elif has_writers and self._loop.time() <= max(began, self.last_output) + _QUIET_SECONDS:
                pause = _POLL_SECONDS
            else:
                return
            if has_writers and self._loop.time() > began + _DRAIN_SECONDS:  # they may never stop writing
                return
            await asyncio.sleep(pause)

    def close(self) -> None:
        for descriptor in self._open:
            self._loop.remove_reader(descriptor)
        self._open.clear()
