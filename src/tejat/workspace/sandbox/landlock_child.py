"""Child processes that Landlock confines to reading one directory."""

import os
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from typing import TypeVar

from tejat.workspace.files.system_calls import O_PATH
from tejat.workspace.sandbox.landlock import READ_FILE, restrict_self

_Result = TypeVar("_Result")

# System paths that programs are loaded from; they hold no secrets.
_SYSTEM_PATHS = ("/bin", "/lib", "/lib64", "/usr/bin", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache", "/dev/null")


def start_confined(start: Callable[[], _Result], *, directory_fd: int, programs: Sequence[str | bytes]) -> _Result:
    """Call `start` to start a child that can read only the directory and what programs need, and return its result.

    It runs in its own thread, because a restricted thread and its children stay restricted. Without Landlock the child
    is not confined. Exceptions of `start` propagate.
    """
    outcome: list[_Result | BaseException] = []

    def work() -> None:
        try:
            with suppress(OSError), _open_paths(programs) as descriptors:
                restrict_self([(fd, READ_FILE) for fd in (directory_fd, *descriptors)], files=READ_FILE)
            outcome.append(start())
        except BaseException as error:  # noqa: BLE001 -- raised again by the caller
            outcome.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    (result,) = outcome
    if isinstance(result, BaseException):
        raise result
    return result


@contextmanager
def _open_paths(programs: Sequence[str | bytes]) -> Generator[list[int]]:
    descriptors: list[int] = []
    try:
        for path in (*_SYSTEM_PATHS, *programs):
            with suppress(OSError):
                descriptors.append(os.open(path, O_PATH | os.O_CLOEXEC))
        yield descriptors
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
