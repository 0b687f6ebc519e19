"""A directory rendered as a tree that fits into a prompt."""

import os
from collections import deque
from collections.abc import Iterator
from itertools import islice

from tejat.core.sanitize import sanitize_line
from tejat.workspace.paths.ignore_rules import DEFAULT_IGNORE, IgnoreOptions, IgnoreRules, IgnoreStatus

MAX_ITEMS = 200
COLLAPSED_FOLDERS = frozenset({"node_modules", ".git", "dist"})

_MAX_ENTRIES = 5000
_MAX_NAME_LENGTH = 120


def render_folder_tree(directory: str, ignore: IgnoreOptions = DEFAULT_IGNORE) -> str:
    """Render a directory level by level, with at most MAX_ITEMS entries. Ignored files are left out.

    Raises nothing: unreadable directories are shown without their content.
    """
    root = _Folder(os.path.realpath(directory), "")
    rules = IgnoreRules(root.path, git=ignore.git, gemini=ignore.gemini, files=ignore.files)
    left = MAX_ITEMS
    waiting = deque([root])
    while waiting and left:
        folder = waiting.popleft()
        folder.scan(rules, left)
        left -= len(folder.files) + len(folder.folders)
        waiting += [inner for name, inner in folder.folders.items() if name not in COLLAPSED_FOLDERS]
    lines = [
        f"Showing up to {MAX_ITEMS} items (files + folders). Folders that end in ... hold more than is shown.",
        "",
        f"{sanitize_line(directory).rstrip('/')}/",
        *root.render(),
    ]
    return "\n".join(lines)


class _Folder:
    """A directory and its visible entries, empty until it is scanned."""

    def __init__(self, path: str, relative: str) -> None:
        self.path = path
        self.files: list[str] = []
        self.folders: dict[str, _Folder] = {}
        self.has_more = True
        self._relative = relative

    def scan(self, rules: IgnoreRules, max_entries: int) -> None:
        """Read at most this many entries, files first."""
        entries = _list_entries(self.path)
        if entries is None:
            return
        shown = list(islice(self._visible_entries(entries, rules), max_entries + 1))
        self.has_more = len(shown) > max_entries or len(entries) >= _MAX_ENTRIES
        for name, is_folder in shown[:max_entries]:
            if is_folder:
                self.folders[name] = _Folder(os.path.join(self.path, name), os.path.join(self._relative, name))
            else:
                self.files.append(name)

    def _visible_entries(self, entries: list[tuple[bool, str]], rules: IgnoreRules) -> Iterator[tuple[str, bool]]:
        for is_folder, name in entries:
            relative = os.path.join(self._relative, name)
            is_known = is_folder and name in COLLAPSED_FOLDERS
            if is_known or rules.check(relative, is_directory=is_folder) is IgnoreStatus.NOT_IGNORED:
                yield name, is_folder

    def render(self, indent: str = "") -> Iterator[str]:
        items: list[tuple[str, _Folder | None]] = [(name, None) for name in self.files]
        items += self.folders.items()
        if self.has_more and items:
            items.append(("...", None))
        for number, (name, folder) in enumerate(items, 1):
            branch, below = ("└───", "    ") if number == len(items) else ("├───", "│   ")
            if folder is None:
                yield f"{indent}{branch}{_display_name(name)}"
                continue
            is_open = folder.files or folder.folders or not folder.has_more
            yield f"{indent}{branch}{_display_name(name)}{'/' if is_open else '/...'}"
            yield from folder.render(indent + below)


def _list_entries(path: str) -> list[tuple[bool, str]] | None:
    """List files before folders, each sorted, links as files; None if the directory cannot be read."""
    try:
        with os.scandir(path) as entries:
            return sorted((entry.is_dir(follow_symlinks=False), entry.name) for entry in islice(entries, _MAX_ENTRIES))
    except OSError:
        return None


def _display_name(name: str) -> str:
    shown = sanitize_line(name)
    return shown if len(shown) <= _MAX_NAME_LENGTH else f"{shown[:_MAX_NAME_LENGTH]}..."
