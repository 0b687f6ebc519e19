"""Opening a directory beneath another without following links."""

import os
from collections.abc import Generator
from contextlib import contextmanager

_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def open_directory_nofollow(root: int, relative: str) -> Generator[int]:
    """Open a directory; "" is the root itself. Raises OSError, also if a component is a link."""
    opened = os.open(".", _FLAGS, dir_fd=root)
    try:
        for name in relative.split("/") if relative else ():
            following = os.open(name, _FLAGS, dir_fd=opened)
            os.close(opened)
            opened = following
        yield opened
    finally:
        os.close(opened)
