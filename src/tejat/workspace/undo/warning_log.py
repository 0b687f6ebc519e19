"""Recent warnings of the undo store, kept on disk."""

import time
from collections.abc import Sequence

from tejat.workspace.undo.private_directory import PrivateDirectory, append_bytes

_NAME = "notes"
_MAX_LINES = 20
_MAX_LENGTH = 500


def read_warnings(directory: PrivateDirectory) -> list[str]:
    """Return the warnings, oldest first, each with its date. Raises OSError."""
    try:
        return directory.read(_NAME).decode("utf-8", "replace").splitlines()
    except (FileNotFoundError, NotADirectoryError):
        return []


def write_warnings(directory: PrivateDirectory, texts: Sequence[str]) -> None:
    """Add warnings, replacing duplicates and the oldest. Requires the lock. Raises OSError."""
    day = time.strftime("%Y-%m-%d")
    new = [f"{day} {' '.join(text.split())[:_MAX_LENGTH]}" for text in texts]
    kept = [line for line in read_warnings(directory) if line not in new]
    text = "".join(f"{line}\n" for line in [*kept, *new][-_MAX_LINES:])
    with directory.replace_file(_NAME) as descriptor:
        append_bytes(descriptor, text.encode("utf-8", "replace"))
