"""Starts programs that the kernel keeps from reading files outside a directory, whatever is swapped under them."""

import ctypes
import os
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from typing import TypeVar

_Result = TypeVar("_Result")

# What programs are loaded from. Nobody keeps secrets there.
_LIBRARIES = ("/bin", "/lib", "/lib64", "/usr/bin", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache", "/dev/null")

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every processor
_READ_FILE = 4
_PATH_BENEATH = 1
_SET_NO_NEW_PRIVILEGES = 38


def start_confined(start: Callable[[], _Result], *, directory_fd: int, programs: Sequence[str | bytes]) -> _Result:
    """What `start` returns, which starts a child that can read only beneath the directory and what programs need.

    Done by a thread of its own, because a thread that was locked in (Landlock) stays so, as do its children. Where the
    kernel has no Landlock the child is not confined. What `start` raises goes through.
    """
    outcome: list[_Result | BaseException] = []

    def work() -> None:
        try:
            with suppress(OSError), _opened(programs) as descriptors:
                _lock_in([directory_fd, *descriptors])
            outcome.append(start())
        except BaseException as error:  # noqa: BLE001 -- raised again where somebody waits for it
            outcome.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    (result,) = outcome
    if isinstance(result, BaseException):
        raise result
    return result


@contextmanager
def _opened(programs: Sequence[str | bytes]) -> Generator[list[int]]:
    descriptors: list[int] = []
    try:
        for path in (*_LIBRARIES, *programs):
            with suppress(OSError):
                descriptors.append(os.open(path, os.O_PATH | os.O_CLOEXEC))
        yield descriptors
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


class _RulesetAttributes(ctypes.Structure):
    _fields_ = (("handled_access_fs", ctypes.c_uint64),)


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


def _lock_in(readable: Sequence[int]) -> None:
    """Let this thread read only the files beneath these descriptors. Raises OSError where the kernel cannot do that."""
    if sys.platform != "linux":
        return
    attributes = _RulesetAttributes(_READ_FILE)
    ruleset = _system_call(_CREATE_RULESET, ctypes.byref(attributes), ctypes.c_size_t(ctypes.sizeof(attributes)), 0)
    try:
        for descriptor in readable:
            rule = _PathBeneath(_READ_FILE, descriptor)
            _system_call(_ADD_RULE, ruleset, _PATH_BENEATH, ctypes.byref(rule), 0)
        if _libc.prctl(_SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "no new privileges")
        _system_call(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _system_call(*arguments: object) -> int:
    answer: int = _libc.syscall(*arguments)
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return answer


_libc = ctypes.CDLL(None, use_errno=True)
