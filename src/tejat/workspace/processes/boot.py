"""The present boot of the machine: its id, and a clock that all processes share."""

import sys
import time
from functools import cache

_CLOCK = time.CLOCK_BOOTTIME if sys.platform == "linux" else time.CLOCK_MONOTONIC


@cache
def boot_id() -> str:
    """Return an id of this boot of the machine, "" if the system has none."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""


def seconds_since_boot() -> float:
    """Return a time that never goes back during a boot, the same in all processes."""
    return time.clock_gettime(_CLOCK)
