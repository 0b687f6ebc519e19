"""Opening paths beneath open root directories, resolved and opened in one step (openat2, RESOLVE_BENEATH)."""

import errno
import os
import stat
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import AnyStr, Self, TypeVar

from tejat.core.text.str_enum import StrEnum
from tejat.workspace.files.handles.cached_files import Storage, find_storage, open_cached, read_cached
from tejat.workspace.files.system_calls import O_PATH, O_TRAVERSE, is_on_kernel_filesystem, kernel_path, openat2

_Result = TypeVar("_Result")

_DIRECTORY_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_MAX_LINKS = 40  # as the Linux kernel has it
_MAX_STEPS = 10_000  # `x/../x/../..` in links must not cause unbounded work; the longest path has 2,048 components
_MAX_TYPE_CHANGES = 8  # how often an entry may change between link and non-link during a walk
# No such call; forbidden by a filter; an absolute link that may stay inside; a magic link or a loop; renames;
# a signal; a path too long for one call but not for steps.
_OPENAT2_FALLBACK_ERRORS = frozenset(
    (errno.ENOSYS, errno.EPERM, errno.EXDEV, errno.ELOOP, errno.EAGAIN, errno.EINTR, errno.ENAMETOOLONG)
)


class PathResolution(StrEnum):
    """How paths are resolved: by the kernel, with the component walk as fallback, or always by the walk."""

    KERNEL = "kernel"
    WALK = "walk"


