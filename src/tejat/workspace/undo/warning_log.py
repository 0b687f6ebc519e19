"""Recent warnings of the undo store, kept on disk."""

import os
import time
from collections.abc import Sequence

from tejat.workspace.undo.private_directory import PrivateDirectory, append_bytes, read_bytes

_NAME = "notes"
_MAX_LINES = 20
_MAX_LENGTH = 500


def read_warnings(directory: PrivateDirectory) -> list[str]:
    """Return the warnings, oldest first, each with its date. Raises OSError."""
    try:
        descriptor = directory.open(_NAME, os.O_RDONLY)
    except (FileNotFoundError, NotADirectoryError):
        return []
    try:
        content = read_bytes(descriptor, 0, os.fstat(descriptor).st_size)
    finally:
        os.close(descriptor)
    return content.decode("utf-8", "replace").splitlines()


def write_warnings(directory: PrivateDirectory, texts: Sequence[str]) -> None:
    """Add warnings, replacing duplicates and the oldest. Requires the lock. Raises OSError."""
    day = time.strftime("%Y-%m-%d")
    new = [f"{day} {' '.join(text.split())[:_MAX_LENGTH]}" for text in texts]
    kept = [line for line in read_warnings(directory) if line not in new]
    lines = [*kept, *new][-_MAX_LINES:]
    with directory.replace_file(_NAME) as descriptor:
        append_bytes(descriptor, "".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))
