"""Resource limits that the supervisor sets before it starts a command; all its descendants inherit them.

There is no memory limit: RLIMIT_DATA also counts reserved memory, and programs built with a sanitizer reserve
terabytes. Instead the OOM killer picks commands first.
"""

import os
import resource
import struct
import sys

from tejat.workspace.sandbox.libc import Pinned, call

_MAX_FILE_SIZE = 1 << 37
_MAX_STEP = 1 << 16
_MAX_PROCESSES = 16384
_CHILD_OOM_SCORE = 500
_SET_SECCOMP = 22
_FILTER = 2
_ALLOW_ALL = struct.pack("=HBBI", 6, 0, 0, 0x7FFF0000)
"""One instruction of classic BPF: return, and allow the call."""


class ChildLimits:
    """Resource limits for commands. A unique, unpredictable file size limit identifies each command."""

    def __init__(self) -> None:
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        largest = _MAX_FILE_SIZE if hard == resource.RLIM_INFINITY else min(hard, _MAX_FILE_SIZE)
        self._file_size = largest - int.from_bytes(os.urandom(8)) % (largest // 4 + 1)
        self._least = self._file_size // 2
        _, hard = resource.getrlimit(resource.RLIMIT_NPROC)
        if hard == resource.RLIM_INFINITY or hard > _MAX_PROCESSES:
            resource.setrlimit(resource.RLIMIT_NPROC, (_MAX_PROCESSES, hard))
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        self._score = _open_oom_score()
        self._own_score = os.read(self._score, 16) if self._score is not None else b""

    def apply(self) -> int:
        """Set what the next child inherits. Return its file size limit, which is lower than all before it."""
        step = 1 + int.from_bytes(os.urandom(4)) % min(_MAX_STEP, self._file_size // _MAX_STEP + 1)
        self._file_size = max(self._least, self._file_size - step)
        resource.setrlimit(resource.RLIMIT_FSIZE, (self._file_size, self._file_size))
        if self._score is not None and int(self._own_score) < _CHILD_OOM_SCORE:
            os.pwrite(self._score, b"%d" % _CHILD_OOM_SCORE, 0)
        return self._file_size

    def restore(self) -> None:
        """Restore the supervisor's own OOM score, so that commands are killed before it."""
        if self._score is not None:
            os.pwrite(self._score, self._own_score, 0)


def mark_commands() -> None:
    """Mark this process and all that it starts with a filter of system calls that allows everything.

    Only root gets it, who could raise the limit of file sizes again. Nobody can remove a filter. Without the right to
    set one, commands have no right to raise limits either, except in unusual containers.
    """
    if sys.platform == "linux" and os.geteuid() == 0:
        instructions = Pinned(_ALLOW_ALL)
        program = struct.pack("@HP", 1, instructions.address)
        try:
            call("prctl", _SET_SECCOMP, _FILTER, program, 0, 0)
        except OSError:
            return


def _open_oom_score() -> int | None:
    try:
        return os.open("/proc/self/oom_score_adj", os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None
