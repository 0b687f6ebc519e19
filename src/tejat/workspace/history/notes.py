"""What went wrong with keeping, written down for whoever asks later."""

import os
import time
from collections.abc import Sequence

from tejat.workspace.history.private_directory import PrivateDirectory, append, read_from

_NAME = "notes"
_MOST = 20
_LONGEST = 500


def read_notes(directory: PrivateDirectory) -> list[str]:
    """The notes, oldest first, each with its day. Raises OSError."""
    try:
        descriptor = directory.open(_NAME, os.O_RDONLY)
    except (FileNotFoundError, NotADirectoryError):
        return []
    try:
        content = read_from(descriptor, 0, os.fstat(descriptor).st_size)
    finally:
        os.close(descriptor)
    return content.decode("utf-8", "replace").splitlines()


def write_notes(directory: PrivateDirectory, texts: Sequence[str]) -> None:
    """Add notes; old ones make room, and none is there twice. The lock must be held. Raises OSError."""
    day = time.strftime("%Y-%m-%d")
    new = [f"{day} {' '.join(text.split())[:_LONGEST]}" for text in texts]
    kept = [line for line in read_notes(directory) if line not in new]
    lines = [*kept, *new][-_MOST:]
    with directory.replacing(_NAME) as descriptor:
        append(descriptor, "".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))
