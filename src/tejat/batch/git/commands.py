"""Git commands as processes of the event loop: bounded output, time limits, and an end that reaches their children."""

import asyncio
import os
import re
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

from tejat.batch.git.errors import RepositoryProblem, disk_full
from tejat.batch.result import TaskFailure
from tejat.core.frozen import Frozen
from tejat.core.i18n import _
from tejat.core.sanitize import sanitize_summary
from tejat.workspace.helper_program import find_program

MAX_SECONDS = 900.0
"""The limit of a command that works on local files."""
_MAX_OUTPUT = 1024 * 1024
_MAX_ERRORS = 64 * 1024
_STOP_SECONDS = 3.0
_DRAIN_SECONDS = 0.5
_MAX_REASONS = 3
_STDIN, _STDOUT = 0, 1
_PROGRESS = re.compile(r"^remote:.*(?:\d%|: \d+, done\.|, pack-reused)|^remote:\s*$")
_DISK_FULL = re.compile(r"No space left on device|Disk quota exceeded|File too large|Out of diskspace")
# Git does not always give the reason.
_WRITE_FAILED = re.compile(r"unable to (?:write|create|append)|write (?:failure|error)|failed to write|could not write")
_MIN_FREE_BYTES = 64 * 1024


class GitOutput(Frozen):
    """The end of a git command. `stdout` has its first megabyte."""

    code: int
    stdout: bytes
    stderr: str

    @property
    def is_ok(self) -> bool:
        return self.code == 0

    @property
    def text(self) -> str:
        return os.fsdecode(self.stdout).rstrip("\n")

    @property
    def reason(self) -> str:
        """Why git failed, in one line."""
        lines = [line.strip() for line in self.stderr.replace("\r", "\n").split("\n")]
        found = [line for line in lines if line.startswith(("fatal:", "error:", "ssh:", "remote:", "Permission"))]
        found = [line for line in found if not _PROGRESS.search(line)]
        shown = "; ".join(found[:_MAX_REASONS]) or next(filter(None, lines), "")
        return sanitize_summary(shown) or _("git ended with exit code {code}", code=self.code)


class GitProgram:
    """Runs git commands in one environment. A cancelled call ends the command and its children first."""

    def __init__(
        self,
        environment: Mapping[str, str],
        *,
        directory: str = "/",
        idle_seconds: float | None = None,
        shared_fds: tuple[int, ...] = (),
    ) -> None:
        """With `idle_seconds` a command is ended after that time without output, else after MAX_SECONDS.

        Commands inherit `shared_fds`, so a lock outlives this process if the command does.
        """
        self._environment = dict(environment)
        self._directory = directory
        self._idle_seconds = idle_seconds
        self._shared_fds = shared_fds

    async def run(self, *words: str | bytes, stdin: bytes | int = b"", stdout: int | None = None) -> GitOutput:
        """Run a command. `stdin` is text or a file, `stdout` a file for all of the output.

        Raises RepositoryProblem if git cannot be started, takes too long or finds the disk full.
        """
        program = find_program("git")
        if program is None:
            raise RepositoryProblem(_("git is not installed. Install it and try again."), TaskFailure.CONFIGURATION)
        source = stdin if isinstance(stdin, int) else subprocess.PIPE if stdin else subprocess.DEVNULL
        transport, collector = await self._start((program, *words), source, stdout)
        try:
            if isinstance(stdin, bytes) and stdin:
                _feed(transport, stdin)
            await self._wait(collector)
        finally:
            await _end(transport, collector)
        output = GitOutput(transport.get_returncode() or 0, bytes(collector.stdout), collector.errors)
        if not output.is_ok and self._is_disk_full(output, stdout):
            raise disk_full()
        return output

    def _is_disk_full(self, output: GitOutput, stdout: int | None) -> bool:
        if output.code == -signal.SIGXFSZ or _DISK_FULL.search(output.stderr):
            return True
        places = [self._environment[name] for name in ("GIT_DIR", "GIT_WORK_TREE") if name in self._environment]
        return bool(_WRITE_FAILED.search(output.stderr)) and any(map(_is_full, filter(None, (*places, stdout))))

    async def _start(self, words: Sequence[str | bytes], stdin: int, stdout: int | None) -> "_Started":
        loop = asyncio.get_running_loop()
        starting = loop.create_task(
            loop.subprocess_exec(
                _Collector,
                *words,
                cwd=self._directory,
                env=self._environment,
                stdin=stdin,
                stdout=subprocess.PIPE if stdout is None else stdout,
                stderr=subprocess.PIPE,
                start_new_session=True,
                pass_fds=self._shared_fds,
            )
        )
        try:
            return await asyncio.shield(starting)
        except OSError as error:
            message = _("git could not be started: {error}", error=error)
            raise RepositoryProblem(message, TaskFailure.INTERNAL) from error
        except asyncio.CancelledError:
            # asyncio itself would kill git without its children, and leave its lock files behind.
            await _wait_despite_cancellation(starting, _STOP_SECONDS)
            if starting.done() and not starting.cancelled() and starting.exception() is None:
                await _end(*starting.result())
            raise

    async def _wait(self, collector: "_Collector") -> None:
        loop = asyncio.get_running_loop()
        seconds = self._idle_seconds or MAX_SECONDS
        try:
            async with asyncio.timeout(seconds) as limit:
                if self._idle_seconds is not None:
                    collector.on_output = lambda: limit.reschedule(loop.time() + seconds)
                # Awaited directly, the future would be cancelled with the caller, and the end of git missed.
                await asyncio.wait((collector.exited,))
                collector.on_output = None
        except TimeoutError:
            collector.on_output = None
            if self._idle_seconds is None:
                message = _("git was stopped after {seconds} seconds.", seconds=f"{seconds:g}")
                raise RepositoryProblem(message, TaskFailure.INTERNAL) from None
            message = _("The repository did not answer for {seconds} seconds.", seconds=f"{seconds:g}")
            raise RepositoryProblem(message, TaskFailure.SERVICE) from None


