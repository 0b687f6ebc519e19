"""The agent's side of its keeper: commands are started, waited for, and ended with all that descends from them."""

import asyncio
import os
import signal
import socket
import threading
import time
from contextlib import suppress
from typing import TypeVar

from tejat.workspace.processes import keeper
from tejat.workspace.processes.launching import Exit, KeeperDied, Launch, request_for, spawn_keeper
from tejat.workspace.processes.process_tree import (
    ENDING_SECONDS,
    Ending,
    file_size_limit,
    processes,
    with_descendants,
)

_Value = TypeVar("_Value")

_WAKING_SECONDS = 0.5
_STARTING_SECONDS = 30.0
_STOPPING_SECONDS = ENDING_SECONDS + 0.5
_CLOSING_SECONDS = ENDING_SECONDS + 1.0


class Keeper:
    """Starts commands, each in a session of its own, and sees to it that none outlives the agent.

    Its program is started with the first command, and again should somebody have killed it.
    """

    def __init__(self) -> None:
        self._control: socket.socket | None = None
        self._pid = 0
        self._kept: set[Running] = set()
        self._limits: set[int] = set()
        self._ending_leftovers = threading.Lock()

    async def start(self, launch: Launch, *, stdout: int, stderr: int, stdin: int | None = None) -> "Running":
        """Start a command that writes to these descriptors and reads from `stdin`, or nothing.

        The descriptors stay the caller's, who closes them. Call `Running.release` in the end. Raises OSError as the
        system told it, KeeperDied among them. When the starting is cancelled, the command is stopped first.
        """
        request = request_for(launch)
        sent = 0
        ours, theirs = socket.socketpair()
        running = Running(self, ours, launch.arguments[0])
        self._kept.add(running)
        try:
            sent = running.send(request)
            with theirs:
                given = (theirs.fileno(), stdout, stderr, launch.directory, stdin)
                await self._hand_over([descriptor for descriptor in given if descriptor is not None])
            while sent < len(request):
                await _writable(ours)
                sent += running.send(request[sent:])
            await running.has_begun()
        except BaseException as error:
            try:
                if isinstance(error, asyncio.CancelledError) and sent == len(request):
                    await running.stop()
            finally:
                running.release()
            raise
        return running

    def close(self) -> None:
        """End every command and all that descends from it. Takes as long as that takes, 5 seconds at most."""
        control, self._control = self._control, None
        if control is not None:
            self.wake()
            control.shutdown(socket.SHUT_WR)
            control.settimeout(_CLOSING_SECONDS)
            with suppress(OSError):
                control.recv(1)  # nothing ever comes but the end
            self._bury(control)
            self.end_leftovers()
        for running in list(self._kept):
            running.release()

    async def _hand_over(self, descriptors: list[int]) -> None:
        """Raises KeeperDied when even a new program cannot be reached, OSError when it cannot be started."""
        while True:
            is_new = self._control is None
            control = self._control or self._begin()
            try:
                await _send_descriptors(control, descriptors)
            except OSError as error:
                if is_new:
                    raise KeeperDied("The keeper of commands cannot be reached") from error
                self.give_up_program()
            else:
                return

    def _begin(self) -> socket.socket:
        self._control, theirs = socket.socketpair()
        self._control.setblocking(False)
        with theirs:
            self._pid = spawn_keeper(theirs.fileno(), keeper.SESSION)
        return self._control

    def wake(self) -> None:
        """A command may have stopped its keeper, which has the same user."""
        if self._control is not None:
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGCONT)

    def give_up_program(self) -> None:
        """The program has died, or does not answer."""
        control, self._control = self._control, None
        if control is not None:
            self._bury(control)

    def _bury(self, control: socket.socket) -> None:
        control.close()
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)

    def note_start(self, limit: int) -> None:
        """Remember by which limit the processes of a command are known, for the day the program is killed."""
        self._limits.add(limit)

    def note_end(self, limit: int) -> None:
        """Nothing is left of a command."""
        self._limits.discard(limit)

    def note_release(self, running: "Running") -> None:
        self._kept.discard(running)

    def end_leftovers(self) -> None:
        """End what the program left behind when it was killed. Blocks, for little more than two seconds at most."""
        with self._ending_leftovers:
            limits, self._limits = self._limits, set[int]()
            if not limits:
                return
            ending = Ending(lambda: _bound_by(limits))
            while (pause := ending.step()) is not None:
                time.sleep(min(pause, 0.01))


