"""Processes that a test has started, found by a unique word in their arguments."""

import os
from contextlib import suppress
from pathlib import Path


def new_mark() -> str:
    """Create a unique word, which is also a sleep time longer than any test."""
    return f"9{int.from_bytes(os.urandom(5))}.5"


def living_pids(mark: str) -> list[int]:
    """Find the processes with this word in their arguments."""
    found: list[int] = []
    for name in os.listdir("/proc"):
        with suppress(OSError):
            if name.isdecimal() and mark.encode() in Path(f"/proc/{name}/cmdline").read_bytes():
                found.append(int(name))
    return found


def is_alive(pid: int) -> bool:
    """Check that a process exists and is not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z"
    except OSError:
        return False
