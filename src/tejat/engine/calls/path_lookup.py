"""Lookup of the paths of a shell line, and of the repositories it reads, in the file system."""

import fnmatch
import os
import stat
from collections.abc import Sequence

from tejat.core.text.paths import is_beneath_any
from tejat.core.text.secret_files import is_secret_file
from tejat.policy.paths import PathLookup
from tejat.workspace.paths.real_path import real_path

_GLOB_CHARACTERS = frozenset("*?[")
_SPECIAL_NAMES = frozenset(("", ".", ".."))
_MAX_DEPTH = 16
"""How many directories are resolved one by one. Those above them are left to the kernel."""
_MAX_MATCHED_ENTRIES = 5_000
_MAX_PATH = 4096
_MAX_ENTRIES = 20_000
"""Larger trees are not searched: they may hold a link that leads outside, or a file with secrets."""


class FileSystemLookup(PathLookup):
    """Looks at what is there now. It is for one call: directories are resolved and listed once."""

    def __init__(self) -> None:
        self._directories: dict[str, str] = {}
        self._missing: set[str] = set()
        self._real_paths: dict[str, str] = {}
        self._names: dict[str, list[str]] = {}
        self._linking: dict[tuple[str, tuple[str, ...]], bool] = {}
        self._secret: dict[str, bool] = {}

    def real_path(self, path: str) -> str:
        found = self._real_paths.get(path)
        if found is None:
            # No program opens a longer path at once, and step by step it may lead anywhere.
            found = self._real_paths[path] = "/" if len(path) > _MAX_PATH else self._resolve(path)
        return found

    def is_missing(self, directory: str) -> bool:
        # A path in a long one might be too long for its kernel.
        return directory in self._missing and len(directory) < _MAX_PATH // 2

    def _resolve(self, path: str) -> str:
        parent, _, name = path.rpartition("/")
        try:
            return real_path(path) if name in _SPECIAL_NAMES else self._follow(parent, name, path)
        except (OSError, ValueError):  # a name with a NUL in it
            return super().real_path(path)

    def _follow(self, parent: str, name: str, path: str, depth: int = 0) -> str:
        """Resolve a name in a directory. What lies in a missing directory is no link."""
        directory = self._directories.get(parent or "/") or self._real_directory(parent or "/", depth)
        resolved = f"{directory}{name}" if directory.endswith("/") else f"{directory}/{name}"
        if directory in self._missing:
            self._missing.add(resolved)
            return resolved
        try:
            is_link = stat.S_ISLNK(os.lstat(resolved).st_mode)
        except (FileNotFoundError, NotADirectoryError):
            self._missing.add(resolved)
            return resolved
        except (OSError, ValueError):
            return resolved
        return real_path(path) if is_link else resolved

    def _real_directory(self, directory: str, depth: int) -> str:
        found = self._real_paths.get(directory)
        if found is None:
            parent, _, name = directory.rpartition("/")
            is_simple = name not in _SPECIAL_NAMES and depth < _MAX_DEPTH
            found = self._follow(parent, name, directory, depth + 1) if is_simple else real_path(directory)
        self._directories[directory] = found
        return found

    def expand(self, pattern: str) -> Sequence[str]:
        paths = ["/"]
        left = _MAX_MATCHED_ENTRIES
        for name in filter(None, pattern.split("/")):
            if _GLOB_CHARACTERS.isdisjoint(name):
                paths = [os.path.join(path, name) for path in paths]
                continue
            matching: list[str] = []
            for path in paths:
                names = self._list_names(path)
                left -= len(names)
                if left < 0:
                    break
                if names:  # a pattern takes longer to compile than to match
                    matching += [os.path.join(path, found) for found in fnmatch.filter(names, name)]
            paths = matching
        return paths

    def _list_names(self, directory: str) -> Sequence[str]:
        """List a directory once, or what is too much of it."""
        names = self._names.get(directory)
        if names is None:
            entries = _list_entries(directory)[: _MAX_MATCHED_ENTRIES + 1]
            names = self._names[directory] = [entry.name for entry in entries]
        return names

    def links_outside(self, directory: str, roots: Sequence[str]) -> bool:
        key = self.real_path(directory), tuple(roots)
        if key not in self._linking:
            self._linking[key] = _links_outside(*key)
        return self._linking[key]

    def holds_secrets(self, directory: str) -> bool:
        real = self.real_path(directory)
        if real not in self._secret:
            self._secret[real] = _holds_secrets(real)
        return self._secret[real]

    def git_programs(self, directory: str) -> Sequence[str]:
        from tejat.workspace.paths.git_programs import find_git_programs

        return find_git_programs(directory)


def _links_outside(directory: str, roots: Sequence[str]) -> bool:
    waiting = [directory]
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


def _holds_secrets(directory: str) -> bool:
    waiting = [directory]
    count = 0
    while waiting:
        entries = _list_entries(waiting.pop())
        count += len(entries)
        if count > _MAX_ENTRIES or any(is_secret_file(entry.path) for entry in entries):
            return True
        waiting += [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
    return False


def _list_entries(directory: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(directory) as entries:
            return list(entries)
    except (OSError, ValueError):  # no directory, or one that nobody may read
        return []
