"""Where the tools of a client work: in the directories that the server was given, or in a part of them."""

import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol
from urllib.parse import unquote, urlsplit

from tejat.core.confirm import Approver
from tejat.core.types import JsonObject
from tejat.engine.scheduler import Scheduler

_MOST_ROOTS = 64


class Host(Protocol):
    """Whoever has the tools. `roots` are the widest directories that they may work in."""

    @property
    def roots(self) -> tuple[str, ...]: ...

    def open(self, approver: Approver, within: Sequence[str]) -> AbstractContextManager[Scheduler]:
        """The tools at work in these directories, or (none given) in all of the roots. Raises UsageError."""
        ...

    def narrowed(self, wanted: Sequence[str]) -> tuple[str, ...]:
        """What of these directories lies in the roots; nothing where that is none of it."""
        ...


class Workplace:
    """The tools of one client, opened when they are first needed. Those it has moved away from end with their calls."""

    def __init__(self, host: Host, approver: Approver) -> None:
        self._host = host
        self._approver = approver
        self._within: tuple[str, ...] = ()
        self._opened: _Opened | None = None
        self._left: set[_Opened] = set()

    def move(self, within: tuple[str, ...]) -> None:
        """Calls that come from now on work in these directories."""
        if within != self._within:
            self._within = within
            self._leave()

    @contextmanager
    def using(self) -> Generator[Scheduler]:
        """Raises UsageError."""
        if self._opened is None:
            self._opened = _Opened(self._host.open(self._approver, self._within))
        opened = self._opened
        opened.uses += 1
        try:
            yield opened.scheduler
        finally:
            opened.uses -= 1
            if opened in self._left and not opened.uses:
                self._left.discard(opened)
                opened.close()

    def close(self) -> None:
        """Nobody uses it any more."""
        self._leave()
        for opened in self._left:
            opened.close()
        self._left.clear()

    def _leave(self) -> None:
        opened, self._opened = self._opened, None
        if opened is None:
            return
        if opened.uses:
            self._left.add(opened)
        else:
            opened.close()


class _Opened:
    def __init__(self, opening: AbstractContextManager[Scheduler]) -> None:
        self._opening = opening
        self.scheduler = opening.__enter__()
        self.uses = 0

    def close(self) -> None:
        self._opening.__exit__(None, None, None)


def directories_in(listed: JsonObject) -> list[str] | None:
    """The paths in the answer to `roots/list`, those of them that are files' addresses; None where it names no root."""
    roots = listed.get("roots")
    if not isinstance(roots, Sequence) or isinstance(roots, str) or not roots:
        return None
    uris = [root.get("uri") for root in roots[:_MOST_ROOTS] if isinstance(root, Mapping)]
    return [path for uri in uris if isinstance(uri, str) and (path := _path_of(uri)) is not None]


def _path_of(uri: str) -> str | None:
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    path = unquote(parts.path, errors="surrogateescape")
    is_local = parts.scheme == "file" and parts.netloc in ("", "localhost")
    return path if is_local and os.path.isabs(path) and "\0" not in path else None
