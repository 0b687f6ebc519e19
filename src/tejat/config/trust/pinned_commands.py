"""Commands of a project, which run only while their files are as they were when trusted."""

import hashlib
import os
from collections.abc import Iterable

from tejat.config.trust.command_files import CommandSpec, find_command_files
from tejat.config.trust.store import TrustItem
from tejat.core.errors import UsageError
from tejat.core.i18n import lazy
from tejat.workspace.files.regular_file import regular_file_opener

_MAX_BYTES = 64 * 2**20


class PinnedCommand:
    """Detects changes of the files of a command. Files are read again only if their metadata changed.

    `items` are what the folder was trusted with; other files are pinned as they are now.
    """

    def __init__(self, command: CommandSpec, root: str, items: Iterable[TrustItem] = ()) -> None:
        self._command = command
        self._root = root
        digests = {item.path: item.digest for item in items}
        named = self._find_files() or ()
        self._pinned = {path: digests.get(path) or _digest(os.path.join(root, path)) for path in named}
        self._seen = {path: _signature(os.path.join(root, path)) for path in named}

    def find_changed_file(self) -> str | None:
        """A file of the command that has changed or is new, or None."""
        named = self._find_files()
        if named is None:
            return self._command.line
        moved = set(named).symmetric_difference(self._pinned)
        return min(moved, default=None) or next((path for path in named if not self._is_unchanged(path)), None)

    def _find_files(self) -> tuple[str, ...] | None:
        try:
            return find_command_files(self._command, self._root)
        except UsageError:
            return None

    def _is_unchanged(self, path: str) -> bool:
        absolute = os.path.join(self._root, path)
        signature = _signature(absolute)
        if signature is None:
            return False
        if signature != self._seen[path]:
            digest = _digest(absolute)
            if digest is None or digest != self._pinned[path]:
                return False
            self._seen[path] = signature
        return True


class PinnedCommands:
    """Several shell commands."""

    def __init__(self, lines: Iterable[str] = (), root: str = "", items: Iterable[TrustItem] = ()) -> None:
        items = tuple(items)
        self._by_line = {line: PinnedCommand(CommandSpec(line), root, items) for line in lines}

    def find_changed_file(self, line: str) -> str | None:
        """A file of the command that has changed, or None, also for an unknown command."""
        pinned = self._by_line.get(line)
        return None if pinned is None else pinned.find_changed_file()


def describe_changed_file(path: str) -> str:
    """The reason why a command is not run."""
    return lazy("{path} changed since this folder was trusted. Run `tejat trust`", path=path)


def _signature(path: str) -> tuple[int, ...] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _digest(path: str) -> str | None:
    try:
        with open(path, "rb", opener=regular_file_opener) as file:
            content = file.read(_MAX_BYTES + 1)
    except OSError:
        return None
    return hashlib.sha256(content).hexdigest() if len(content) <= _MAX_BYTES else None
