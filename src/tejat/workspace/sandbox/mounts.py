"""What a command sees at which path: the mounts that make a fence, in an order in which they can be made."""

import os
import stat
from collections.abc import Container
from enum import Enum, auto

from tejat.workspace.sandbox.paths import ancestors
from tejat.workspace.sandbox.plan import Fence


class Seen(Enum):
    """What a path shows inside."""

    WRITABLE = auto()
    PINNED = auto()  # writable, but it cannot be moved away
    READ_ONLY = auto()
    BLOCKED = auto()  # does not exist yet and must not come into being
    SPELLED_OUT = auto()  # does not exist yet; a file that says what holds without it is in its place, read-only
    HIDDEN = auto()
    EMPTY = auto()  # fresh and writable
    TEMPORARY = auto()


_OUT_OF_SIGHT = (Seen.HIDDEN, Seen.EMPTY, Seen.TEMPORARY)

# git reads this file wherever it stands, and then takes its settings from the directory that it names. A directory in
# its place would stop git altogether.
_COMMON_DIRECTORY = ".git/commondir"
COMMON_DIRECTORY_AS_WITHOUT = ".\n"

_EMPTIED = ("/run", "/var/run")
# Links in other places lead here: without them there are no programs, or no names of hosts.
_KEPT = ("/run/current-system", "/run/opengl-driver", "/etc/resolv.conf")


class Mounts:
    """The mounts of one fence. Looks at the files now; what is there when they are made may differ, never the order.

    `stand_ins` are paths that exist only because they are blocked for another command. They may go any time.
    """

    def __init__(self, fence: Fence, *, own_program: tuple[str, ...], stand_ins: Container[str] = ()) -> None:
        self._seen: dict[str, Seen] = {}
        self._unguarded: list[str] = []
        self._blocked = frozenset(fence.blocked)
        self._stand_ins = stand_ins
        self._home = os.path.realpath(os.path.expanduser("~"))
        for path in _EMPTIED:
            if os.path.isdir(path) and not os.path.islink(path):
                self._seen[path] = Seen.EMPTY
        self._seen["/tmp"] = Seen.TEMPORARY
        for root in fence.writable:
            self._seen[root] = Seen.WRITABLE
        for path in map(os.path.realpath, fence.hidden):
            if os.path.lexists(path) and self._around(path) not in _OUT_OF_SIGHT:
                self._seen.setdefault(path, Seen.HIDDEN)
        for root in fence.writable:
            for relative, is_directory in fence.read_only:
                self._guard(root, relative, is_directory=is_directory)
        for path in (*_KEPT, *own_program):
            self._keep(os.path.realpath(path))
        # Last, because what is pinned is writable: it must not lie in what one of the others made read-only.
        for path in list(self._seen):
            self._pin_above(path)

    @property
    def unguarded(self) -> tuple[str, ...]:
        """Control paths that cannot be protected.

        Those that are links: a link can be replaced, and nothing can be mounted on one. And most of those that do not
        exist: whatever stood there instead would be seen, committed, or stop a program that looks for them.
        """
        return tuple(self._unguarded)

    def in_order(self) -> list[tuple[str, Seen]]:
        """What each path shows; what lies deeper comes later."""
        return sorted(self._seen.items(), key=lambda item: item[0].split("/"))

    def _guard(self, root: str, relative: str, *, is_directory: bool) -> None:
        whole = f"{root}/{relative}"
        path = root
        for part in relative.split("/"):
            path = f"{path}/{part}"
            mode = self._mode(path)
            if mode is None:
                self._keep_missing(path, root, is_file=path == whole and not is_directory)
                return
            if stat.S_ISLNK(mode):
                self._unguarded.append(whole)
                target = os.path.realpath(path)
                if os.path.exists(target):
                    self._protect(target, Seen.READ_ONLY)
                return
            if not stat.S_ISDIR(mode):
                break
        self._protect(path, Seen.READ_ONLY)

    def _mode(self, path: str) -> int | None:
        if path in self._stand_ins:
            return None
        try:
            return os.lstat(path).st_mode
        except OSError:
            return None

    def _keep_missing(self, path: str, root: str, *, is_file: bool) -> None:
        """Keep what is not there from being made, where that can be done without standing in anybody's way.

        Every stand-in shows up in the real root, so there are few.
        """
        relative = path[len(root) + 1 :]
        starts_a_session = is_file and root == self._home and "/" not in relative
        if relative == _COMMON_DIRECTORY:
            self._protect(path, Seen.SPELLED_OUT)
        elif relative.startswith(".git/") or relative in self._blocked or starts_a_session:
            self._protect(path, Seen.BLOCKED)
        else:
            self._unguarded.append(path)

    def _protect(self, path: str, seen: Seen) -> None:
        if path not in self._seen and self._around(path) is Seen.WRITABLE:
            self._seen[path] = seen

    def _pin_above(self, path: str) -> None:
        """Keep every directory above from being renamed, which would take the protected away from its name."""
        for parent in ancestors(path, "/"):
            if parent not in self._seen and self._around(parent) in (Seen.WRITABLE, Seen.PINNED):
                self._seen[parent] = Seen.PINNED

    def _keep(self, path: str) -> None:
        if not os.path.exists(path):
            return
        around = self._around(path)
        if around is Seen.WRITABLE:
            self._protect(path, Seen.READ_ONLY)
        elif around in _OUT_OF_SIGHT:
            self._seen.setdefault(path, Seen.READ_ONLY)

    def _around(self, path: str) -> Seen | None:
        """What the nearest directory above shows."""
        parent = path
        while parent:
            parent = parent.rpartition("/")[0]
            if seen := self._seen.get(parent or "/"):
                return seen
        return None
