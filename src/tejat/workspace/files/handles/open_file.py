"""Locations beneath the roots, and the files and directories opened there."""

import os
import sys
from typing import Self

from tejat.core.errors import ErrorType, WorkspaceError
from tejat.core.frozen import Frozen
from tejat.workspace.files.openat import RootDirectory
from tejat.workspace.files.system_calls import kernel_path

_CHUNK = 65536


class Location(Frozen):
    """A path beneath a root, as text; nothing is known about the file itself.

    `relative` has no `..`, `.` or empty component and no slash at either end; "" is the root.
    """

    root: RootDirectory
    relative: str

    @property
    def path(self) -> str:
        """The absolute path, with the root as the user spelled it."""
        return join_path(self.root.path, self.relative)


class OpenHandle:
    """An open descriptor with its location and its fstat at opening; a context manager."""

    __slots__ = ("fd", "location", "status")

    def __init__(self, fd: int, location: Location, status: os.stat_result) -> None:
        self.fd = fd
        self.location = location
        self.status = status

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def real_path(self) -> str:
        """The current path according to the kernel. Raises WorkspaceError(READ_CONTENT_FAILURE) if unknown."""
        path = kernel_path(self.fd)
        if path is None:
            message = f"The system cannot tell the real path of {self.location.path}"
            raise WorkspaceError(message, ErrorType.READ_CONTENT_FAILURE, path=self.location.path)
        return path

    def fileno(self) -> int:
        """The descriptor, for functions that take file objects."""
        return self.fd

    def close(self) -> None:
        """Close the descriptor. A second call does nothing."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


class OpenFile(OpenHandle):
    """A regular file, open for reading."""

    __slots__ = ()

    def read(self, limit: int) -> bytes:
        """Read the first bytes of the file, at most `limit`. Raises WorkspaceError(READ_CONTENT_FAILURE)."""
        chunks: list[bytes] = []
        have = 0
        try:
            while have < limit:
                # The file may have grown; and a limit far above its size must not cost memory.
                expected = max(self.status.st_size - have, 0) or _CHUNK
                chunk = os.pread(self.fd, min(limit - have, expected), have)
                if not chunk:
                    break
                chunks.append(chunk)
                have += len(chunk)
        except OSError as error:
            message = f"{error.strerror}: {self.location.path}"
            raise WorkspaceError(message, ErrorType.READ_CONTENT_FAILURE, path=self.location.path) from error
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    def read_all(self) -> bytes:
        """Read the whole file up to its current end. Raises WorkspaceError(READ_CONTENT_FAILURE)."""
        return self.read(sys.maxsize)


class CachedFile(OpenFile):
    """A small regular file whose content was in memory when it was opened."""

    __slots__ = ("_content",)

    def __init__(self, fd: int, location: Location, status: os.stat_result, content: bytes) -> None:
        super().__init__(fd, location, status)
        self._content = content

    def read(self, limit: int) -> bytes:
        return self._content[:limit]


class OpenDirectory(OpenHandle):
    """A directory, open for `os.scandir(fd)` and as a `dir_fd`."""

    __slots__ = ()


def join_path(directory: str, relative: str) -> str:
    """The path of what lies beneath a directory, which may be `/`."""
    return f"{directory.rstrip('/')}/{relative}" if relative else directory
