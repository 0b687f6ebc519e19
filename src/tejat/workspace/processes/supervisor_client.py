"""Client of the supervisor: starts commands, waits for them, and stops them with all their descendants."""

import asyncio
import os
import signal
import socket
import threading
import time
from contextlib import suppress
from typing import TypeVar

from tejat.workspace.processes.process_tree import (
    TERMINATION_SECONDS,
    ProcessTermination,
    file_size_limit,
    list_processes,
    with_descendants,
)
from tejat.workspace.processes.spawn import ExitStatus, ProcessSpec, SupervisorDied, encode_request, spawn_supervisor
from tejat.workspace.processes.supervision import protocol
from tejat.workspace.threads.daemon import start_daemon

_Value = TypeVar("_Value")

_WAKE_SECONDS = 0.5
_START_SECONDS = 30.0
_STOP_SECONDS = TERMINATION_SECONDS + 0.5
_CLOSE_SECONDS = TERMINATION_SECONDS + 1.0


class ProcessSupervisor:
    """Starts commands, each in its own session, and makes sure that none outlives the agent.

    The supervisor program is started with the first command, and again if it was killed.
    """

    def __init__(self) -> None:
        self._control: socket.socket | None = None
        self._pid = 0
        self._running: set[RunningProcess] = set()
        self._limits: set[int] = set()
        self._leftovers_lock = threading.Lock()

    async def start(self, spec: ProcessSpec, *, stdout: int, stderr: int, stdin: int | None = None) -> "RunningProcess":
        """Start a command that writes to these descriptors and reads from `stdin`, or nothing.

        The caller keeps and closes the descriptors, and calls `RunningProcess.release` at the end. On cancellation the
        command is stopped first. Raises OSError, including SupervisorDied.
        """
        request = encode_request(spec)
        sent = 0
        ours, theirs = socket.socketpair()
        running = RunningProcess(self, ours, spec.arguments[0])
        self._running.add(running)
        try:
            sent = running.send(request)
            with theirs:
                given = (theirs.fileno(), stdout, stderr, spec.directory, stdin)
                await self._send_to_supervisor([descriptor for descriptor in given if descriptor is not None])
            while sent < len(request):
                await _wait_writable(ours)
                sent += running.send(request[sent:])
            await running.wait_started()
        except BaseException as error:
            try:
                if isinstance(error, asyncio.CancelledError) and sent == len(request):
                    await running.stop()
            finally:
                running.release()
            raise
        return running

    def prepare(self) -> None:
        """Start the supervisor program now, so that it is ready when the first command comes. Raises OSError."""
        if self._control is None:
            self._spawn()

    def close(self) -> None:
        """Terminate all commands and their descendants. Blocks for up to 5 seconds."""
        control, self._control = self._control, None
        if control is not None:
            self.wake()
            control.shutdown(socket.SHUT_WR)
            control.settimeout(_CLOSE_SECONDS)
            with suppress(OSError):
                control.recv(1)  # only EOF ever arrives
            self._reap(control)
            self.terminate_leftovers()
        for running in list(self._running):
            running.release()

    async def _send_to_supervisor(self, descriptors: list[int]) -> None:
        """Send descriptors to the supervisor, starting it if needed.

        Raises SupervisorDied if even a new supervisor cannot be reached, OSError if it cannot be started.
        """
        while True:
            is_new = self._control is None
            control = self._control or self._spawn()
            try:
                await _send_descriptors(control, descriptors)
            except OSError as error:
                if is_new:
                    raise SupervisorDied("The keeper of commands cannot be reached") from error
                self.kill_supervisor()
            else:
                return

    def _spawn(self) -> socket.socket:
        self._control, theirs = socket.socketpair()
        self._control.setblocking(False)
        with theirs:
            self._pid = spawn_supervisor(theirs.fileno(), protocol.SESSION)
        return self._control

    @property
    def pid(self) -> int:
        """The pid of the supervisor, 0 before it is started."""
        return self._pid

    def wake(self) -> None:
        """Continue the supervisor: a command of the same user may have stopped it."""
        if self._control is not None:
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGCONT)

    def kill_supervisor(self) -> None:
        """Drop a supervisor that has died or does not answer."""
        control, self._control = self._control, None
        if control is not None:
            self._reap(control)

    def _reap(self, control: socket.socket) -> None:
        control.close()
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)

    def register_limit(self, limit: int) -> None:
        """Remember the limit that identifies a command's processes, in case the supervisor is killed."""
        self._limits.add(limit)

    def unregister_limit(self, limit: int) -> None:
        """Forget the limit of a command with no processes left."""
        self._limits.discard(limit)

    def forget(self, running: "RunningProcess") -> None:
        self._running.discard(running)

    def terminate_leftovers(self) -> None:
        """Terminate what a killed supervisor left behind. Blocks for little more than two seconds at most."""
        with self._leftovers_lock:
            limits, self._limits = self._limits, set[int]()
            if not limits:
                return
            ending = ProcessTermination(lambda: _processes_with_limits(limits))
            while (pause := ending.step()) is not None:
                time.sleep(min(pause, 0.01))


