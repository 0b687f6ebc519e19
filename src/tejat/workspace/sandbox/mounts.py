"""What a command sees at which path: the mounts that make a fence, in an order in which they can be made."""

import os
import stat
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
    """The mounts of one fence. Looks at the files now; what is there when they are made may differ, never the order."""

    def __init__(self, fence: Fence, *, own_program: tuple[str, ...]) -> None:
        self._seen: dict[str, Seen] = {}
        self._unguarded: list[str] = []
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

        Those that are links: a link can be replaced, and nothing can be mounted on one. And files of a project that do
        not exist: whatever stood there instead would be committed, or stop a program that looks for them.
        """
        return tuple(self._unguarded)

    def in_order(self) -> list[tuple[str, Seen]]:
        """What each path shows; what lies deeper comes later."""
        return sorted(self._seen.items(), key=lambda item: item[0].split("/"))

    def _guard(self, root: str, relative: str, *, is_directory: bool) -> None:
        whole = os.path.join(root, relative)
        path = root
        for part in relative.split("/"):
            path = os.path.join(path, part)
            try:
                mode = os.lstat(path).st_mode
            except OSError:
                is_file = path == whole and not is_directory
                self._keep_missing(path, root, relative if is_file else None)
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

    def _keep_missing(self, path: str, root: str, file: str | None) -> None:
        """Keep what is not there from being made. `file` is the path from the root if it would be a file."""
        if file == _COMMON_DIRECTORY:
            self._protect(path, Seen.SPELLED_OUT)
        elif file is None or file.startswith(".git/") or ("/" not in file and root == self._home):
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
        for parent in (*reversed(ancestors(path, "/")), "/"):
            if parent in self._seen:
                return self._seen[parent]
        return None
