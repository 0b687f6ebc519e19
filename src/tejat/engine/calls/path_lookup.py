"""Lookup of the paths of a shell line, and of the repositories it reads, in the file system."""

import glob
import os
from collections.abc import Sequence
from itertools import islice

from tejat.core.text.paths import is_beneath_any
from tejat.policy.paths import PathLookup
from tejat.workspace.paths.git_programs import find_git_programs
from tejat.workspace.paths.real_path import real_path

_MAX_MATCHES = 1_000
_MAX_ENTRIES = 20_000
"""Larger trees are not searched: they may hold a link that leads outside."""


class FileSystemLookup(PathLookup):
    """Looks at what is there now."""

    def real_path(self, path: str) -> str:
        try:
            return real_path(path)
        except (OSError, ValueError):  # a name with a NUL in it
            return super().real_path(path)

    def expand(self, pattern: str) -> Sequence[str]:
        try:
            return tuple(islice(glob.iglob(pattern, include_hidden=True), _MAX_MATCHES))
        except (OSError, ValueError, RecursionError):
            return ()

    def links_outside(self, directory: str, roots: Sequence[str]) -> bool:
        waiting = [real_path(directory)]
        seen = set(waiting)
        count = 0
        while waiting:
            entries = _list_entries(waiting.pop())
            count += len(entries)
            if count > _MAX_ENTRIES:
                return True
            for entry in entries:
                is_link = entry.is_symlink()
                target = real_path(entry.path) if is_link else entry.path
                if is_link and not is_beneath_any(target, roots):
                    return True
                if (is_link or entry.is_dir(follow_symlinks=False)) and target not in seen:
                    seen.add(target)
                    waiting.append(target)
        return False

    def git_programs(self, directory: str) -> Sequence[str]:
        return find_git_programs(directory)


def _list_entries(directory: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(directory) as entries:
            return list(entries)
    except OSError:  # no directory, or one that nobody may read
        return []
