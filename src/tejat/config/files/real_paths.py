"""Real paths of many files."""

import os


class RealPaths:
    """Finds real paths like `os.path.realpath`, but looks at each path only once.

    For one pass over files that are not moved meanwhile: what was found is never looked up again.
    """

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def find(self, path: str) -> str:
        """The path without links in it, whether it exists or not."""
        real = self._known.get(path)
        if real is None:
            real = self._known[path] = self._resolve(path)
        return real

    def _resolve(self, path: str) -> str:
        directory, _slash, name = path.rpartition("/")
        if not path.startswith("/") or name in ("", ".", "..") or os.path.islink(path):
            return os.path.realpath(path)
        return f"{self.find(directory).rstrip('/')}/{name}" if directory else path
