"""Tools of one client, restricted to the roots of the server or to a part of them."""

import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol
from urllib.parse import unquote, urlsplit

from tejat.core.approval.confirmation import Approver
from tejat.core.messages.types import JsonObject
from tejat.engine.calls.scheduler import Scheduler

_MAX_ROOTS = 64


class ClientTools(Protocol):
    """Tools that were opened for a client."""

    @property
    def scheduler(self) -> Scheduler:
        """The scheduler for the next call."""
        ...

    def offers(self, name: str) -> bool:
        """Whether there is such a tool, and no rule forbids it entirely."""
        ...


class ToolSession(Protocol):
    """What a client keeps when its tools are opened again: todos, mode and plans."""

    def open(self, approver: Approver, within: Sequence[str]) -> AbstractContextManager[ClientTools]:
        """Open the tools for these directories, or for all roots if none are given. Raises UsageError."""
        ...


class ToolProvider(Protocol):
    """Source of the tools. `roots` are the widest directories they may work in."""

    @property
    def roots(self) -> tuple[str, ...]: ...

    def start_session(self, *, has_plans: bool) -> ToolSession:
        """Start the session of a client, with a mode of its own if it `has_plans`."""
        ...

    def restrict_roots(self, directories: Sequence[str]) -> tuple[str, ...]:
        """Return the given directories as far as they lie in the roots, empty if none do."""
        ...


class ClientWorkspace:
    """Tools of one client, opened on first use. After a change of roots the old ones close with their last call."""

    def __init__(self, session: ToolSession, approver: Approver) -> None:
        self._session = session
        self._approver = approver
        self._within: tuple[str, ...] = ()
        self._opened: _OpenTools | None = None
        self._retired: set[_OpenTools] = set()

    def set_roots(self, within: tuple[str, ...]) -> None:
        """Use these directories for the calls that follow."""
        if within != self._within:
            self._within = within
            self._retire()

    @contextmanager
    def tools(self) -> Generator[ClientTools]:
        """Lease the tools for a call. Raises UsageError."""
        if self._opened is None:
            self._opened = _OpenTools(self._session.open(self._approver, self._within))
        opened = self._opened
        opened.uses += 1
        try:
            yield opened.tools
        finally:
            opened.uses -= 1
            if opened in self._retired and not opened.uses:
                self._retired.discard(opened)
                opened.close()

    def close(self) -> None:
        """Close all tools; no call may be running."""
        self._retire()
        for opened in self._retired:
            opened.close()
        self._retired.clear()

    def _retire(self) -> None:
        opened, self._opened = self._opened, None
        if opened is None:
            return
        if opened.uses:
            self._retired.add(opened)
        else:
            opened.close()


class _OpenTools:
    def __init__(self, opening: AbstractContextManager[ClientTools]) -> None:
        self._opening = opening
        self.tools = opening.__enter__()
        self.uses = 0

    def close(self) -> None:
        self._opening.__exit__(None, None, None)


def parse_roots(result: JsonObject) -> list[str] | None:
    """Return the local paths in a `roots/list` result, None if it names no root."""
    roots = result.get("roots")
    if not isinstance(roots, Sequence) or isinstance(roots, str) or not roots:
        return None
    uris = [root.get("uri") for root in roots[:_MAX_ROOTS] if isinstance(root, Mapping)]
    return [path for uri in uris if isinstance(uri, str) and (path := _path_from_uri(uri)) is not None]


def _path_from_uri(uri: str) -> str | None:
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    path = unquote(parts.path, errors="surrogateescape")
    is_local = parts.scheme == "file" and parts.netloc in ("", "localhost")
    return path if is_local and os.path.isabs(path) and "\0" not in path else None
