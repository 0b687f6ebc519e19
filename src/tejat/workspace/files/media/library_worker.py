"""Worker programs that use a library on hostile input, in a process that can be ended."""

import os
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec

from tejat.core.errors import TejatError
from tejat.core.i18n import lazy
from tejat.workspace.files.regular_file import open_fd
from tejat.workspace.helper_program import HelperProcess, run_helper


class WorkerFailure(TejatError):
    """A worker failed, took too long, or could not be started."""


class LibraryMissing(WorkerFailure):
    """The library is not installed."""


def run_worker(program: str, library: str, given: bytes, *, seconds: float, stop: Callable[[], None]) -> bytes:
    """Run a Python file with the directory of a library as its argument; return what it makes of its input.

    Blocks; `stop` is called every 50 ms and its exceptions propagate. The process is killed when it takes more than
    `seconds`; it limits its own memory. Raises WorkerFailure.
    """
    found = find_spec(library)
    if not sys.executable or found is None or found.origin is None:
        raise LibraryMissing(lazy("The package {library} is not installed.", library=library))
    argv = [sys.executable, "-I", "-S", program, os.path.dirname(os.path.dirname(found.origin))]
    with open_fd(os.path.dirname(program), os.O_RDONLY | os.O_DIRECTORY) as directory:
        try:
            with run_helper(argv, directory_fd=directory, stdin=given) as child:
                return _read_output(child, seconds, stop)
        except OSError as error:
            message = lazy("Could not start the program that reads it: {why}.", why=error.strerror)
            raise WorkerFailure(message) from error


def _read_output(child: HelperProcess, seconds: float, stop: Callable[[], None]) -> bytes:
    deadline = time.monotonic() + seconds

    def stop_in_time() -> None:
        stop()
        if time.monotonic() > deadline:
            raise WorkerFailure(_UNREADABLE)

    blocks: list[bytes] = []
    while block := child.read(stop_in_time):
        blocks.append(block)
    if child.exit_code(stop_in_time) != 0:
        raise WorkerFailure(_UNREADABLE)
    return b"".join(blocks)


_UNREADABLE = lazy("The file is damaged or protected, or takes too much memory or time.")
