"""Detection of commands that fork without end, while the machine can still start processes.

RLIMIT_NPROC does not apply to root, and for other users it counts processes from elsewhere.
"""

import os

_TASKS = "/proc/loadavg"
_LIMITS = ("/proc/sys/kernel/pid_max", "/proc/sys/kernel/threads-max")


class ForkBombDetector:
    """Detector that triggers when the machine has more than `most` tasks, by default half of the system's limit."""

    def __init__(self, max_tasks: int | None = None) -> None:
        self._max_tasks = _default_max_tasks() if max_tasks is None else max_tasks

    @property
    def is_triggered(self) -> bool:
        """Whether there are too many tasks. Cheap to read; always false where the system does not report them."""
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