class _Collector(asyncio.SubprocessProtocol):
    """Keeps the beginning of the output and of the errors."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.exited: asyncio.Future[None] = loop.create_future()
        self.closed: asyncio.Future[None] = loop.create_future()
        self.stdout = bytearray()
        self._stderr = bytearray()
        self._last_errors = b""
        self.on_output: Callable[[], None] | None = None

    @property
    def errors(self) -> str:
        kept = bytes(self._stderr)
        if len(kept) >= _MAX_ERRORS:
            kept += b"\n" + self._last_errors
        return kept.decode("utf-8", "replace")

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if self.on_output is not None:
            self.on_output()
        if fd == _STDOUT:
            self.stdout += data[: _MAX_OUTPUT - len(self.stdout)]
        else:
            self._stderr += data[: _MAX_ERRORS - len(self._stderr)]
            self._last_errors = (self._last_errors + data)[-_MAX_ERRORS:]

    def process_exited(self) -> None:
        if not self.exited.done():
            self.exited.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.closed.done():
            self.closed.set_result(None)


def _is_full(place: str | int) -> bool:
    """Whether the file system of a path or an open file has no room left."""
    try:
        found = os.statvfs(place)
    except OSError:
        return False
    return found.f_bavail * found.f_frsize < _MIN_FREE_BYTES or (found.f_files > 0 and found.f_favail == 0)


_Started: TypeAlias = tuple[asyncio.SubprocessTransport, _Collector]


def _feed(transport: asyncio.SubprocessTransport, content: bytes) -> None:
    pipe = transport.get_pipe_transport(_STDIN)
    if isinstance(pipe, asyncio.WriteTransport):
        pipe.write(content)
        pipe.write_eof()


async def _end(transport: asyncio.SubprocessTransport, collector: _Collector) -> None:
    """End the command and its children if it still runs, and close the pipes."""
    try:
        if transport.get_returncode() is None:
            await _stop(transport.get_pid(), collector.exited)
        elif not collector.closed.done():
            # A connection that ssh shares with later commands keeps the pipe open.
            await asyncio.wait((collector.closed,), timeout=_DRAIN_SECONDS)
    finally:
        transport.close()


async def _stop(group: int, exited: "asyncio.Future[None]") -> None:
    """End a process group. Git removes its lock files if it is asked to end."""
    cancelled: asyncio.CancelledError | None = None
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)
        cancelled = await _wait_despite_cancellation(exited, _STOP_SECONDS) or cancelled
    if cancelled is not None:
        raise cancelled


async def _wait_despite_cancellation(
    future: "asyncio.Future[Any]",
    seconds: float,
) -> asyncio.CancelledError | None:
    """Wait for a future up to a time limit. Returns a cancellation that came meanwhile."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    cancelled: asyncio.CancelledError | None = None
    while not future.done() and loop.time() < deadline:
        try:
            await asyncio.wait((future,), timeout=deadline - loop.time())
        except asyncio.CancelledError as error:
            cancelled = error
    return cancelled