class RunningProcess:
    """A started command. Its pid is also its process group and session id."""

    def __init__(self, owner: ProcessSupervisor, channel: socket.socket, program: str) -> None:
        channel.setblocking(False)
        self.pid = 0
        self._limit = 0
        self._program = program
        self._owner = owner
        self._channel: socket.socket | None = channel
        self._inbox = b""
        self._failure: SupervisorDied | None = None
        self._loop = asyncio.get_running_loop()
        self._started: asyncio.Future[None] = self._loop.create_future()
        self._ended: asyncio.Future[ExitStatus] = self._loop.create_future()
        self._terminated: asyncio.Future[None] = self._loop.create_future()
        self._survivors: asyncio.Future[tuple[int, ...]] = self._loop.create_future()
        self._loop.add_reader(channel.fileno(), self._on_readable)

    async def wait(self) -> ExitStatus:
        """Wait for the command to exit, not for background processes that it left. Raises SupervisorDied."""
        return await self._wait_for(self._ended)

    async def stop(self) -> None:
        """Terminate the command and all its descendants: SIGTERM, then SIGKILL after 200 ms.

        Returns when nothing is left, or after two seconds. Cancellation takes effect only then.
        """
        self._owner.wake()
        self.send(protocol.STOP)
        cancelled = await _wait_despite_cancellation(self._terminated, _STOP_SECONDS)
        if not self._terminated.done():
            # Losing the supervisor closes the channel, and leftovers are terminated from here.
            self._owner.kill_supervisor()
            cancelled = await _wait_despite_cancellation(self._terminated, _STOP_SECONDS) or cancelled
        if cancelled is not None:
            raise cancelled

    async def survivors(self) -> tuple[int, ...]:
        """Return its living descendants, at most a thousand. Raises SupervisorDied."""
        if self._failure is not None:
            raise self._failure
        if self._survivors.done():
            self._survivors = self._loop.create_future()
        self.send(protocol.LIST_SURVIVORS)
        return await self._wait_for(self._survivors)

    @property
    def exit(self) -> ExitStatus | None:
        """The exit status, None if it is not known yet."""
        is_known = self._ended.done() and not self._ended.cancelled() and self._ended.exception() is None
        return self._ended.result() if is_known else None

    def release(self) -> None:
        """Close the channel. A command that still runs is terminated; leftovers of an exited one live on."""
        self._close_channel()
        self._fail(SupervisorDied("The command was let go of"))
        self._owner.forget(self)

    async def wait_started(self) -> None:
        """Wait until the program runs. Raises OSError if it cannot start, SupervisorDied if there is no answer."""
        try:
            async with asyncio.timeout(_START_SECONDS):
                await self._wait_for(self._started)
        except TimeoutError as error:
            if self._started.done():  # after a standstill, the reply and the limit are noticed together
                return self._started.result()
            self._owner.kill_supervisor()
            raise SupervisorDied("The keeper of commands does not answer") from error

    async def _wait_for(self, future: "asyncio.Future[_Value]") -> _Value:
        """Wait for a reply that others may wait for too. Raises the error of the reply, and SupervisorDied."""
        while not future.done():
            _, unheard = await asyncio.wait((future,), timeout=_WAKE_SECONDS)
            if unheard:
                self._owner.wake()
        return future.result()

    def send(self, data: bytes) -> int:
        """Send what can be sent without blocking; return its length."""
        if self._channel is None:
            return 0
        try:
            return self._channel.send(data)
        except BlockingIOError:
            return 0
        except OSError:  # EOF is handled by the reader
            return len(data)

    def _on_readable(self) -> None:
        if self._channel is None:
            return
        try:
            data = self._channel.recv(1 << 16)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._on_supervisor_lost()
            return
        *lines, self._inbox = (self._inbox + data).split(b"\n")
        for line in lines:
            word, *numbers = line.decode("ascii").split()
            self._handle_reply(word, [int(number) for number in numbers])

    def _handle_reply(self, word: str, numbers: list[int]) -> None:
        match word:
            case protocol.STARTED:
                self.pid, self._limit, _ = numbers
                self._owner.register_limit(self._limit)
                _settle(self._started, None)
            case protocol.FAILED:
                number, at_fault = numbers
                path = self._program if at_fault == protocol.PROGRAM else None
                _settle(self._started, OSError(number, os.strerror(number), path))
            case protocol.ENDED:
                self._note_survivors(tuple(numbers[1:]))
                code = os.waitstatus_to_exitcode(numbers[0])
                exit_code, number = (code, None) if code >= 0 else (None, -code)
                _settle(self._ended, ExitStatus(exit_code, number, tuple(numbers[1:])))
            case protocol.SURVIVORS:
                self._note_survivors(tuple(numbers))
                _settle(self._survivors, tuple(numbers))
            case _:
                _settle(self._terminated, None)

    def _note_survivors(self, survivors: tuple[int, ...]) -> None:
        if not survivors:
            self._owner.unregister_limit(self._limit)

    def _on_supervisor_lost(self) -> None:
        """Terminate what the supervisor left behind, then fail all waiters."""
        self._close_channel()
        if self.pid == 0:
            self._fail(SupervisorDied("The keeper of commands ended before the command began"))
            return
        cleanup = asyncio.wrap_future(start_daemon(self._owner.terminate_leftovers), loop=self._loop)
        cleanup.add_done_callback(lambda _: self._fail(SupervisorDied("The keeper of commands was killed")))

    def _close_channel(self) -> None:
        channel, self._channel = self._channel, None
        if channel is None:
            return
        if not self._loop.is_closed():
            self._loop.remove_reader(channel.fileno())
        channel.close()

    def _fail(self, failure: SupervisorDied) -> None:
        self._failure = self._failure or failure
        if not self._loop.is_closed():
            _settle(self._started, self._failure)
            _settle(self._ended, self._failure)
            _settle(self._terminated, self._failure)
            _settle(self._survivors, self._failure)


