"""The stdio transport: a server that runs as a child process."""

import asyncio
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import TypeAlias

from tejat.core.i18n import join_lazy, lazy
from tejat.mcp.errors import McpFailure, McpProblem
from tejat.mcp.protocol import JsonRpcMessage, RequestId
from tejat.mcp.transports.base import FailureHandler, MessageHandler
from tejat.mcp.transports.ndjson import (
    DecodedLine,
    EndlessLine,
    InvalidLine,
    NdjsonDecoder,
    UnencodableMessage,
    encode_message,
)
from tejat.mcp.transports.pipe_writer import PipeWriter
from tejat.mcp.transports.stderr_tail import StderrTail, printable_line
from tejat.mcp.transports.uncancelled import wait_uncancelled
from tejat.workspace.processes.spawn import ProcessSpec, SupervisorDied
from tejat.workspace.processes.supervisor_client import ProcessSupervisor, RunningProcess
from tejat.workspace.sandbox.types import SandboxedCommand

SandboxWrapper: TypeAlias = Callable[[Sequence[str], str], SandboxedCommand]
"""Maps arguments and the real path of the directory to the command to run in a sandbox.

Raises OSError when the sandbox cannot be prepared.
"""

_SEND_SECONDS = 30.0
_EXIT_SECONDS = 0.3
"""Time for a server to exit by itself after its input was closed."""
_EXIT_REPORT_SECONDS = 2.0
"""Time until the exit status is known after a server has closed its output. A busy machine needs long."""
_CLOSE_SECONDS = 2.0
_CHUNK_BYTES = 1 << 16
_MAX_REMAINING_CHUNKS = 16
"""A pipe holds no more when its program has ended; more comes from another process."""


