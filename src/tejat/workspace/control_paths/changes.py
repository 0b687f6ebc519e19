"""Changes to control paths while a command runs: those that are new, and those that nothing protected."""

import os
import stat
from collections import deque
from collections.abc import Callable, Iterable

from tejat.core.frozen import Frozen
from tejat.workspace.control_paths.search import REPOSITORIES_IN_GIT, FoundControlPaths

_MAX_ENTRIES = 2000

# The identity, size and times of a file, or of everything in a directory; empty if nothing is there.
_Signature = tuple[tuple[int, ...], ...]


class ControlPathChanges(Frozen):
    """Control paths that appeared or changed. `is_complete` is false if not all of the tree could be searched."""

    created: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    is_complete: bool = True

    def __bool__(self) -> bool:
        return bool(self.created or self.changed or not self.is_complete)


class ControlPathWatch:
    """The control paths before a command. `unprotected` are those that it can change, missing ones included."""

    def __init__(
        self, before: FoundControlPaths, unprotected: Iterable[str], search: Callable[[], FoundControlPaths]
    ) -> None:
        self._known = set(before.all_paths())
        self._search = search
        # Repositories in these are found on their own; the rest changes with every commit.
        left_out = {f"{git}/{name}" for git in before.git_directories for name in REPOSITORIES_IN_GIT}
        self._signatures = {path: _signature(path) for path in dict.fromkeys(unprotected) if path not in left_out}

    def find_changes(self) -> ControlPathChanges:
        """Compare with the paths as they are now. Raises nothing."""
        after = self._search()
        created = [path for path in after.all_paths() if path not in self._known]
        created = [path for path in created if not _is_empty_directory(path)]
        signatures = {path: _signature(path) for path in self._signatures}
        # Nothing obeys a path that is gone.
        changed = [path for path, found in signatures.items() if found and found != self._signatures[path]]
        return ControlPathChanges(
            _outermost(created), tuple(path for path in _outermost(changed) if path not in created), after.is_complete
        )


def _outermost(paths: Iterable[str]) -> tuple[str, ...]:
    """Leave out paths that lie in another one."""
    kept: list[str] = []
    for path in sorted(dict.fromkeys(paths), key=lambda path: path.split("/")):
        if not kept or not path.startswith(f"{kept[-1]}/"):
            kept.append(path)
    return tuple(kept)


def _is_empty_directory(path: str) -> bool:
    """Return whether it is an empty directory, which no program obeys. A placeholder of another command is one."""
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode) and not os.listdir(path)
    except OSError:
        return False


def _signature(path: str) -> _Signature:
    found: list[tuple[int, ...]] = []
    pending = deque([path])
    while pending and len(found) < _MAX_ENTRIES:
        current = pending.popleft()
        try:
            status = os.lstat(current)
            is_directory = stat.S_ISDIR(status.st_mode)
            names = sorted(os.listdir(current)) if is_directory else ()
        except OSError:
            continue
        if is_directory and not names:
            continue
        # The times of a directory also change when nothing stays changed.
        times = () if is_directory else (status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        found.append((status.st_ino, status.st_mode, len(names), *times))
        pending.extend(f"{current}/{name}" for name in names)
    return tuple(found)
