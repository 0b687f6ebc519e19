"""Finds the processes that a test started by a word in their arguments that nobody else has."""

import os
from contextlib import suppress
from pathlib import Path


def new_mark() -> str:
    """Also a length of time to sleep, longer than any test."""
    return f"9{int.from_bytes(os.urandom(5))}.5"


def living_pids(mark: str) -> list[int]:
    """The processes with this word in their arguments."""
    found: list[int] = []
    for name in os.listdir("/proc"):
        with suppress(OSError):
            if name.isdecimal() and mark.encode() in Path(f"/proc/{name}/cmdline").read_bytes():
                found.append(int(name))
    return found
