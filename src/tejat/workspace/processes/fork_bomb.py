"""Notices that commands multiply without end while something else can still be started.

A limit on processes (RLIMIT_NPROC) does not hold for root, and for others it counts what they do elsewhere.
"""

import os

_TASKS = "/proc/loadavg"
_LIMITS = ("/proc/sys/kernel/pid_max", "/proc/sys/kernel/threads-max")


class ForkBombDetector:
    """How full the machine is. `most` are the tasks, of all processes, from which on it is too full."""

    def __init__(self, most: int | None = None) -> None:
        self._max_tasks = _default_max_tasks() if most is None else most

    @property
    def is_triggered(self) -> bool:
        """Cheap enough to ask often. Where the system does not tell, it never is."""
        try:
            with open(_TASKS, encoding="ascii") as file:
                return self._max_tasks > 0 and int(file.read().split()[3].partition("/")[2]) > self._max_tasks
        except (OSError, ValueError, IndexError):
            return False


def _default_max_tasks() -> int:
    limits: list[int] = []
    for path in filter(os.path.exists, _LIMITS):
        with open(path, encoding="ascii") as file:
            limits.append(int(file.read()))
    return min(limits, default=0) // 2
