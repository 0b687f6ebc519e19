"""The files that a project's hooks run: they run only as they were when the folder was trusted."""

import hashlib
import os
from collections.abc import Mapping

from tejat.workspace.regular_file import without_waiting

_LARGEST = 64 * 2**20


class PinnedFiles:
    """Tells whether a file has changed since, by its digest; those are looked at again only if something moved."""

    def __init__(self, root: str = "", digests: Mapping[str, str] | None = None) -> None:
        """`digests` are the SHA-256 of the files as they are now, by path from the root."""
        self._root = root
        self._digests = dict(digests or {})
        self._seen = {path: _signature(os.path.join(root, path)) for path in self._digests}

    def changed(self, command: str) -> str | None:
        """A file that the command line names and that is not any more what it was."""
        named = (path for path in self._digests if os.path.basename(path) in command)
        return next((path for path in named if not self._is_as_it_was(path)), None)

    def _is_as_it_was(self, path: str) -> bool:
        absolute = os.path.join(self._root, path)
        signature = _signature(absolute)
        if signature is None:
            return False
        if signature != self._seen[path]:
            if _digest(absolute) != self._digests[path]:
                return False
            self._seen[path] = signature
        return True


def _signature(path: str) -> tuple[int, ...] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _digest(path: str) -> str | None:
    try:
        with open(path, "rb", opener=without_waiting) as file:
            content = file.read(_LARGEST + 1)
    except OSError:
        return None
    return hashlib.sha256(content).hexdigest() if len(content) <= _LARGEST else None
