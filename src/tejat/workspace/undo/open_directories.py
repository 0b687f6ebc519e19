"""Directories beneath a root, kept open for work on many files in them."""

from contextlib import ExitStack
from typing import Self

from tejat.workspace.files.openat import open_directory_nofollow


class OpenDirectories:
    """Opens directories without following links, and keeps the latest `limit` of them open; a context manager."""

    __slots__ = ("_limit", "_opened", "_root")

    def __init__(self, root: int, *, limit: int = 1) -> None:
        self._root = root
        self._limit = limit
        self._opened: dict[str, tuple[int, ExitStack]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for _fd, closing in self._opened.values():
            closing.close()
        self._opened.clear()

    def get(self, relative: str) -> int:
        """Return a descriptor that stays open until `limit` other directories were asked for. Raises OSError."""
        found = self._opened.get(relative)
        if found is None:
            closing = ExitStack()
            found = closing.enter_context(open_directory_nofollow(self._root, relative)), closing
            if len(self._opened) >= self._limit:
                self._opened.pop(next(iter(self._opened)))[1].close()
            self._opened[relative] = found
        return found[0]