class RootDirectory:
    """A directory held open, so that it stays the same object whatever is later put at its path."""

    __slots__ = ("_is_on_kernel_filesystem", "_storage", "device", "fd", "path", "real_path")

    def __init__(self, path: str) -> None:
        """`path` is absolute and normalised. Raises OSError if it is not a directory or cannot be opened."""
        self.path = path
        self.fd = os.open(path, O_TRAVERSE)
        self.real_path = kernel_path(self.fd) or os.path.realpath(path)
        self.device = os.fstat(self.fd).st_dev
        self._is_on_kernel_filesystem: bool | None = None
        self._storage: Storage | None = None

    @property
    def storage(self) -> Storage:
        """Where the files of the root are kept, as far as no other file system is mounted beneath it; cached."""
        if self._storage is None:
            self._storage = find_storage(self.fd)
        return self._storage

    @property
    def is_on_kernel_filesystem(self) -> bool:
        """Whether the root itself is on a kernel file system; cached. Raises OSError."""
        if self._is_on_kernel_filesystem is None:
            self._is_on_kernel_filesystem = is_on_kernel_filesystem(self.fd)
        return self._is_on_kernel_filesystem

    def close(self) -> None:
        """Close the descriptor. Later uses fail with EBADF, because a reused number must not mean another directory."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


class BeneathOpener:
    """Opens relative paths beneath roots. Links may lead from one root into another but never out of all of them.

    Every method raises OSError: EXDEV if a link leaves the roots, ELOOP for too many links, EACCES for objects on
    kernel file systems (proc, sysfs and the like), and the errors of the system calls.
    """

    __slots__ = ("_kernel", "_prefixes")

    def __init__(self, prefixes: Sequence[tuple[str, RootDirectory]], opener: PathResolution) -> None:
        """`prefixes` are the spellings of the roots, each with a trailing slash, longest first."""
        self._prefixes = prefixes
        self._kernel = opener is PathResolution.KERNEL

    def match(self, path: str) -> tuple[RootDirectory, str] | None:
        """Return the root that a normalised absolute path belongs to by its text, and the path below it."""
        slashed = path + "/"
        for prefix, root in self._prefixes:
            if slashed.startswith(prefix):
                return root, path[len(prefix) :]
        return None

    def open(self, root: RootDirectory, relative: str, flags: int) -> tuple[int, os.stat_result]:
        """Open without blocking (FIFO, lease) and without acquiring a terminal; return the descriptor and its fstat."""
        # openat2 rejects flags that have no meaning with O_PATH.
        flags |= os.O_CLOEXEC if flags & O_PATH else os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
        descriptor = self._open_with_openat2(root, relative, flags) if self._kernel else None
        if descriptor is None:
            descriptor = self._open_by_walk(root, relative, lambda directory, name: open_entry(directory, name, flags))
        try:
            status = os.fstat(descriptor)
            if status.st_dev != root.device or root.is_on_kernel_filesystem:
                refuse_kernel_filesystem(descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor, status

    def read_cached(self, root: RootDirectory, relative: str, limit: int) -> tuple[int, os.stat_result, bytes] | None:
        """Open and read a regular file if all of it is in memory: return its descriptor, fstat and content.

        None if it is larger than `limit`, or if anything else is in the way, which `open` finds out. Never raises.
        """
        if not self._kernel or root.storage is Storage.ELSEWHERE:
            return None
        descriptor = open_cached(root.fd, relative or ".", os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
        if descriptor is None:
            return None
        try:
            status = os.fstat(descriptor)
            if stat.S_ISREG(status.st_mode) and status.st_size <= limit:
                content = read_cached(descriptor, status.st_size, root.storage)
                if content is not None:
                    descriptor, kept = -1, descriptor
                    return kept, status, content
        except OSError:
            pass
        finally:
            if descriptor >= 0:
                os.close(descriptor)
        return None

    def stat(self, root: RootDirectory, relative: str) -> os.stat_result:
        """Stat the path after following all links."""
        if not O_PATH:
            return self._open_by_walk(root, relative, stat_entry)
        descriptor, status = self.open(root, relative, O_PATH)
        os.close(descriptor)
        return status

    def _open_with_openat2(self, root: RootDirectory, relative: str, flags: int) -> int | None:
        try:
            return openat2(root.fd, relative or ".", flags)
        except OSError as error:
            if error.errno in _OPENAT2_FALLBACK_ERRORS:
                return None
            raise

    def _open_by_walk(self, root: RootDirectory, relative: str, finish: Callable[[int, str], _Result]) -> _Result:
        with PathWalk(self, root, relative) as walk:
            return walk.resolve(finish)


class PathWalk:
    """Component-by-component resolution of a path that follows links only by reading their text.

    `fd` is the directory reached, `trail` its real components beneath `root`, `pending` the remaining components, next
    one last. It never leaves the roots: each step opens one plain name in an open directory without following links.
    """

    __slots__ = ("_beneath", "_links", "_patience", "_steps", "fd", "pending", "root", "trail")

    def __init__(self, beneath: BeneathOpener, root: RootDirectory, relative: str) -> None:
        self._beneath = beneath
        self._links = 0
        self._patience = _MAX_TYPE_CHANGES
        self._steps = 0
        self.root = root
        self.fd = root.fd
        self.trail: list[str] = []
        self.pending = _components(relative)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._set_directory(self.root.fd)

    def resolve(self, finish: Callable[[int, str], _Result]) -> _Result:
        """Apply `finish` to the last directory and component. It must not follow a link but raise ELOOP or ENOTDIR.

        On FileNotFoundError the walk stays in the deepest existing directory, with the missing component next in
        `pending`.
        """
        while True:
            name = self._descend()
            try:
                return finish(self.fd, name)
            except OSError as error:
                self._follow_link(name, error)

    def _descend(self) -> str:
        # Descend to the parent of the last component; "." if the path ends in that directory itself.
        while self.pending:
            name = self.pending[-1]
            if name == "..":
                self._go_up()
            elif name == ".":
                self.pending.pop()
            elif len(self.pending) == 1:
                return name
            else:
                self._descend_into(name)
        return "."

    def _follow_link(self, name: str, error: OSError) -> None:
        # Replace the link `name` with its text; raise `error` if it is not a link.
        if error.errno not in (errno.ELOOP, errno.ENOTDIR, errno.EMLINK) or name == ".":
            raise error
        try:
            target = os.readlink(name, dir_fd=self.fd)
        except OSError as unreadable:
            self._patience -= 1
            if unreadable.errno not in (errno.EINVAL, errno.ENOENT) or self._patience < 0:
                raise error from None
            return  # Not a link, perhaps not any more: retry.
        # A magic link's target is unrelated to its text; all of them are on kernel file systems.
        refuse_kernel_filesystem(self.fd)
        self._links += 1
        if self._links > _MAX_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name)
        self.pending.pop()
        ahead = _components(target)
        if not target.startswith("/"):
            self.pending += ahead
            return
        self._enter("/" + "/".join(reversed(ahead)))

    def _descend_into(self, name: str) -> None:
        self._steps += 1
        if self._steps > _MAX_STEPS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name)
        try:
            following = open_entry(self.fd, name, O_TRAVERSE)
        except OSError as error:
            self._follow_link(name, error)
            return
        self._set_directory(following)
        self.trail.append(name)
        self.pending.pop()

    def _go_up(self) -> None:
        # Never by opening "..": a directory moved elsewhere meanwhile would lead out. And no descriptor is kept for
        # each level: a deep tree has more levels than a process may have descriptors. So from the root, one level less.
        self.pending.pop()
        if not self.trail:
            # Refused unless the root is inside another root.
            if self.root.real_path == "/":
                raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), "/")
            self._enter(os.path.dirname(self.root.real_path))
            return
        kept = self.trail[:-1]
        while kept and self.pending and self.pending[-1] == "..":
            self.pending.pop()
            kept.pop()
        self._restart(self.root, kept[::-1])

    def _enter(self, path: str) -> None:
        found = self._beneath.match(path)
        if found is None:
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), path)
        root, relative = found
        self._restart(root, _components(relative))

    def _restart(self, root: RootDirectory, ahead: list[str]) -> None:
        self._set_directory(root.fd)
        self.root = root
        self.trail = []
        self.pending += ahead

    def _set_directory(self, fd: int) -> None:
        if self.fd != self.root.fd:
            os.close(self.fd)
        self.fd = fd


def refuse_kernel_filesystem(fd: int) -> None:
    """Raise PermissionError if the open file is on proc, sysfs or another kernel file system."""
    if is_on_kernel_filesystem(fd):
        raise PermissionError(errno.EACCES, "Files of the kernel, as in /proc and /sys, are never opened")


def open_entry(directory: int, name: str, flags: int) -> int:
    """Open one name in a directory. Raises OSError: ELOOP or ENOTDIR for a link."""
    descriptor = os.open(name, flags | os.O_NOFOLLOW, dir_fd=directory)
    # With O_PATH alone the link itself is opened.
    if flags & O_PATH and not flags & os.O_DIRECTORY and stat.S_ISLNK(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name)
    return descriptor


def stat_entry(directory: int, name: str) -> os.stat_result:
    """Stat one name in a directory. Raises OSError: ELOOP for a link."""
    status = os.stat(name, dir_fd=directory, follow_symlinks=False)
    if stat.S_ISLNK(status.st_mode):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name)
    return status


@contextmanager
def open_directory_nofollow(root: int, relative: AnyStr) -> Generator[int]:
    """Open a directory beneath another; an empty path is the root. Raises OSError, also if a component is a link."""
    opened = os.open(".", _DIRECTORY_FLAGS, dir_fd=root)
    try:
        for name in os.fsencode(relative).split(b"/") if relative else ():
            following = os.open(name, _DIRECTORY_FLAGS, dir_fd=opened)
            os.close(opened)
            opened = following
        yield opened
    finally:
        os.close(opened)


def _components(path: str) -> list[str]:
    # Next one last. A trailing slash becomes ".": the component before it must be a directory.
    components = [component for component in path.split("/") if component not in ("", ".")]
    if components and path.endswith(("/", "/.")):
        components.append(".")
    return components[::-1]
