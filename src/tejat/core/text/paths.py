"""Containment of absolute paths, judged by text alone."""

from collections.abc import Iterable


def is_beneath(path: str, directory: str) -> bool:
    """Return whether the path is the directory or lies in it."""
    return path == directory or path.startswith(directory.rstrip("/") + "/")


def is_beneath_any(path: str, directories: Iterable[str]) -> bool:
    """Return whether the path is one of the directories or lies in one."""
    for directory in directories:  # noqa: SIM110 -- thousands of paths are judged for one command line
        if is_beneath(path, directory):
            return True
    return False
