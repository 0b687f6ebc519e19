"""The workspace directories, and all access to files in them."""

import errno
import os
import stat
from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

from tejat.core.errors import UsageError, WorkspaceError
from tejat.core.i18n import lazy
from tejat.core.text.one_or_many import OnePathOrMany, list_paths
from tejat.workspace.files.handles.created_directories import ParentDirectory, make_directories
from tejat.workspace.files.handles.open_file import CachedFile, Location, OpenDirectory, OpenFile, join_path
from tejat.workspace.files.openat import (
    BeneathOpener,
    PathResolution,
    PathWalk,
    RootDirectory,
    refuse_kernel_filesystem,
    stat_entry,
)
from tejat.workspace.files.path_errors import (
    PathPurpose,
    check_path_text,
    not_a_file_error,
    outside_workspace_error,
    path_error,
)

if TYPE_CHECKING:
    from tejat.workspace.plan_directory import PlanDirectory

_MAX_LOCATED = 512
"""Paths whose locations are kept: a call looks up its path at each of its steps."""


class Roots:
    """The workspace directories, each held open.

    Every method that takes a location or a path raises WorkspaceError with the path as the caller gave it. Common to
    all: PATH_NOT_IN_WORKSPACE (a link leads out), FILE_NOT_FOUND, PERMISSION_DENIED (also for every object on proc,
    sysfs and the like), READ_CONTENT_FAILURE (link loops and other system errors; in `open_parent` FILE_WRITE_FAILURE).
    `plans` is the directory of plan files, None if the session has none yet.
    """

    __slots__ = (
        "_beneath",
        "_for_reading",
        "_located",
        "_opener",
        "_plans",
        "_read_only",
        "_spellings",
        "directories",
        "paths",
    )

    def __init__(
        self,
        directories: OnePathOrMany,
        *,
        for_reading: OnePathOrMany = (),
        opener: PathResolution = PathResolution.KERNEL,
    ) -> None:
        """Open the directories; duplicates are merged. Raises UsageError for one that is missing or not a directory.

        Directories `for_reading` are not part of the workspace: their files can be read by absolute path only.
        """
        workspace_paths, reading_paths = list_paths(directories), list_paths(for_reading)
        if not workspace_paths:
            raise UsageError(lazy("At least one workspace directory is needed."))
        spellings: dict[str, RootDirectory] = {}
        roots: list[RootDirectory] = []
        try:
            for directory in workspace_paths:
                _open_root(directory, roots, spellings)
            working = len(roots)
            for directory in reading_paths:
                _open_root(directory, roots, spellings)
        except BaseException:
            _close_all(roots)
            raise
        self._opener = opener
        self._plans: PlanDirectory | None = None
        self._located: dict[str, Location] = {}
        self._for_reading = tuple(roots[working:])
        self._read_only: tuple[RootDirectory, ...] = ()
        self._set_roots(tuple(roots[:working]), spellings)

    def add(self, directories: OnePathOrMany) -> tuple[RootDirectory, ...]:
        """Add workspace directories and return the new ones. Raises UsageError, adding none."""
        new, spellings = self._open_more(list_paths(directories))
        self._set_roots((*self.directories, *new), spellings)
        return new

    def add_read_only(self, directory: str) -> None:
        """Let a directory be read, listed and searched, by absolute path, but not written to.

        It may lie in a workspace directory. Raises UsageError.
        """
        new, spellings = self._open_more((directory,))
        self._read_only += new
        self._set_roots(self.directories, spellings)

    def _open_more(self, directories: Sequence[str]) -> tuple[tuple[RootDirectory, ...], dict[str, RootDirectory]]:
        known = [*self.directories, *self._for_reading, *self._read_only]
        roots, spellings = list(known), dict(self._spellings)
        try:
            for directory in directories:
                _open_root(directory, roots, spellings)
        except BaseException:
            _close_all(roots[len(known) :])
            raise
        return tuple(roots[len(known) :]), spellings

    def _set_roots(self, directories: tuple[RootDirectory, ...], spellings: dict[str, RootDirectory]) -> None:
        prefixes = sorted(spellings.items(), key=lambda item: len(item[0]), reverse=True)
        self._spellings, self._beneath = spellings, BeneathOpener(prefixes, self._opener)
        self.directories = directories
        self.paths = tuple(root.path for root in directories)
        self._located.clear()

    @property
    def plans(self) -> "PlanDirectory | None":
        return self._plans

    @plans.setter
    def plans(self, plans: "PlanDirectory | None") -> None:
        self._plans = plans
        self._located.clear()

    @property
    def first(self) -> RootDirectory:
        """The root of relative paths."""
        return self.directories[0]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the directories. Files opened beneath them stay open."""
        _close_all(self.directories)
        _close_all(self._for_reading)
        _close_all(self._read_only)
        if self.plans is not None:
            self.plans.close()

    def locate(self, path: str, *, base: Location | None = None) -> Location:
        """Find the location of a path by its text; nothing is decoded or expanded.

        A relative path is relative to `base`, else to the first root, or to another root if it exists only there. The
        name of a plan file that exists in no root means the directory of plan files while that can be written. A
        leading `@` is dropped if that alone makes the path exist. Raises WorkspaceError: PATH_NOT_IN_WORKSPACE, and
        INVALID_TOOL_PARAMS for an impossible path (too long, not encodable, a NUL in it).
        """
        known = self._located.get(path) if base is None else None
        return known or self._locate(path, base)

    def _locate(self, path: str, base: Location | None) -> Location:
        check_path_text(path)
        if self._is_only_text(path, base):
            location = self._resolve_text(path, base)
            if len(self._located) >= _MAX_LOCATED:
                self._located.clear()
            self._located[path] = location
            return location
        location = self._resolve_text(path, base)
        if not path.startswith("@") or self._exists(location) is not False:
            return location
        try:
            without = self._resolve_text(path[1:], base)
        except WorkspaceError:
            return location
        return without if self._exists(without) else location

    def open_file(self, location: Location) -> OpenFile:
        """Open a regular file for reading, without blocking.

        Raises WorkspaceError: SPECIAL_FILE for a FIFO, socket or device, TARGET_IS_DIRECTORY, FILE_NOT_FOUND also if a
        parent is a file.
        """
        try:
            if self.plans is not None and location.root is self.plans.root:
                fd, status = self.plans.open_file(location.relative)
            else:
                fd, status = self._beneath.open(location.root, location.relative, os.O_RDONLY)
        except OSError as error:
            raise self._failure(error, location, PathPurpose.READ) from error
        if not stat.S_ISREG(status.st_mode):
            os.close(fd)
            raise not_a_file_error(location.path, status)
        return OpenFile(fd, location, status)

    def open_cached(self, location: Location, *, limit: int) -> CachedFile | None:
        """Open and read a regular file of at most `limit` bytes if the system need not wait for anything.

        None otherwise: it may be on a network, on the disk only, too large, missing or forbidden, which `open_file`
        finds out.
        """
        found = self._beneath.read_cached(location.root, location.relative, limit)
        return None if found is None else CachedFile(found[0], location, *found[1:])

    def open_directory(self, location: Location) -> OpenDirectory:
        """Open a directory for listing. Raises WorkspaceError: PATH_IS_NOT_A_DIRECTORY, also if a parent is a file."""
        if location.root in self._for_reading:
            raise outside_workspace_error(location.path, self.paths)
        try:
            fd, status = self._beneath.open(location.root, location.relative, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            raise self._failure(error, location, PathPurpose.LIST) from error
        return OpenDirectory(fd, location, status)

    def open_parent(self, location: Location, *, create: bool) -> ParentDirectory:
        """Open the parent directory of a file, existing or not, after following all links, dangling ones too.

        With `create` missing directories are created; without it nothing is changed. Raises WorkspaceError:
        TARGET_IS_DIRECTORY, SPECIAL_FILE, NO_SPACE_LEFT, FILE_WRITE_FAILURE if a parent is a file. After an error no
        created directory is left.
        """
        if location.root in (*self._for_reading, *self._read_only):
            raise outside_workspace_error(location.path, self.paths)
        if self.plans is not None and location.root is self.plans.root:
            if not self.plans.is_writable:
                raise outside_workspace_error(location.path, self.paths)
            created, resolved = self.plans.open_for_writing(location.relative), self._real_location(location)
            return ParentDirectory(created, location.relative, resolved, ())
        try:
            with PathWalk(self._beneath, location.root, location.relative) as walk:
                status = _stat_target(walk)
                if status is not None and not stat.S_ISREG(status.st_mode):
                    raise not_a_file_error(location.path, status)
                refuse_kernel_filesystem(walk.fd)
                *missing, name = reversed(walk.pending)
                resolved = self._real_location(Location(walk.root, "/".join([*walk.trail, *missing, name])))
                if resolved.root in self._read_only:  # through a link
                    raise outside_workspace_error(location.path, self.paths)
                created = make_directories(walk.fd, missing if create else ())
        except OSError as error:
            raise self._failure(error, location, PathPurpose.WRITE) from error
        return ParentDirectory(created, name, resolved, () if create else tuple(missing))

    def stat(self, location: Location) -> os.stat_result:
        """Stat after following all links. FILE_NOT_FOUND also if a parent is a file."""
        try:
            return self._beneath.stat(location.root, location.relative)
        except OSError as error:
            raise self._failure(error, location, PathPurpose.READ) from error

    def _is_only_text(self, path: str, base: Location | None) -> bool:
        """Whether the location of a path does not depend on what exists: it stays the same as long as the roots do."""
        has_one_meaning = path.startswith("/") or len(self.directories) == 1
        return has_one_meaning and base is None and self._plans is None and not path.startswith("@")

    def _resolve_text(self, text: str, base: Location | None) -> Location:
        if text.startswith("/"):
            return self._match_root(text, text)
        if base is not None:
            return self._match_root(join_path(base.path, text), text)
        location = self._match_root(join_path(self.first.path, text), text)
        plan = self.plans is not None and self.plans.names_file(text) and Location(self.plans.root, text)
        if (len(self.directories) == 1 and not plan) or self._exists(location) is not False:
            return location
        others = [self._beneath.match(_absolute(join_path(root.path, text))) for root in self.directories[1:]]
        existing = {Location(*other) for other in others if other is not None and self._exists(Location(*other))}
        return existing.pop() if len(existing) == 1 else (not existing and plan) or location

    def _match_root(self, path: str, spelled: str) -> Location:
        name = None if self.plans is None else self.plans.file_name(_absolute(path))
        if self.plans is not None and name is not None:
            return Location(self.plans.root, name)
        found = self._beneath.match(_absolute(path))
        if found is None:
            raise outside_workspace_error(spelled, self.paths)
        return Location(*found)

    def _real_location(self, location: Location) -> Location:
        # Through the real path, so that one file has one location even where roots lie in one another.
        found = self._beneath.match(join_path(location.root.real_path, location.relative))
        return location if found is None else Location(*found)

    def _exists(self, location: Location) -> bool | None:
        """Whether there is something; None if that cannot be found out."""
        try:
            self._beneath.stat(location.root, location.relative)
        except OSError as error:
            return False if error.errno in (errno.ENOENT, errno.ENOTDIR) else None
        return True

    def _failure(self, error: OSError, location: Location, purpose: PathPurpose) -> WorkspaceError:
        if error.errno == errno.EXDEV:
            return outside_workspace_error(location.path, self.paths)
        return path_error(error, location.path, purpose=purpose)


def _open_root(directory: str, roots: list[RootDirectory], spellings: dict[str, RootDirectory]) -> None:
    try:
        root = RootDirectory(_absolute(directory or "\0"))
    except ValueError as error:  # it is empty, or contains a NUL or a lone surrogate
        raise UsageError(lazy("Not a valid workspace directory: {path!r}", path=directory)) from error
    except OSError as error:
        message = lazy("Cannot use workspace directory {path}: {why}", path=directory, why=error.strerror)
        raise UsageError(message) from error
    known = next((other for other in roots if os.path.samestat(os.fstat(other.fd), os.fstat(root.fd))), None)
    if known is None:
        roots.append(root)
    else:
        root.close()
    for spelling in (root.path, root.real_path):
        spellings.setdefault(f"{spelling.rstrip('/')}/", known or root)


def _close_all(roots: Sequence[RootDirectory]) -> None:
    for root in roots:
        root.close()


def _absolute(path: str) -> str:
    normal = os.path.abspath(path)
    return normal[1:] if normal.startswith("//") else normal


def _stat_target(walk: PathWalk) -> os.stat_result | None:
    """Return the stat at the end of the walk, None if it or a parent does not exist."""
    try:
        return walk.resolve(stat_entry)
    except FileNotFoundError:
        # A link through a missing directory and out of it again: nothing can be created for it.
        if ".." in walk.pending or "." in walk.pending:
            raise
        return None
