"""Telling whether a file was written."""

import os
from pathlib import Path


def file_version(path: str | Path) -> tuple[int, int, int, int]:
    """A value that changes when the file is written or replaced, and stays when it is only read.

    Two results of `os.stat` cannot be compared for that: the kernel moves the time of access when the file is read.
    """
    status = os.stat(path)
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
