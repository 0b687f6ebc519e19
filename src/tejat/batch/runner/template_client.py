"""Client of the template process: starts children, follows them and stops them."""

import asyncio
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TypeAlias

from tejat.batch.engines.contract import JobLost
from tejat.batch.runner.child_request import (
    ENDED,
    FAILED,
    KILL,
    STARTED,
    TERMINATE,
    ChildRequest,
    decode_message,
    encode_request,
)
from tejat.core.i18n import _
from tejat.core.json_text import InvalidJson
from tejat.core.messages.types import JsonValue

TERMINATION_SECONDS = 10.0
"""Time between SIGTERM and SIGKILL."""
_MODULE = "tejat.batch.runner.template"
_MAX_MESSAGE = 1 << 20
_CLOSE_SECONDS = 10.0
_POLL_SECONDS = 0.01

MessageSink: TypeAlias = Callable[[str, dict[str, JsonValue]], None]
"""Called with the kind of a message from a child, and its fields."""


class TemplateProcess:
    """A running template process. Used by one event loop."""

    def __init__(self) -> None:
        """Raises OSError."""
        self._control, theirs = socket.socketpair()
        with theirs:
            self.pid = os.posix_spawn(
                sys.executable,
                [sys.executable, "-P", "-m", _MODULE],
                os.environ,
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, theirs.fileno(), 0),
                    (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                ],
                setsid=True,
                setsigmask=[],
            )

    @property
    def is_alive(self) -> bool:
        try:
            return os.waitpid(self.pid, os.WNOHANG) == (0, 0)
        except ChildProcessError:
            return False

    async def start(self, request: ChildRequest, *, stdout: int, stderr: int, on_message: MessageSink) -> "JobProcess":
        """Start a child that writes to these descriptors, which the caller closes.

        Raises JobLost if the template is gone or cannot fork.
        """
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                # One byte fits into an empty buffer, and the template reads each of them at once.
                socket.send_fds(self._control, [b"\1"], [theirs.fileno(), stdout, stderr])
            reader, writer = await asyncio.open_connection(sock=ours, limit=_MAX_MESSAGE)
        except (OSError, asyncio.CancelledError) as error:
            ours.close()
            if isinstance(error, OSError):
                raise _lost() from error
            raise
        process = JobProcess(reader, writer, on_message)
        try:
            await process.begin(encode_request(request))
        except BaseException:
            process.release()
            raise
        return process

    def close(self) -> None:
        """End the template with all its children. Blocks for seconds if they do not end."""
        self._control.close()
        deadline = time.monotonic() + _CLOSE_SECONDS
        while self.is_alive:
            if time.monotonic() > deadline:  # it was stopped, for example; its children die with it
                with suppress(ProcessLookupError):
                    os.kill(self.pid, signal.SIGKILL)
            time.sleep(_POLL_SECONDS)


class JobProcess:
    """A child of the template. Its pid is also its process group."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, on_message: MessageSink) -> None:
        self.pid = 0
        self.was_stopped = False
        """Whether this side has sent a signal."""
        self._reader = reader
        self._writer = writer
        self._on_message = on_message

    async def begin(self, request: bytes) -> None:
        """Send the request and wait for the start. Raises JobLost."""
        self._writer.write(request)
        with suppress(ConnectionError):  # noticed by the reader
            await self._writer.drain()
        kind, fields = await self._receive()
        if kind == FAILED:
            number = int(str(fields["error"]))
            raise JobLost(_("No process could be started: {reason}.", reason=os.strerror(number)))
        if kind != STARTED:
            raise _lost()
        self.pid = int(str(fields["pid"]))

    async def wait(self) -> int:
        """Wait for the end; return the exit code, or the negative number of a signal. Raises JobLost."""
        while True:
            kind, fields = await self._receive()
            if kind == ENDED:
                return os.waitstatus_to_exitcode(int(str(fields["status"])))
            self._on_message(kind, fields)

    async def stop(self) -> None:
        """End the child: SIGTERM, and SIGKILL after ten seconds. Raises nothing."""
        self.was_stopped = True
        for order in (TERMINATE, KILL):
            with suppress(ConnectionError):
                self._writer.write(order)
            with suppress(TimeoutError, JobLost):
                async with asyncio.timeout(TERMINATION_SECONDS):
                    await self.wait()
                return

    def release(self) -> None:
        """Close the channel. A child that still runs is killed."""
        self._writer.close()

    async def _receive(self) -> tuple[str, dict[str, JsonValue]]:
        """Raises JobLost."""
        try:
            line = await self._reader.readline()
            fields = decode_message(line)
        except (ConnectionError, InvalidJson, TypeError, ValueError) as error:
            raise _lost() from error
        return str(fields.pop("kind", "")), fields


def _lost() -> JobLost:
    return JobLost(_("The process that starts the runs was killed."))
