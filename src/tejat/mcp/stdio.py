"""A server that is a program of ours: requests go to its standard input, messages come from its standard output."""

import asyncio
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import TypeAlias

from tejat.core.words import joined, phrase
from tejat.mcp.failures import McpFailure, McpProblem
from tejat.mcp.framing import Framer, Received, Runaway, Unreadable, Unsendable, encode_message
from tejat.mcp.last_words import LastWords, shown_line
from tejat.mcp.outgoing import Outgoing
from tejat.mcp.protocol import Message, RequestId
from tejat.mcp.transport import Lose, Receive
from tejat.workspace.processes.keeping import Keeper, Running
from tejat.workspace.processes.launching import KeeperDied, Launch
from tejat.workspace.sandbox.plan import Wrapped

Wrap: TypeAlias = Callable[[Sequence[str], str], Wrapped]
"""From arguments and the real path of the directory to what is really started in a sandbox.

Raises OSError when the sandbox cannot be prepared.
"""

_SENDING_SECONDS = 30.0
_LEAVING_SECONDS = 0.3
"""A server whose input is closed leaves by itself within so long, or is ended."""
_CLOSING_SECONDS = 2.0
_PIECE = 1 << 16
_MOST_PIECES_LEFT = 16
"""A pipe holds no more when its program has ended; who still writes is another."""


