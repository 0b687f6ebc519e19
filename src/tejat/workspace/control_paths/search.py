"""Search for control paths at every depth below the roots."""

import os
import time
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from tejat.core.frozen import Frozen
from tejat.workspace.control_paths.git_config import configured_paths
from tejat.workspace.control_paths.names import GIT_DIRECTORY, ControlNames

MAX_DIRECTORIES = 50_000
"""Directories that a search looks into, outer ones first."""

REPOSITORIES_IN_GIT = ("modules", "worktrees")
"""Directories for further repositories in a git directory; the rest of it holds none."""

# Package managers fill and empty these. They are too large to be looked through around every command.
_PACKAGE_DIRECTORIES = frozenset({"node_modules", "bower_components", "site-packages"})
# What git takes for a repository, whatever the name of the directory.
_BARE_REPOSITORIES = (frozenset({"HEAD", "objects", "refs"}), frozenset({"HEAD", "commondir"}))
# A change within this time of another one may leave the same time stamp.
_TIMESTAMP_GRANULARITY = 2_000_000_000


class FoundControlPaths(Frozen):
    """Existing control paths, absolute, outer ones first.

    `git_directories` are repositories, `.git` or bare. `paths` are all others: files, directories and links, also those
    that the configuration of a repository names.
    `unreadable` are directories of this user that may contain more. `is_complete` is false if there were too many
    directories.
    """

    git_directories: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()
    is_complete: bool = True

    def all_paths(self) -> tuple[str, ...]:
        return (*self.git_directories, *self.paths, *self.unreadable)


class ControlPathSearch:
    """Search that remembers directories from one run to the next: one that has not changed is not read again."""

    def __init__(self, names: ControlNames, *, limit: int = MAX_DIRECTORIES) -> None:
        self._names = names
        self._limit = limit
        self._listings: dict[str, _Listing] = {}

    def run(self, roots: Sequence[str]) -> FoundControlPaths:
        """Return what is there now. Links are not followed. Raises nothing."""
        search = _Search(self._names, self._listings)
        is_complete = search.run(roots, self._limit)
        for directory in search.git_directories:
            search.paths.update(dict.fromkeys(configured_paths(directory)))
        self._listings = search.listings
        return FoundControlPaths(
            tuple(search.git_directories), tuple(search.paths), tuple(search.unreadable), is_complete
        )


class _Listing(NamedTuple):
    """What matters of a directory. `identity` is None if it may change without a new time stamp."""

    identity: tuple[int, int, int] | None
    directories: tuple[str, ...]
    git_directories: tuple[str, ...]
    paths: tuple[str, ...]
    is_readable: bool = True


class _Search:
    def __init__(self, names: ControlNames, known: "dict[str, _Listing]") -> None:
        self._names = names
        self._known = known
        self.listings: dict[str, _Listing] = {}
        self.git_directories: dict[str, None] = {}
        self.paths: dict[str, None] = {}
        self.unreadable: list[str] = []

    def run(self, roots: Sequence[str], limit: int) -> bool:
        """Search and return whether everything was looked at."""
        pending = deque(roots)
        # This loop runs around every command: no avoidable calls.
        listings, known, next_directory, lstat = self.listings, self._known, pending.popleft, os.lstat
        while pending:
            directory = next_directory()
            if directory in listings:
                continue  # a root in a root
            if len(listings) >= limit:
                return False
            try:
                status = lstat(directory)
            except OSError:
                continue
            listing = known.get(directory)
            if listing is None or listing.identity != (status.st_dev, status.st_ino, status.st_ctime_ns):
                listing = self._list(directory, status)
            listings[directory] = listing
            pending.extend(listing.directories)
            if listing.git_directories:
                self.git_directories.update(dict.fromkeys(listing.git_directories))
            if listing.paths:
                # Of a longer path only the first name is known to exist.
                self.paths.update(dict.fromkeys(filter(os.path.lexists, listing.paths)))
            if not listing.is_readable and status.st_uid == os.geteuid():
                self.unreadable.append(directory)  # a command could make it readable again
        return True

    def _list(self, directory: str, status: os.stat_result) -> _Listing:
        is_settled = status.st_ctime_ns < time.time_ns() - _TIMESTAMP_GRANULARITY
        identity = (status.st_dev, status.st_ino, status.st_ctime_ns) if is_settled else None
        try:
            with os.scandir(directory) as entries:
                kinds = {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}
            is_readable = os.access(directory, os.X_OK, effective_ids=True)
        except OSError:
            kinds, is_readable = {}, False
        if not is_readable:
            return _Listing(identity, (), (), (), is_readable=False)
        git_directories: list[str] = []
        if any(kinds.keys() >= marks for marks in _BARE_REPOSITORIES):
            git_directories.append(directory)
        by_first_name, prefix = self._names.by_first_name, directory.rstrip("/") + "/"
        found = [prefix + path for name in by_first_name.keys() & kinds.keys() for path in by_first_name[name]]
        inner = [
            prefix + name
            for name, is_directory in kinds.items()
            if is_directory and name not in _PACKAGE_DIRECTORIES and by_first_name.get(name) != (name,)
        ]
        if GIT_DIRECTORY in kinds:
            own = prefix + GIT_DIRECTORY
            if kinds[GIT_DIRECTORY]:
                git_directories.append(own)
                inner.remove(own)
                inner += [f"{own}/{name}" for name in REPOSITORIES_IN_GIT]
            else:
                found.append(own)
        return _Listing(identity, tuple(inner), tuple(git_directories), tuple(found))
