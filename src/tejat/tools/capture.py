"""The two streams of a command: the pipes it prints to, what is kept of them in memory, and the files with the rest."""

import os
from types import TracebackType
from typing import BinaryIO, Self

from tejat.core.value import replace
from tejat.tools.shell_result import Ran
from tejat.workspace.processes.bounded import Bounded
from tejat.workspace.processes.collect import open_pipe
from tejat.workspace.processes.keeping import Running
from tejat.workspace.processes.launching import Launch
from tejat.workspace.processes.shell import Shell
from tejat.workspace.processes.shell_output import HEAD_BYTES, TAIL_BYTES, told

LARGEST_FILE = 1 << 30
"""Bytes of one stream that are kept on disk."""


class Capture:
    """Opens the pipes; leaving it as a context closes all that is still open. Raises OSError."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._pid: int | None = None
        self._paths: dict[str, str] = {}
        self.stdout, stdout_end = open_pipe()
        self._open = [self.stdout, stdout_end]
        try:
            self.stderr, stderr_end = open_pipe()
        except BaseException:
            self._close()
            raise
        self._open += [self.stderr, stderr_end]
        self._ends = (stdout_end, stderr_end)
        self.out = self._bounded("stdout")
        self.err = self._bounded("stderr")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()
        self.out.close()
        self.err.close()

    async def start(self, launch: Launch) -> Running:
        """Start a command that prints to the pipes. Raises OSError."""
        try:
            running = await self._shell.keeper.start(launch, stdout=self._ends[0], stderr=self._ends[1])
        finally:
            for end in self._ends:
                self._open.remove(end)
                os.close(end)
        self._pid = running.pid
        return running

    @property
    def has_started(self) -> bool:
        return self._pid is not None

    def of(self, ran: Ran) -> Ran:
        """The command together with what it has printed."""
        self.out.close()
        self.err.close()
        stdout, stderr = told(self.out, self._paths.get("stdout")), told(self.err, self._paths.get("stderr"))
        return replace(ran, stdout=stdout, stderr=stderr, pid=self._pid)

    def let_go(self) -> None:
        """Leave the pipes to whoever still prints to them, so that it does not die of a closed one."""
        while self._open:
            self._shell.draining.keep(self._open.pop())

    def _bounded(self, name: str) -> Bounded:
        def spool() -> BinaryIO:
            file = self._shell.new_output(name)
            self._paths[name] = file.name
            return file

        return Bounded(head=HEAD_BYTES, tail=TAIL_BYTES, spool=spool, spool_limit=LARGEST_FILE)

    def _close(self) -> None:
        while self._open:
            os.close(self._open.pop())