class StdioTransport:
    """Starts a program and speaks with it, as `Transport` tells. A transport is opened once."""

    def __init__(
        self,
        keeper: Keeper,
        program: str,
        arguments: tuple[str, ...] = (),
        *,
        directory: str,
        environment: Mapping[str, str],
        wrap: Wrap | None = None,
        sending_seconds: float = _SENDING_SECONDS,
    ) -> None:
        """`program` is an absolute path. `environment` is all that it sees."""
        self._keeper = keeper
        self._arguments = (program, *arguments)
        self._directory = directory
        self._environment = environment
        self._wrap = wrap
        self._sending_seconds = sending_seconds
        self._life: asyncio.Task[None] | None = None
        self._server: _Server | None = None
        self._is_closing = False

    async def open(self, receive: Receive, lose: Lose) -> None:
        if self._is_closing or self._life is not None:
            raise _closed()
        opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._life = asyncio.create_task(self._live(receive, lose, opened))
        try:
            # A task that is cancelled before its first step never takes one.
            await asyncio.wait((opened, self._life), return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            await self.close()
            raise
        if self._is_closing or not opened.done():
            raise _closed()
        opened.result()

    async def send(self, message: Message) -> None:
        try:
            line = encode_message(message)
        except Unsendable as error:
            problem = McpProblem.TOO_LARGE if error.is_too_long else McpProblem.MALFORMED
            raise McpFailure(phrase("This cannot be sent to the server: {why}.", why=error), problem) from error
        if self._server is None or self._is_closing:
            raise _closed()
        await self._server.send(line, seconds=self._sending_seconds)

    def agree(self, revision: str) -> None:
        """Nothing depends on it here."""

    def forget(self, request_id: RequestId) -> None:
        """Nothing is kept for a request here."""

    async def close(self) -> None:
        """As `Transport` tells; when the task is cancelled meanwhile, that is heeded once all is done."""
        is_first, self._is_closing = not self._is_closing, True
        if self._life is None:
            return
        if self._server is not None:
            self._server.fall_silent()
        if is_first:
            self._life.cancel()
        await _outlast(self._life, _CLOSING_SECONDS)

    @property
    def last_words(self) -> tuple[str, ...]:
        return () if self._server is None else self._server.last_words

    async def _live(self, receive: Receive, lose: Lose, opened: "asyncio.Future[None]") -> None:
        """From the start of the program to the end of the last process that descends from it."""
        with ExitStack() as ours:
            try:
                self._server = await self._start(ours, receive, lose)
            except BaseException as error:
                opened.set_exception(error if isinstance(error, McpFailure) else _closed())
                opened.exception()  # nobody need be waiting
                if isinstance(error, McpFailure):
                    return
                raise
            opened.set_result(None)
            await self._server.serve()

    async def _start(self, ours: ExitStack, receive: Receive, lose: Lose) -> "_Server":
        """Start the program. What is opened for us is closed by `ours`. Raises McpFailure."""
        with ExitStack() as theirs:
            try:
                directory = os.open(self._directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            except (OSError, ValueError) as error:
                raise _not_started(
                    phrase("its directory cannot be opened"), error, phrase("Correct its `cwd`.")
                ) from error
            theirs.callback(os.close, directory)
            arguments = self._wrapped(ours)
            try:
                stdin, outgoing = _input_pipe(ours, theirs)
                stdout_end, stdout = _output_pipe(ours, theirs)
                stderr_end, stderr = _output_pipe(ours, theirs)
                launch = Launch(arguments, directory, self._environment)
                running = await self._keeper.start(launch, stdin=stdin, stdout=stdout, stderr=stderr)
            except OSError as error:
                raise _not_started(
                    phrase("its program cannot be started"), error, phrase("Check its `command`.")
                ) from error
        return _Server(running, outgoing, receive, lose, stdout=stdout_end, stderr=stderr_end)

    def _wrapped(self, ours: ExitStack) -> tuple[str, ...]:
        """What is really started. What the sandbox needs is cleaned up by `ours`. Raises McpFailure."""
        if self._wrap is None:
            return self._arguments
        try:
            wrapped = self._wrap(self._arguments, os.path.realpath(self._directory))
        except OSError as error:
            raise _not_started(phrase("the sandbox for it cannot be prepared"), error) from error
        ours.callback(wrapped.clean_up)
        return wrapped.arguments


class _Server:
    """A program that runs, with our ends of its pipes, which never block."""

    def __init__(
        self, running: Running, outgoing: Outgoing, receive: Receive, lose: Lose, *, stdout: int, stderr: int
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._running = running
        self._outgoing = outgoing
        self._receive = receive
        self._lose = lose
        self._stdout = stdout
        self._stderr = stderr
        self._open = {stdout, stderr}
        self._framer = Framer()
        self._words = LastWords()
        self._no_messages = 0
        self._first_of_them = ""
        self._is_silent = False
        self._broken: asyncio.Future[McpFailure | None] = self._loop.create_future()
        self._over: asyncio.Future[McpFailure] = self._loop.create_future()
        self._loop.add_reader(stdout, self._read_messages)
        self._loop.add_reader(stderr, self._read_words)

    async def serve(self) -> None:
        """Take messages until the program ends, or is of no use any more, and end whatever is left of it."""
        try:
            failure = await self._until_over()
            self._read_what_is_left()
            self._over.set_result(failure)
            if not self._is_silent:
                self._lose(failure, None)
        finally:
            await self._end()

    async def send(self, line: bytes, *, seconds: float) -> None:
        try:
            await self._outgoing.write(line, seconds=seconds)
        except BrokenPipeError as error:
            self._break(None)
            await asyncio.wait((self._over,))
            raise self._over.result() from error
        except TimeoutError as error:
            failure = McpFailure(phrase("The server does not take what is sent to it."), McpProblem.TIMED_OUT)
            if self._outgoing.is_midway:  # nothing else can be sent any more
                self._break(failure)
            raise failure from error

    def fall_silent(self) -> None:
        """From now on nobody is told anything."""
        self._is_silent = True

    @property
    def last_words(self) -> tuple[str, ...]:
        words = self._words.lines
        match self._no_messages:
            case 0:
                return words
            case 1:
                return phrase("(A line on its standard output is no message: {line})", line=self._first_of_them), *words
            case count:
                return phrase(
                    "({count:,} lines on its standard output are no messages, first: {line})",
                    count=count,
                    line=self._first_of_them,
                ), *words

    async def _until_over(self) -> McpFailure:
        exited = self._loop.create_task(_exited(self._running))
        try:
            await asyncio.wait((exited, self._broken), return_when=asyncio.FIRST_COMPLETED)
            failure = self._broken.result() if self._broken.done() else None
            if failure is None:  # a program that closes its end is mostly about to end
                await asyncio.wait((exited,), timeout=_LEAVING_SECONDS)
            return failure or _how_it_ended(self._running, is_over=exited.done())
        finally:
            exited.cancel()

    def _break(self, failure: McpFailure | None) -> None:
        """The connection is of no use any more; None: because the program closed its end."""
        if not self._broken.done():
            self._broken.set_result(failure)

    def _read_messages(self) -> bool:
        """Take one piece, if there is one. Returns whether there was."""
        data = self._read(self._stdout)
        if data == b"":
            self._break(None)
        for received in self._framer.feed(data or b""):
            self._take(received)
        return bool(data)

    def _read_words(self) -> bool:
        data = self._read(self._stderr)
        self._words.add(data or b"")
        return bool(data)

    def _read(self, descriptor: int) -> bytes | None:
        """What there is, b"" at the end, None if there is nothing now."""
        if descriptor not in self._open:
            return None
        try:
            data = os.read(descriptor, _PIECE)
        except BlockingIOError:
            return None
        if not data:
            self._let_go_of(descriptor)
        return data

    def _let_go_of(self, descriptor: int) -> None:
        self._open.discard(descriptor)
        self._loop.remove_reader(descriptor)

    def _read_what_is_left(self) -> None:
        for read in (self._read_messages, self._read_words):
            for _ in range(_MOST_PIECES_LEFT):
                if not read():
                    break
        for received in self._framer.end():
            self._take(received)

    def _take(self, received: Received) -> None:
        if self._is_silent or self._over.done():
            return
        match received:
            case Runaway():
                self._break(McpFailure(phrase("The server sent a line without end."), McpProblem.TOO_LARGE))
            case Unreadable(answer_to=request_id) if request_id is not None:
                problem = McpProblem.TOO_LARGE if received.is_too_long else McpProblem.MALFORMED
                self._lose(
                    McpFailure(phrase("The server's answer cannot be read: {why}.", why=received.reason), problem),
                    request_id,
                )
            case Unreadable():
                self._no_messages += 1
                self._first_of_them = self._first_of_them or shown_line(received.start)
            case _:
                self._receive(received)

    async def _end(self) -> None:
        """Let the program leave, end it if it does not, and whatever it left behind."""
        if not self._over.done():
            self._over.set_result(_closed())
        self._outgoing.close()
        try:
            async with asyncio.timeout(_LEAVING_SECONDS):
                await _exited(self._running)
        except TimeoutError:
            pass
        finally:
            try:
                await self._running.stop()
            finally:
                self._running.release()
                for descriptor in list(self._open):
                    self._let_go_of(descriptor)


async def _exited(running: Running) -> None:
    """Wait until the program has ended, or nobody knows about it any more."""
    with suppress(KeeperDied):
        await running.wait()


async def _outlast(task: "asyncio.Task[None]", seconds: float) -> None:
    """Wait for the task, however often the waiting is cancelled; only then that is heeded."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    cancelled = None
    while not task.done() and (left := deadline - loop.time()) > 0:
        try:
            await asyncio.wait((task,), timeout=left)
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled


def _input_pipe(ours: ExitStack, theirs: ExitStack) -> tuple[int, Outgoing]:
    readable, writable = os.pipe()
    theirs.callback(os.close, readable)
    os.set_blocking(writable, False)
    outgoing = Outgoing(writable)
    ours.callback(outgoing.close)
    return readable, outgoing


def _output_pipe(ours: ExitStack, theirs: ExitStack) -> tuple[int, int]:
    readable, writable = os.pipe()
    theirs.callback(os.close, writable)
    os.set_blocking(readable, False)
    ours.callback(os.close, readable)
    return readable, writable


def _how_it_ended(running: Running, *, is_over: bool) -> McpFailure:
    if running.exit is None:
        told = (
            phrase("The server and the process that watched over it were killed.")
            if is_over
            else phrase("The server hung up.")
        )
    elif running.exit.signal is not None:
        told = phrase("The server was ended by signal {signal}.", signal=_name_of(running.exit.signal))
    else:
        told = phrase("The server ended with exit code {code}.", code=running.exit.code)
    return McpFailure(told, McpProblem.CLOSED)


def _name_of(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # signals for real time have no names
        return str(number)


def _not_started(what: str, error: OSError | ValueError, next_step: str = "") -> McpFailure:
    reason = error.strerror or str(error) if isinstance(error, OSError) else phrase("there is a NUL character in it")
    told = phrase("The server was not started: {what} ({reason}).", what=what, reason=reason)
    return McpFailure(joined(" ", (told, next_step)) if next_step else told, McpProblem.START)


def _closed() -> McpFailure:
    return McpFailure(phrase("The connection to the server was closed."), McpProblem.CLOSED)
