"""Finding processes of a test by a unique argument."""

import os
from contextlib import suppress
from pathlib import Path


def new_mark() -> str:
    """A unique argument, which is also a sleep time longer than any test."""
    return f"9{int.from_bytes(os.urandom(5))}.5"


def living_pids(mark: str) -> list[int]:
    """The processes with this argument."""
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