def _settle(future: "asyncio.Future[_Value]", outcome: "_Value | OSError") -> None:
    if future.done():
        return
    if not isinstance(outcome, OSError):
        future.set_result(outcome)
        return
    future.set_exception(outcome)
    future.exception()  # marks the exception as retrieved


async def _wait_despite_cancellation(future: "asyncio.Future[None]", seconds: float) -> asyncio.CancelledError | None:
    """Wait for the future despite cancellations. Return the last cancellation, to be raised by the caller."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    cancelled = None
    while not future.done() and (left := deadline - loop.time()) > 0:
        try:
            await asyncio.wait((future,), timeout=left)
        except asyncio.CancelledError as error:
            cancelled = error
    return cancelled


async def _send_descriptors(control: socket.socket, descriptors: list[int]) -> None:
    while True:
        try:
            socket.send_fds(control, [bytes([len(descriptors)])], descriptors)
        except BlockingIOError:
            await _wait_writable(control)
        else:
            return


async def _wait_writable(sock: socket.socket) -> None:
    """Wait until data can be sent. The wait uses a duplicate: a loop allows one writer per descriptor."""
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()
    with socket.socket(fileno=os.dup(sock.fileno())) as copy:
        loop.add_writer(copy, _settle, ready, None)
        try:
            await ready
        finally:
            loop.remove_writer(copy)


def _processes_with_limits(limits: set[int]) -> set[int]:
    """Return the living processes with one of these limits, and their descendants."""
    table = list_processes()
    carriers = [pid for pid in table if file_size_limit(pid) in limits]
    return {pid for pid in with_descendants(carriers, table) if table[pid].is_alive}
