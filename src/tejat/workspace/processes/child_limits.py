"""What a command may use up: set in its keeper just before it starts, and inherited by all that descends from it.

There is no limit on memory: the one that would be right (RLIMIT_DATA) also counts what is only reserved, and programs
built with a sanitizer reserve terabytes. Instead a command is the first to go when the machine runs out.
"""

import os
import resource

_MAX_FILE_SIZE = 1 << 37
_MAX_STEP = 1 << 16
_MAX_PROCESSES = 16384
_CHILD_OOM_SCORE = 500


class ChildLimits:
    """What a command may use up. Its largest file is unlike that of any other command, and not to be guessed."""

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
        """Set what the next child inherits. Returns its largest file, lower than every one before: it cannot rise."""
        step = 1 + int.from_bytes(os.urandom(4)) % min(_MAX_STEP, self._file_size // _MAX_STEP + 1)
        self._file_size = max(self._least, self._file_size - step)
        resource.setrlimit(resource.RLIMIT_FSIZE, (self._file_size, self._file_size))
        if self._score is not None and int(self._own_score) < _CHILD_OOM_SCORE:
            os.pwrite(self._score, b"%d" % _CHILD_OOM_SCORE, 0)
        return self._file_size

    def restore(self) -> None:
        """When memory runs out, a command goes before its keeper."""
        if self._score is not None:
            os.pwrite(self._score, self._own_score, 0)


def _open_oom_score() -> int | None:
    try:
        return os.open("/proc/self/oom_score_adj", os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None
