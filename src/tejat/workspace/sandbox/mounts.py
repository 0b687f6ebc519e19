"""Mounts of a bubblewrap sandbox: what a command sees at which path, in mount order."""

import os
import stat
from collections.abc import Container, Sequence
from enum import Enum, auto

from tejat.workspace.control_paths.names import ControlNames
from tejat.workspace.sandbox.paths import ancestors, program_tree
from tejat.workspace.sandbox.types import SandboxMount, SandboxPolicy


class MountKind(Enum):
    """What a path shows inside the sandbox."""

    WRITABLE = auto()
    PINNED = auto()  # writable, but not movable
    READ_ONLY = auto()
    BLOCKED = auto()  # missing, and must not be created
    NEUTRAL_FILE = auto()  # missing; shows a read-only file that means the same as no file
    HIDDEN = auto()
    EMPTY = auto()  # fresh and writable
    TEMPORARY = auto()


_CONCEALING_KINDS = (MountKind.HIDDEN, MountKind.EMPTY, MountKind.TEMPORARY)

# git takes its settings from the directory that this file names. A directory in its place would break git
# altogether.
_COMMON_DIRECTORY = "commondir"
NEUTRAL_COMMON_DIRECTORY = ".\n"

MAX_NESTED_MOUNTS = 96
"""Mounts for control paths below the top of a root. Each takes part of a millisecond, and longer the more there are."""

# git runs what these say as soon as they exist. They are kept from being created in repositories below a root too.
_CREATION_BLOCKED = ("config", "config.worktree", "hooks", _COMMON_DIRECTORY)

_EMPTY_DIRECTORIES = ("/run", "/var/run")
# Targets of links elsewhere: programs and host names depend on them.
_EXPOSED_PATHS = ("/run/current-system", "/run/opengl-driver", "/etc/resolv.conf")


