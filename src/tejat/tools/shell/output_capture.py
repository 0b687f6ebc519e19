"""Output of a command: its pipes, the part kept in memory, and files with the rest."""

import os
from types import TracebackType
from typing import BinaryIO, Self

from tejat.core.frozen import replace
from tejat.tools.shell.result import CommandRun
from tejat.workspace.processes.bounded_buffer import BoundedBuffer
from tejat.workspace.processes.output_collector import open_pipe
from tejat.workspace.processes.shell import ShellContext
from tejat.workspace.processes.shell_output import HEAD_BYTES, TAIL_BYTES, format_output
from tejat.workspace.processes.spawn import ProcessSpec
from tejat.workspace.processes.supervisor_client import RunningProcess

MAX_FILE_BYTES = 1 << 30
"""Limit for one stream on disk."""


class OutputCapture:
    """Pipes for stdout and stderr of one command, closed when the context exits. Raises OSError."""

    def __init__(self, shell: ShellContext) -> None:
        self._shell = shell
        self._pid: int | None = None
        self._paths: dict[str, str] = {}
        self.stdout, stdout_end = open_pipe()
        self._open_fds = [self.stdout, stdout_end]
        try:
            self.stderr, stderr_end = open_pipe()
        except BaseException:
            self._close()
            raise
        self._open_fds += [self.stderr, stderr_end]
        self._write_ends = (stdout_end, stderr_end)
        self.out = self._make_buffer("stdout")
        self.err = self._make_buffer("stderr")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()
        self.out.close()
        self.err.close()

    async def start(self, launch: ProcessSpec) -> RunningProcess:
        """Start a command that writes to the pipes. Raises OSError."""
        try:
            running = await self._shell.supervisor.start(launch, stdout=self._write_ends[0], stderr=self._write_ends[1])
        finally:
            for end in self._write_ends:
                self._open_fds.remove(end)
                os.close(end)
        self._pid = running.pid
        return running

    @property
    def has_started(self) -> bool:
        return self._pid is not None

    def with_output(self, command_run: CommandRun) -> CommandRun:
        """Add the captured output to a command run."""
        self.out.close()
        self.err.close()
        stdout = format_output(self.out, self._paths.get("stdout"))
        stderr = format_output(self.err, self._paths.get("stderr"))
        return replace(command_run, stdout=stdout, stderr=stderr, pid=self._pid)

    def detach(self) -> None:
        """Keep draining the pipes in the background, so that processes still writing to them get no SIGPIPE."""
        while self._open_fds:
            self._shell.pipe_drain.add(self._open_fds.pop())

    def _make_buffer(self, name: str) -> BoundedBuffer:
        def spool() -> BinaryIO:
            file = self._shell.create_output_file(name)
            self._paths[name] = file.name
            return file

        return BoundedBuffer(head=HEAD_BYTES, tail=TAIL_BYTES, spool=spool, spool_limit=MAX_FILE_BYTES)

    def _close(self) -> None:
        while self._open_fds:
            os.close(self._open_fds.pop())
