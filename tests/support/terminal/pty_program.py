"""A program at a pseudo-terminal."""

import os
import select
import subprocess
import sys
import termios
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# Makes the terminal that is its standard input its own, so that Ctrl-C reaches it, and becomes the program.
TAKE_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
)


class PtyProgram:
    """What it shows on standard error, and its standard output apart."""

    def __init__(self, controller: int, process: "subprocess.Popen[bytes]") -> None:
        self._controller = controller
        self.process = process
        self.shown = ""
        self._waited_for = 0

    def wait_for(self, text: str) -> str:
        """Read until this text is shown after everything waited for before; return the text up to it."""
        start = self._waited_for
        while (found := self.shown.find(text, start)) < 0:
            assert self._read(), f"the program ended; it showed {self.shown!r}"
        self._waited_for = found + len(text)
        return self.shown[start : self._waited_for]

    def type(self, keys: bytes) -> None:
        os.write(self._controller, keys)

    def wait_for_exit(self) -> tuple[int, str]:
        """The exit code and standard output."""
        while self._read():
            pass
        assert self.process.stdout is not None
        printed = self.process.stdout.read().decode()
        return self.process.wait(30), printed

    def hang_up(self) -> None:
        with open(os.devnull, "rb") as nothing:
            os.dup2(nothing.fileno(), self._controller)

    def _read(self) -> bool:
        deadline = time.monotonic() + 30
        while not select.select([self._controller], [], [], 0.5)[0]:
            if self.process.poll() is not None:
                return False
            assert time.monotonic() < deadline, f"nothing more came after {self.shown!r}"
        try:
            seen = os.read(self._controller, 65536)
        except OSError:  # Linux's way to say that nobody holds the other end any more
            return False
        self.shown += seen.decode("utf-8", "replace").replace("\r\n", "\n")
        return bool(seen)


@contextmanager
def run_at_terminal(
    *words: str | Path, cwd: Path | None = None, columns: int = 0, **environment: Any
) -> Generator[PtyProgram]:
    controller, line = os.openpty()
    try:
        termios.tcsetwinsize(line, (24, columns))
        process = subprocess.Popen(
            [sys.executable, "-c", TAKE_TERMINAL, sys.executable, *words],
            stdin=line,
            stdout=subprocess.PIPE,
            stderr=line,
            cwd=cwd,
            start_new_session=True,
            env={**os.environ, "NO_COLOR": "1", "TERM": "xterm", **environment},
        )
    finally:
        os.close(line)
    try:
        with process:
            try:
                yield PtyProgram(controller, process)
            finally:
                process.kill()
    finally:
        os.close(controller)


def write_script(path: Path, *lines: str) -> str:
    """Write a shell script, to be used as an editor."""
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)
    return str(path)