class MountPlan:
    """Mounts that implement one policy, computed from the files as they are now.

    `helper_paths` stay readable and never become writable. `placeholders` are paths that exist only because another
    command has them blocked; they may vanish at any time.
    """

    def __init__(
        self, policy: SandboxPolicy, *, helper_paths: tuple[str, ...], placeholders: Container[str] = ()
    ) -> None:
        self._kinds: dict[str, MountKind] = {}
        self._unprotected_paths: list[str] = []
        self._blocked = frozenset(policy.blocked_paths)
        self._placeholders = placeholders
        self._left_open = policy.left_open
        self._home = os.path.realpath(os.path.expanduser("~"))
        for path in _EMPTY_DIRECTORIES:
            if os.path.isdir(path) and not os.path.islink(path):
                self._kinds[path] = MountKind.EMPTY
        self._kinds["/tmp"] = MountKind.TEMPORARY
        for root in policy.writable_roots:
            self._kinds[root] = MountKind.WRITABLE
        self._expose_programs(policy.programs)
        self._hide(policy.hidden_paths)
        self._expose_programs(policy.programs)  # again: more is concealed now
        for mount in policy.mounts:
            self._show(mount)
        self._hide(policy.hidden_paths)  # again: what was concealed may lie in what is shown now
        for root in policy.writable_roots:
            for relative, is_directory in policy.read_only_paths:
                self._protect_control_path(root, relative, is_directory=is_directory)
        for path in (*_EXPOSED_PATHS, *helper_paths):
            self._expose(os.path.realpath(path))
        self._protect_nested(policy)
        # Last: pinned directories are writable, so none may lie in what was made read-only above.
        for path in list(self._kinds):
            self._pin_above(path)

    @property
    def unprotected_paths(self) -> tuple[str, ...]:
        """Control paths that cannot be protected.

        These are links, which can be replaced and not mounted on, and most missing paths: a placeholder would be
        visible, get committed, or confuse programs that look for the file. Below the top of a root, they are also those
        that would take too many mounts.
        """
        return tuple(dict.fromkeys(self._unprotected_paths))

    def ordered(self) -> list[tuple[str, MountKind]]:
        """Return each path with its kind, outer directories first."""
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
        """Keep a missing path from being created, where a placeholder does no harm.

        Every placeholder shows up in the real root, so there are few.
        """
        relative = path[len(root) + 1 :]
        starts_a_session = is_file and root == self._home and "/" not in relative
        if relative == f".git/{_COMMON_DIRECTORY}":
            self._protect(path, MountKind.NEUTRAL_FILE)
        elif relative.startswith(".git/") or relative in self._blocked or starts_a_session:
            self._protect(path, MountKind.BLOCKED)
        else:
            self._unprotected_paths.append(path)

    def _protect_nested(self, policy: SandboxPolicy) -> None:
        """Protect the control paths that were found below the roots, outer repositories first."""
        in_git = ControlNames([relative for relative, _ in policy.read_only_paths]).in_git
        room = MAX_NESTED_MOUNTS
        pinned: set[str] = set()
        for wanted in (
            *(self._git_kinds(directory, in_git) for directory in policy.found.git_directories),
            *map(self._existing_kinds, (*policy.found.paths, *policy.found.unreadable)),
        ):
            open_paths = [path for path, kind in wanted.items() if kind is None and self._can_protect(path)]
            new = {path: kind for path, kind in wanted.items() if kind is not None and self._can_protect(path)}
            above = {parent for path in new for parent in ancestors(path, "/") if self._can_protect(parent)} - pinned
            if len(new) + len(above) <= room:
                room -= len(new) + len(above)
                pinned |= above
                self._kinds |= new
                new = {}
            self._unprotected_paths += [*new, *open_paths]

    def _git_kinds(self, directory: str, in_git: Sequence[str]) -> dict[str, MountKind | None]:
        """Return the kinds of the control paths in a git directory, None for one that is left open."""
        if directory in self._left_open:
            return dict.fromkeys(f"{directory}/{relative}" for relative in in_git)
        kinds: dict[str, MountKind | None] = {}
        for relative in in_git:
            path = f"{directory}/{relative}"
            if self._mode(path) is not None:
                kinds |= self._existing_kinds(path)
            elif relative == _COMMON_DIRECTORY:
                kinds[path] = MountKind.NEUTRAL_FILE
            else:
                kinds[path] = MountKind.BLOCKED if relative in _CREATION_BLOCKED else None
        return kinds

    def _existing_kinds(self, path: str) -> dict[str, MountKind | None]:
        """Return the kind of a control path. A link is left open, and its target is protected."""
        if path in self._left_open:
            return {path: None}
        if not os.path.islink(path):
            return {path: MountKind.READ_ONLY}
        target = os.path.realpath(path)
        return {path: None, **({target: MountKind.READ_ONLY} if os.path.exists(target) else {})}

    def _can_protect(self, path: str) -> bool:
        return path not in self._kinds and self._enclosing_kind(path) is MountKind.WRITABLE

    def _protect(self, path: str, kind: MountKind) -> None:
        if self._can_protect(path):
            self._kinds[path] = kind

    def _pin_above(self, path: str) -> None:
        """Keep the parent directories from being renamed, which would move the protected path away from its name."""
        for parent in ancestors(path, "/"):
            if parent not in self._kinds and self._enclosing_kind(parent) in (MountKind.WRITABLE, MountKind.PINNED):
                self._kinds[parent] = MountKind.PINNED

    def _expose_programs(self, programs: Sequence[str]) -> None:
        for program in programs:
            top = next((path for path in reversed(ancestors(program, "/")) if path in self._kinds), None)
            if top is not None and self._kinds[top] in _CONCEALING_KINDS:
                self._kinds.setdefault(program_tree(program, top), MountKind.READ_ONLY)

    def _hide(self, paths: Sequence[str]) -> None:
        for path in map(os.path.realpath, paths):
            if os.path.lexists(path) and self._enclosing_kind(path) not in _CONCEALING_KINDS:
                self._kinds.setdefault(path, MountKind.HIDDEN)

    def _show(self, mount: SandboxMount) -> None:
        """Make a place readable if it is concealed, or writable. Inside a root nothing changes."""
        enclosing = self._kinds.get(mount.source) or self._enclosing_kind(mount.source)
        if mount.is_writable and enclosing is not MountKind.WRITABLE:
            self._kinds[mount.source] = MountKind.WRITABLE
        elif enclosing in _CONCEALING_KINDS:
            self._kinds[mount.source] = MountKind.READ_ONLY

    def _expose(self, path: str) -> None:
        if not os.path.exists(path):
            return
        enclosing = self._enclosing_kind(path)
        if enclosing is MountKind.WRITABLE:
            self._protect(path, MountKind.READ_ONLY)
        elif enclosing in _CONCEALING_KINDS:
            self._kinds.setdefault(path, MountKind.READ_ONLY)

    def _enclosing_kind(self, path: str) -> MountKind | None:
        """Return the kind of the nearest directory above."""
        parent = path
        while parent:
            parent = parent.rpartition("/")[0]
            if kind := self._kinds.get(parent or "/"):
                return kind
        return None
