"""Real paths of many files."""

import os


class RealPaths:
    """Finds real paths like `os.path.realpath`, but looks at each directory only once.

    For one pass over files that are not moved meanwhile: what was found is never looked up again.
    """

    def __init__(self) -> None:
        self._directories = {"/": "/"}

    def find(self, path: str) -> str:
        """The path without links in it, whether it exists or not."""
        directory, name = os.path.split(path)
        if not path.startswith("/") or name in ("", ".", "..") or os.path.islink(path):
            return os.path.realpath(path)
        return os.path.join(self._find_directory(directory), name)

    def _find_directory(self, path: str) -> str:
        known = self._directories.get(path)
        if known is None:
            known = self._directories[path] = self.find(path)
        return known