class StdioTransport:
    """Starts a program and communicates with it. Opened once.

    `program` is an absolute path. `environment` is all that it sees.
    """

    def __init__(
        self,
        supervisor: ProcessSupervisor,
        program: str,
        arguments: tuple[str, ...] = (),
        *,
        directory: str,
        environment: Mapping[str, str],
        wrap: SandboxWrapper | None = None,
        send_seconds: float = _SEND_SECONDS,
    ) -> None:
        """`program` is an absolute path. `environment` is complete."""
        self._supervisor = supervisor
        self._arguments = (program, *arguments)
        self._directory = directory
        self._environment = environment
        self._wrap = wrap
        self._send_seconds = send_seconds
        self._task: asyncio.Task[None] | None = None
        self._server: _ServerProcess | None = None
        self._is_closing = False

    async def open(self, on_message: MessageHandler, on_failure: FailureHandler) -> None:
        if self._is_closing or self._task is not None:
            raise _closed_failure()
        opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._run(on_message, on_failure, opened))
        try:
            # A task that is cancelled before its first step never runs.
            await asyncio.wait((opened, self._task), return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            await self.close()
            raise
        if self._is_closing or not opened.done():
            raise _closed_failure()
        opened.result()

    async def send(self, message: JsonRpcMessage) -> None:
        try:
            line = encode_message(message)
        except UnencodableMessage as error:
            problem = McpProblem.TOO_LARGE if error.is_too_long else McpProblem.MALFORMED
            raise McpFailure(lazy("Cannot send this to the server: {why}.", why=error), problem) from error
        if self._server is None or self._is_closing:
            raise _closed_failure()
        await self._server.send(line, seconds=self._send_seconds)

    def set_revision(self, revision: str) -> None:
        """Irrelevant for this transport."""

    def forget_request(self, request_id: RequestId) -> None:
        """Nothing is kept for a request."""

    async def close(self) -> None:
        """Close the connection. If the task is cancelled meanwhile, CancelledError is raised at the end."""
        is_first, self._is_closing = not self._is_closing, True
        if self._task is None:
            return
        if self._server is not None:
            self._server.mute()
        if is_first:
            self._task.cancel()
        await wait_uncancelled(self._task, _CLOSE_SECONDS)

    @property
    def stderr_tail(self) -> tuple[str, ...]:
        return () if self._server is None else self._server.stderr_tail

    async def _run(
        self, on_message: MessageHandler, on_failure: FailureHandler, opened: "asyncio.Future[None]"
    ) -> None:
        """Run from the start of the program to the end of its last descendant."""
        with ExitStack() as ours:
            try:
                self._server = await self._start(ours, on_message, on_failure)
            except BaseException as error:
                opened.set_exception(error if isinstance(error, McpFailure) else _closed_failure())
                opened.exception()  # nobody may be waiting
                if isinstance(error, McpFailure):
                    return
                raise
            opened.set_result(None)
            await self._server.serve()

    async def _start(self, ours: ExitStack, on_message: MessageHandler, on_failure: FailureHandler) -> "_ServerProcess":
        """Start the program. `ours` closes our resources. Raises McpFailure."""
        with ExitStack() as theirs:
            try:
                directory = os.open(self._directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            except (OSError, ValueError) as error:
                message = lazy("cannot open its directory")
                raise _start_failure(message, error, lazy("Fix its `cwd`.")) from error
            theirs.callback(os.close, directory)
            command = self._sandboxed_command(ours)
            try:
                stdin, outgoing = _input_pipe(ours, theirs)
                stdout_end, stdout = _output_pipe(ours, theirs)
                stderr_end, stderr = _output_pipe(ours, theirs)
                launch = ProcessSpec(command.arguments, directory, {**self._environment, **command.environment})
                running = await self._supervisor.start(launch, stdin=stdin, stdout=stdout, stderr=stderr)
            except OSError as error:
                message = lazy("cannot start its program")
                raise _start_failure(message, error, lazy("Check its `command`.")) from error
        return _ServerProcess(running, outgoing, on_message, on_failure, stdout=stdout_end, stderr=stderr_end)

    def _sandboxed_command(self, ours: ExitStack) -> SandboxedCommand:
        """Return the command to start. `ours` cleans up after the sandbox. Raises McpFailure."""
        if self._wrap is None:
            return SandboxedCommand(self._arguments)
        try:
            wrapped = self._wrap(self._arguments, os.path.realpath(self._directory))
        except OSError as error:
            raise _start_failure(lazy("cannot prepare its sandbox"), error) from error
        ours.callback(wrapped.clean_up)
        return wrapped


class _ServerProcess:
    """A running program, with our non-blocking ends of its pipes."""

    def __init__(
        self,
        running: RunningProcess,
        writer: PipeWriter,
        on_message: MessageHandler,
        on_failure: FailureHandler,
        *,
        stdout: int,
        stderr: int,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._running = running
        self._writer = writer
        self._on_message = on_message
        self._on_failure = on_failure
        self._stdout = stdout
        self._stderr = stderr
        self._open = {stdout, stderr}
        self._decoder = NdjsonDecoder()
        self._stderr_tail = StderrTail()
        self._invalid_lines = 0
        self._first_invalid_line = ""
        self._is_muted = False
        self._broken: asyncio.Future[McpFailure | None] = self._loop.create_future()
        self._closed: asyncio.Future[McpFailure] = self._loop.create_future()
        self._loop.add_reader(stdout, self._read_messages)
        self._loop.add_reader(stderr, self._read_stderr)

    async def serve(self) -> None:
        """Deliver messages until the program ends or becomes unusable, then stop what is left of it."""
        try:
            failure = await self._wait_until_closed()
            self._read_remaining()
            self._closed.set_result(failure)
            if not self._is_muted:
                self._on_failure(failure, None)
        finally:
            await self._shut_down()

    async def send(self, line: bytes, *, seconds: float) -> None:
        try:
            await self._writer.write(line, seconds=seconds)
        except BrokenPipeError as error:
            self._set_broken(None)
            await asyncio.wait((self._closed,))
            raise self._closed.result() from error
        except TimeoutError as error:
            failure = McpFailure(lazy("The server does not read its input."), McpProblem.TIMED_OUT)
            if self._writer.is_mid_line:  # nothing more can be sent
                self._set_broken(failure)
            raise failure from error

    def mute(self) -> None:
        """Stop calling the callbacks."""
        self._is_muted = True

    @property
    def stderr_tail(self) -> tuple[str, ...]:
        count, line = self._invalid_lines, self._first_invalid_line
        if count == 0:
            return self._stderr_tail.lines
        note = lazy("(A line on its standard output is not a message: {line})", line=line)
        if count > 1:
            note = lazy(
                "({count:,} lines on its standard output are not messages, first: {line})", count=count, line=line
            )
        return note, *self._stderr_tail.lines

    async def _wait_until_closed(self) -> McpFailure:
        exited = self._loop.create_task(_wait_for_exit(self._running))
        try:
            await asyncio.wait((exited, self._broken), return_when=asyncio.FIRST_COMPLETED)
            failure = self._broken.result() if self._broken.done() else None
            if failure is None:  # a program that closes its end is usually about to exit
                await asyncio.wait((exited,), timeout=_EXIT_REPORT_SECONDS)
            return failure or _exit_failure(self._running, is_over=exited.done())
        finally:
            exited.cancel()

    def _set_broken(self, failure: McpFailure | None) -> None:
        """Mark the connection as unusable; None: because the program closed its end."""
        if not self._broken.done():
            self._broken.set_result(failure)

    def _read_messages(self) -> bool:
        """Read one chunk. Return whether there was one."""
        data = self._read(self._stdout)
        if data == b"":
            self._set_broken(None)
        for received in self._decoder.feed(data or b""):
            self._handle(received)
        return bool(data)

    def _read_stderr(self) -> bool:
        data = self._read(self._stderr)
        self._stderr_tail.add(data or b"")
        return bool(data)

    def _read(self, descriptor: int) -> bytes | None:
        """Return available data, b"" at the end, None if there is none now."""
        if descriptor not in self._open:
            return None
        try:
            data = os.read(descriptor, _CHUNK_BYTES)
        except BlockingIOError:
            return None
        if not data:
            self._stop_reading(descriptor)
        return data

    def _stop_reading(self, descriptor: int) -> None:
        self._open.discard(descriptor)
        self._loop.remove_reader(descriptor)

    def _read_remaining(self) -> None:
        for read in (self._read_messages, self._read_stderr):
            for _ in range(_MAX_REMAINING_CHUNKS):
                if not read():
                    break
        for received in self._decoder.end():
            self._handle(received)

    def _handle(self, received: DecodedLine) -> None:
        if self._is_muted or self._closed.done():
            return
        match received:
            case EndlessLine():
                self._set_broken(McpFailure(lazy("The server sent an endless line."), McpProblem.TOO_LARGE))
            case InvalidLine(answer_to=request_id) if request_id is not None:
                problem = McpProblem.TOO_LARGE if received.is_too_long else McpProblem.MALFORMED
                message = lazy("The server's response is invalid: {why}.", why=received.reason)
                self._on_failure(McpFailure(message, problem), request_id)
            case InvalidLine():
                self._invalid_lines += 1
                self._first_invalid_line = self._first_invalid_line or printable_line(received.start)
            case _:
                self._on_message(received)

    async def _shut_down(self) -> None:
        """Let the program exit, stop it if it does not, and its descendants."""
        if not self._closed.done():
            self._closed.set_result(_closed_failure())
        self._writer.close()
        try:
            async with asyncio.timeout(_EXIT_SECONDS):
                await _wait_for_exit(self._running)
        except TimeoutError:
            pass
        finally:
            try:
                await self._running.stop()
            finally:
                self._running.release()
                for descriptor in list(self._open):
                    self._stop_reading(descriptor)


async def _wait_for_exit(running: RunningProcess) -> None:
    """Wait until the program has ended, or its supervisor has died."""
    with suppress(SupervisorDied):
        await running.wait()


def _input_pipe(ours: ExitStack, theirs: ExitStack) -> tuple[int, PipeWriter]:
    readable, writable = os.pipe()
    theirs.callback(os.close, readable)
    os.set_blocking(writable, False)
    outgoing = PipeWriter(writable)
    ours.callback(outgoing.close)
    return readable, outgoing


def _output_pipe(ours: ExitStack, theirs: ExitStack) -> tuple[int, int]:
    readable, writable = os.pipe()
    theirs.callback(os.close, writable)
    os.set_blocking(readable, False)
    ours.callback(os.close, readable)
    return readable, writable


def _exit_failure(running: RunningProcess, *, is_over: bool) -> McpFailure:
    if running.exit is None:
        message = lazy("The server closed the connection.")
        if is_over:
            message = lazy("The server and its supervisor process were killed.")
    elif running.exit.signal is not None:
        message = lazy("The server was killed by signal {signal}.", signal=_signal_name(running.exit.signal))
    else:
        message = lazy("The server exited with code {code}.", code=running.exit.code)
    return McpFailure(message, McpProblem.CLOSED)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # real-time signals have no names
        return str(number)


def _start_failure(what: str, error: OSError | ValueError, next_step: str = "") -> McpFailure:
    reason = error.strerror or str(error) if isinstance(error, OSError) else lazy("it contains a NUL character")
    message = lazy("The server did not start: {what} ({reason}).", what=what, reason=reason)
    return McpFailure(join_lazy(" ", (message, next_step)) if next_step else message, McpProblem.START)


def _closed_failure() -> McpFailure:
    return McpFailure(lazy("The connection to the server was closed."), McpProblem.CLOSED)