class Running:
    """A command that was started. Its pid is the number of its process group and of its session as well."""

    def __init__(self, owner: Keeper, channel: socket.socket, program: str) -> None:
        channel.setblocking(False)
        self.pid = 0
        self._limit = 0
        self._program = program
        self._owner = owner
        self._channel: socket.socket | None = channel
        self._inbox = b""
        self._failure: KeeperDied | None = None
        self._loop = asyncio.get_running_loop()
        self._begun: asyncio.Future[None] = self._loop.create_future()
        self._ended: asyncio.Future[Exit] = self._loop.create_future()
        self._gone: asyncio.Future[None] = self._loop.create_future()
        self._left: asyncio.Future[tuple[int, ...]] = self._loop.create_future()
        self._loop.add_reader(channel.fileno(), self._take)

    async def wait(self) -> Exit:
        """Wait for the end of the command, not of what it left behind. May be asked again. Raises KeeperDied."""
        return await self._hear_of(self._ended)

    async def stop(self) -> None:
        """End the command and everything that descends from it: asked first, killed 200 ms later.

        Returns when nothing is left, or when two seconds did not suffice. Only then a cancellation is heeded.
        """
        self._owner.wake()
        self.send(keeper.STOP)
        cancelled = await _outlast(self._gone, _STOPPING_SECONDS)
        if not self._gone.done():  # without its program the channel ends, and what is left is ended from here
            self._owner.give_up_program()
            cancelled = await _outlast(self._gone, _STOPPING_SECONDS) or cancelled
        if cancelled is not None:
            raise cancelled

    async def survivors(self) -> tuple[int, ...]:
        """Those of its descendants that are alive now, a thousand at most. Raises KeeperDied."""
        if self._failure is not None:
            raise self._failure
        if self._left.done():
            self._left = self._loop.create_future()
        self.send(keeper.WHO_IS_LEFT)
        return await self._hear_of(self._left)

    @property
    def exit(self) -> Exit | None:
        """How it ended, if that is known by now."""
        is_known = self._ended.done() and not self._ended.cancelled() and self._ended.exception() is None
        return self._ended.result() if is_known else None

    def release(self) -> None:
        """Nothing more will be asked. A command that still runs is ended; what an ended one left behind lives on."""
        self._close_channel()
        self._fail(KeeperDied("The command was let go of"))
        self._owner.note_release(self)

    async def has_begun(self) -> None:
        """Wait until the program runs. Raises OSError as the system told it, KeeperDied when nobody answers."""
        try:
            async with asyncio.timeout(_STARTING_SECONDS):
                await self._hear_of(self._begun)
        except TimeoutError as error:
            self._owner.give_up_program()
            raise KeeperDied("The keeper of commands does not answer") from error

    async def _hear_of(self, future: "asyncio.Future[_Value]") -> _Value:
        """Wait for an answer, which is there for others too. Raises what was answered, and KeeperDied."""
        while not future.done():
            _, unheard = await asyncio.wait((future,), timeout=_WAKING_SECONDS)
            if unheard:
                self._owner.wake()
        return future.result()

    def send(self, data: bytes) -> int:
        """Send what can be sent at once; returns how much that was."""
        if self._channel is None:
            return 0
        try:
            return self._channel.send(data)
        except BlockingIOError:
            return 0
        except OSError:  # the end of the channel is noticed where it is read
            return len(data)

    def _take(self) -> None:
        if self._channel is None:
            return
        try:
            data = self._channel.recv(1 << 16)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._lose_keeper()
            return
        *lines, self._inbox = (self._inbox + data).split(b"\n")
        for line in lines:
            word, *numbers = line.decode("ascii").split()
            self._hear(word, [int(number) for number in numbers])

    def _hear(self, word: str, numbers: list[int]) -> None:
        match word:
            case keeper.STARTED:
                self.pid, self._limit, _ = numbers
                self._owner.note_start(self._limit)
                _settle(self._begun, None)
            case keeper.FAILED:
                number, at_fault = numbers
                path = self._program if at_fault == keeper.PROGRAM else None
                _settle(self._begun, OSError(number, os.strerror(number), path))
            case keeper.ENDED:
                self._note_survivors(tuple(numbers[1:]))
                code = os.waitstatus_to_exitcode(numbers[0])
                _settle(self._ended, Exit(code if code >= 0 else None, -code if code < 0 else None, tuple(numbers[1:])))
            case keeper.LEFT:
                self._note_survivors(tuple(numbers))
                _settle(self._left, tuple(numbers))
            case _:
                _settle(self._gone, None)

    def _note_survivors(self, survivors: tuple[int, ...]) -> None:
        if not survivors:
            self._owner.note_end(self._limit)

    def _lose_keeper(self) -> None:
        """Whoever waits is told once what the keeper left behind has been ended."""
        self._close_channel()
        if self.pid == 0:
            self._fail(KeeperDied("The keeper of commands ended before the command began"))
            return
        clearing = self._loop.run_in_executor(None, self._owner.end_leftovers)
        clearing.add_done_callback(lambda _: self._fail(KeeperDied("The keeper of commands was killed")))

    def _close_channel(self) -> None:
        channel, self._channel = self._channel, None
        if channel is None:
            return
        if not self._loop.is_closed():
            self._loop.remove_reader(channel.fileno())
        channel.close()

    def _fail(self, failure: KeeperDied) -> None:
        self._failure = self._failure or failure
        if not self._loop.is_closed():
            _settle(self._begun, self._failure)
            _settle(self._ended, self._failure)
            _settle(self._gone, self._failure)
            _settle(self._left, self._failure)


def _settle(future: "asyncio.Future[_Value]", outcome: "_Value | OSError") -> None:
    if future.done():
        return
    if not isinstance(outcome, OSError):
        future.set_result(outcome)
        return
    future.set_exception(outcome)
    future.exception()  # nobody need be waiting


async def _outlast(future: "asyncio.Future[None]", seconds: float) -> asyncio.CancelledError | None:
    """Wait for the future, however often the waiting is cancelled. Returns the cancellation still to be heeded."""
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
            await _writable(control)
        else:
            return


async def _writable(sock: socket.socket) -> None:
    """Wait until something can be sent. Only one may wait for a socket at a time, so the wait is on a copy of it."""
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()
    with socket.socket(fileno=os.dup(sock.fileno())) as copy:
        loop.add_writer(copy, _settle, ready, None)
        try:
            await ready
        finally:
            loop.remove_writer(copy)


def _bound_by(limits: set[int]) -> set[int]:
    """The living processes that carry one of these limits, and what descends from them."""
    table = processes()
    carriers = [pid for pid in table if file_size_limit(pid) in limits]
    return {pid for pid in with_descendants(carriers, table) if table[pid].is_alive}
