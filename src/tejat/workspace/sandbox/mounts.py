"""What a command sees at which path: the mounts that make a fence, in an order in which they can be made."""

import os
import stat
from collections.abc import Container, Sequence
from enum import Enum, auto

from tejat.workspace.sandbox.paths import ancestors, program_tree
from tejat.workspace.sandbox.types import SandboxPolicy


class MountKind(Enum):
    """What a path shows inside."""

    WRITABLE = auto()
    PINNED = auto()  # writable, but it cannot be moved away
    READ_ONLY = auto()
    BLOCKED = auto()  # does not exist yet and must not come into being
    NEUTRAL_FILE = auto()  # does not exist yet; a file that says what holds without it is in its place, read-only
    HIDDEN = auto()
    EMPTY = auto()  # fresh and writable
    TEMPORARY = auto()


_CONCEALING_KINDS = (MountKind.HIDDEN, MountKind.EMPTY, MountKind.TEMPORARY)

# git reads this file wherever it stands, and then takes its settings from the directory that it names. A directory in
# its place would stop git altogether.
_COMMON_DIRECTORY = ".git/commondir"
NEUTRAL_COMMON_DIRECTORY = ".\n"

_EMPTY_DIRECTORIES = ("/run", "/var/run")
# Links in other places lead here: without them there are no programs, or no names of hosts.
_EXPOSED_PATHS = ("/run/current-system", "/run/opengl-driver", "/etc/resolv.conf")


class MountPlan:
    """The mounts of one fence. Looks at the files now; what is there when they are made may differ, never the order.

    `stand_ins` are paths that exist only because they are blocked for another command. They may go any time.
    """

    def __init__(
        self, policy: SandboxPolicy, *, helper_paths: tuple[str, ...], placeholders: Container[str] = ()
    ) -> None:
        self._kinds: dict[str, MountKind] = {}
        self._unprotected_paths: list[str] = []
        self._blocked = frozenset(policy.blocked_paths)
        self._placeholders = placeholders
        self._home = os.path.realpath(os.path.expanduser("~"))
        for path in _EMPTY_DIRECTORIES:
            if os.path.isdir(path) and not os.path.islink(path):
                self._kinds[path] = MountKind.EMPTY
        self._kinds["/tmp"] = MountKind.TEMPORARY
        for root in policy.writable_roots:
            self._kinds[root] = MountKind.WRITABLE
        self._expose_programs(policy.programs)
        for path in map(os.path.realpath, policy.hidden_paths):
            if os.path.lexists(path) and self._enclosing_kind(path) not in _CONCEALING_KINDS:
                self._kinds.setdefault(path, MountKind.HIDDEN)
        self._expose_programs(policy.programs)  # again: by now more is concealed
        for root in policy.writable_roots:
            for relative, is_directory in policy.read_only_paths:
                self._protect_control_path(root, relative, is_directory=is_directory)
        for path in (*_EXPOSED_PATHS, *helper_paths):
            self._expose(os.path.realpath(path))
        # Last, because what is pinned is writable: it must not lie in what one of the others made read-only.
        for path in list(self._kinds):
            self._pin_above(path)

    @property
    def unprotected_paths(self) -> tuple[str, ...]:
        """Control paths that cannot be protected.

        Those that are links: a link can be replaced, and nothing can be mounted on one. And most of those that do not
        exist: whatever stood there instead would be seen, committed, or stop a program that looks for them.
        """
        return tuple(self._unprotected_paths)

    def ordered(self) -> list[tuple[str, MountKind]]:
        """What each path shows; what lies deeper comes later."""
        return sorted(self._kinds.items(), key=lambda item: item[0].split("/"))

    def _protect_control_path(self, root: str, relative: str, *, is_directory: bool) -> None:
        whole = f"{root}/{relative}"
        path = root
        for part in relative.split("/"):
            path = f"{path}/{part}"
            mode = self._mode(path)
            if mode is None:
                self._block_missing(path, root, is_file=path == whole and not is_directory)
                return
            if stat.S_ISLNK(mode):
                self._unprotected_paths.append(whole)
                target = os.path.realpath(path)
                if os.path.exists(target):
                    self._protect(target, MountKind.READ_ONLY)
                return
            if not stat.S_ISDIR(mode):
                break
        self._protect(path, MountKind.READ_ONLY)

    def _mode(self, path: str) -> int | None:
        if path in self._placeholders:
            return None
        try:
            return os.lstat(path).st_mode
        except OSError:
            return None

    def _block_missing(self, path: str, root: str, *, is_file: bool) -> None:
        """Keep what is not there from being made, where that can be done without standing in anybody's way.

        Every stand-in shows up in the real root, so there are few.
        """
        relative = path[len(root) + 1 :]
        starts_a_session = is_file and root == self._home and "/" not in relative
        if relative == _COMMON_DIRECTORY:
            self._protect(path, MountKind.NEUTRAL_FILE)
        elif relative.startswith(".git/") or relative in self._blocked or starts_a_session:
            self._protect(path, MountKind.BLOCKED)
        else:
            self._unprotected_paths.append(path)

    def _protect(self, path: str, kind: MountKind) -> None:
        if path not in self._kinds and self._enclosing_kind(path) is MountKind.WRITABLE:
            self._kinds[path] = kind

    def _pin_above(self, path: str) -> None:
        """Keep every directory above from being renamed, which would take the protected away from its name."""
        for parent in ancestors(path, "/"):
            if parent not in self._kinds and self._enclosing_kind(parent) in (MountKind.WRITABLE, MountKind.PINNED):
                self._kinds[parent] = MountKind.PINNED

    def _expose_programs(self, programs: Sequence[str]) -> None:
        for program in programs:
            top = next((path for path in reversed(ancestors(program, "/")) if path in self._kinds), None)
            if top is not None and self._kinds[top] in _CONCEALING_KINDS:
                self._kinds.setdefault(program_tree(program, top), MountKind.READ_ONLY)

    def _expose(self, path: str) -> None:
        if not os.path.exists(path):
            return
        around = self._enclosing_kind(path)
        if around is MountKind.WRITABLE:
            self._protect(path, MountKind.READ_ONLY)
        elif around in _CONCEALING_KINDS:
            self._kinds.setdefault(path, MountKind.READ_ONLY)

    def _enclosing_kind(self, path: str) -> MountKind | None:
        """What the nearest directory above shows."""
        parent = path
        while parent:
            parent = parent.rpartition("/")[0]
            if kind := self._kinds.get(parent or "/"):
                return kind
        return None
