"""The client of a worker inside of a copy."""

import asyncio
import os
import socket
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress

from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.frozen import Frozen
from tejat.core.json_text import load_json
from tejat.core.messages.json_fields import JsonFields
from tejat.core.messages.types import Params
from tejat.core.tools.base import ToolContext, ToolResult
from tejat.tools.copy.wire_format import MAX_LINE_BYTES, encode_line, result_from_json
from tejat.workspace.overlay.copy import OverlayCopy
from tejat.workspace.overlay.manager import OverlayManager
from tejat.workspace.paths.ignore_rules import IgnoreOptions
from tejat.workspace.processes.shell import ShellContext
from tejat.workspace.processes.spawn import ProcessSpec
from tejat.workspace.processes.supervisor_client import RunningProcess
from tejat.workspace.sandbox.types import SandboxedCommand

_WORKER = "tejat.tools.copy.worker"
_START_SECONDS = 60.0
_CANCEL_SECONDS = 5.0
_EXIT_SECONDS = 5.0
_LOST = "The worker of the copy ended unexpectedly. What it did so far is still in the copy."


class WorkerOptions(Frozen):
    """What a worker has to know: the roots, and what the session's settings ignore."""

    roots: tuple[str, ...]
    ignore: IgnoreOptions


class CopyWorker:
    """A worker in a copy, from `start` to `close`. Calls run concurrently if they are made so."""

    def __init__(self, process: RunningProcess, wrapped: SandboxedCommand, connection: socket.socket) -> None:
        """Use `start`."""
        self._process = process
        self._wrapped = wrapped
        self._connection = connection
        self._writer: asyncio.StreamWriter | None = None
        self._reading: asyncio.Task[None] | None = None
        self._calls: dict[int, _OpenCall] = {}
        self._number = 0

    @classmethod
    async def start(
        cls, copies: OverlayManager, copy: OverlayCopy, shell: ShellContext, options: WorkerOptions
    ) -> "CopyWorker":
        """Start a worker in a copy. Raises OSError, also if it does not answer in time."""
        directory = options.roots[0]
        wrapped = copies.wrap(copy, [sys.executable, "-P", "-m", _WORKER], directory, network=False)
        ours, theirs = socket.socketpair()
        with theirs:
            descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            null = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
            try:
                environment = {**shell.environment, **wrapped.environment}
                launch = ProcessSpec(wrapped.arguments, descriptor, environment)
                process = await shell.supervisor.start(launch, stdout=null, stderr=null, stdin=theirs.fileno())
            except BaseException:
                ours.close()
                wrapped.clean_up()
                raise
            finally:
                os.close(null)
                os.close(descriptor)
        worker = cls(process, wrapped, ours)
        try:
            async with asyncio.timeout(_START_SECONDS):
                await worker._configure(options, shell)
        except BaseException as error:
            await worker.close()
            if isinstance(error, TimeoutError | ValueError | ConnectionError):
                raise OSError(None, "The worker of the copy did not start.") from error
            raise
        return worker

    async def call(self, name: str, params: Params, paths: Sequence[str], context: ToolContext) -> ToolResult:
        """Run a call in the copy. Raises ToolFailure if the worker is gone.

        `paths` are the real paths that the rules were applied to. When the caller is cancelled, so is the call.
        """
        self._number += 1
        number = self._number
        call = self._calls[number] = _OpenCall(context)
        try:
            variables = dict(context.environment)
            self._send({"id": number, "name": name, "args": params, "paths": list(paths), "environment": variables})
            return await asyncio.shield(call.result)
        except asyncio.CancelledError:
            await self._cancel(number, call)
            raise
        finally:
            self._calls.pop(number, None)

    async def close(self) -> None:
        """End the worker and everything that it started."""
        if self._writer is not None:
            self._writer.close()
        else:
            self._connection.close()
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(_EXIT_SECONDS):
                    await self._process.wait()
            await self._process.stop()
        finally:
            self._process.release()
            self._wrapped.clean_up()
            if self._reading is not None:
                self._reading.cancel()

    async def _configure(self, options: WorkerOptions, shell: ShellContext) -> None:
        """Raises ValueError and ConnectionError."""
        reader, self._writer = await asyncio.open_connection(sock=self._connection, limit=MAX_LINE_BYTES)
        self._send(
            {
                "roots": list(options.roots),
                "git": options.ignore.git,
                "gemini": options.ignore.gemini,
                "ignoreFiles": list(options.ignore.files),
                "environment": dict(shell.environment),
                "idle": shell.idle,
            }
        )
        JsonFields(load_json(await reader.readline())).boolean("ready")
        self._reading = asyncio.create_task(self._read(reader))

    def _send(self, message: Mapping[str, object]) -> None:
        """Raises ToolFailure if the worker is gone."""
        if self._writer is None or self._writer.is_closing() or (self._reading is not None and self._reading.done()):
            raise ToolFailure(_LOST, ErrorType.EXECUTION_FAILED)
        self._writer.write(encode_line(message))

    async def _read(self, reader: asyncio.StreamReader) -> None:
        """Hand the answers to their calls until there are no more."""
        try:
            while line := await reader.readline():
                self._accept(JsonFields(load_json(line)))
        except (ValueError, ConnectionError):
            pass  # a worker that sends something else is as good as none
        finally:
            for call in self._calls.values():
                call.fail(ToolFailure(_LOST, ErrorType.EXECUTION_FAILED))

    def _accept(self, answer: JsonFields) -> None:
        """Raises ValueError."""
        call = self._calls.get(answer.integer("id"))
        if call is None:
            return
        if answer.has("output"):
            call.show(answer.string("output"))
        elif answer.has("cancelled"):
            call.end(None if answer.value("result") is None else result_from_json(answer.value("result")))
        else:
            call.finish(result_from_json(answer.value("result")))

    async def _cancel(self, number: int, call: "_OpenCall") -> None:
        """Cancel a call and wait briefly for its end and its partial result."""
        with suppress(ToolFailure, TimeoutError):
            self._send({"id": number, "cancel": True})
            async with asyncio.timeout(_CANCEL_SECONDS):
                await call.ended.wait()


class _OpenCall:
    """A call that has not ended yet."""

    def __init__(self, context: ToolContext) -> None:
        self._context = context
        self.ended = asyncio.Event()
        self.result: asyncio.Future[ToolResult] = asyncio.get_running_loop().create_future()

    def show(self, output: str) -> None:
        self._context.update_output(output)

    def finish(self, result: ToolResult) -> None:
        if not self.result.done():
            self.result.set_result(result)
        self.ended.set()

    def end(self, partial: ToolResult | None) -> None:
        """Note the end of a cancelled call."""
        if partial is not None:
            self._context.keep_partial(partial)
        self.ended.set()

    def fail(self, failure: ToolFailure) -> None:
        if not self.result.done():
            self.result.set_exception(failure)
            self.result.exception()  # nobody may be waiting
        self.ended.set()
