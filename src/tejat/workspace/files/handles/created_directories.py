"""Creation of nested directories below an open one, with rollback."""

import os
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from tejat.workspace.files.openat import open_entry
from tejat.workspace.files.system_calls import O_TRAVERSE

if TYPE_CHECKING:
    from tejat.workspace.files.roots import Location


def make_directories(fd: int, names: Sequence[str]) -> "CreatedDirectories":
    """Create nested directories, starting in `fd`, and open the innermost one. Existing directories are entered.

    `fd` stays open. Raises OSError after removing the directories created so far: ENOTDIR if something other than a
    directory appears, and the errors of mkdir.
    """
    created = CreatedDirectories(fd)
    try:
        for name in names:
            created.make_and_enter(name)
        created.reopen_readable()
    except BaseException:
        created.remove()
        created.close()
        raise
    return created


class CreatedDirectories:
    """Newly created directories. `fd` is the innermost one; `remove` removes those that are still empty."""

    __slots__ = ("_base", "_names", "fd")

    def __init__(self, fd: int) -> None:
        self._base = os.dup(fd)
        self._names: list[str] = []
        self.fd = os.dup(fd)

    def make_and_enter(self, name: str) -> None:
        """Create a directory in the innermost one if it is missing, and enter it."""
        try:
            os.mkdir(name, 0o777, dir_fd=self.fd)
            ours = True
        except FileExistsError:
            ours = False
        if ours:
            self._names.append(name)
        self._set_directory(open_entry(self.fd, name, O_TRAVERSE))
        if not ours:
            # Another process created this one, so its parents stay.
            self._names.clear()
            os.close(self._base)
            self._base = os.dup(self.fd)

    def remove(self) -> None:
        """Remove the created directories, innermost first, up to the first that is in use."""
        while self._names:
            name = self._names.pop()
            try:
                _remove_directory(self._base, self._names, name)
            except OSError:
                self._names.clear()

    def reopen_readable(self) -> None:
        """Reopen `fd` so that it can be listed and synced, if permissions allow it."""
        with suppress(PermissionError):
            self._set_directory(os.open(".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=self.fd))

    def close(self) -> None:
        """Close the descriptors. A second call does nothing."""
        if self.fd >= 0:
            os.close(self._base)
            os.close(self.fd)
            self.fd = -1

    def _set_directory(self, fd: int) -> None:
        os.close(self.fd)
        self.fd = fd


def _remove_directory(base: int, outer: Sequence[str], name: str) -> None:
    directory = os.dup(base)
    try:
        for component in outer:
            following = open_entry(directory, component, O_TRAVERSE)
            os.close(directory)
            directory = following
        os.rmdir(name, dir_fd=directory)
    finally:
        os.close(directory)


class ParentDirectory:
    """The directory in which a file is or would be written, after following all links.

    `name` is the last component, not a link when it was resolved. `location` is that of the file itself, the same for
    every link to it. `fd` is the parent directory or, while some are `missing`, the deepest existing one; it can be
    synced if the directory is readable.
    """

    __slots__ = ("_made", "location", "missing", "name")

    def __init__(self, created: CreatedDirectories, name: str, location: "Location", missing: tuple[str, ...]) -> None:
        self._made = created
        self.name = name
        self.location = location
        self.missing = missing

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def fd(self) -> int:
        return self._made.fd

    def remove_created(self) -> None:
        """Remove the directories that `open_parent` created, as far as they are empty."""
        self._made.remove()

    def close(self) -> None:
        """Close the descriptors, leaving created directories. A second call does nothing."""
        self._made.close()
