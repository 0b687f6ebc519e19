"""The list of sessions, kept up to date only while somebody looks at it."""

import asyncio
from collections.abc import AsyncGenerator, Sequence

from tejat.core.messages.types import JsonObject, JsonValue
from tejat.core.sanitize import sanitize_summary
from tejat.ui.shared.labels.run_summary import format_cost
from tejat.ui.web.contract import SessionActivity, SessionDirectory, SessionEntry
from tejat.ui.web.http.event_stream import encode_event

_INTERVAL_SECONDS = 2.0
_MAX_INTERVAL_SECONDS = 10.0
_ORDER = (SessionActivity.WAITING, SessionActivity.WORKING, SessionActivity.IDLE, SessionActivity.ENDED)
_MAX_ENTRIES = 500


class OverviewFeed:
    """Lists the sessions again and again while a browser listens: every 2 seconds, more rarely if nothing changes."""

    def __init__(self, directory: SessionDirectory) -> None:
        self._directory = directory
        self._current: list[JsonValue] = []
        self._version = 0
        self._listeners = 0
        self._task: asyncio.Task[None] | None = None
        self._change = asyncio.Event()
        self._wake = asyncio.Event()

    async def list_now(self) -> list[JsonValue]:
        """The sessions as they are now: those that wait first, then by their last change."""
        entries = await self._directory.list_sessions()
        return [entry_to_json(entry) for entry in sort_entries(entries)[:_MAX_ENTRIES]]

    def refresh(self) -> None:
        """List the sessions soon: something has changed."""
        self._wake.set()

    async def stream(self) -> AsyncGenerator[bytes]:
        """Yield the list, and again whenever it changes."""
        self._listeners += 1
        self._wake.set()
        if self._task is None:
            self._task = asyncio.create_task(self._watch())
        seen = -1 if self._version else 0
        try:
            while True:
                if seen != self._version:
                    seen = self._version
                    yield encode_event("sessions", self._current)
                self._change.clear()
                await self._change.wait()
        finally:
            self._listeners -= 1
            if not self._listeners:
                await self.close()

    async def close(self) -> None:
        """Stop listing."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait((task,))

    async def _watch(self) -> None:
        interval = _INTERVAL_SECONDS
        while True:
            self._wake.clear()
            found = await self.list_now()
            if found != self._current or not self._version:
                self._current = found
                self._version += 1
                self._change.set()
                interval = _INTERVAL_SECONDS
            else:
                interval = min(interval * 1.5, _MAX_INTERVAL_SECONDS)
            try:
                async with asyncio.timeout(interval):
                    await self._wake.wait()
            except TimeoutError:
                pass
            else:
                interval = _INTERVAL_SECONDS


def sort_entries(entries: Sequence[SessionEntry]) -> list[SessionEntry]:
    """Those that wait first, longest first; then those that work; the rest by their last change."""

    def key(entry: SessionEntry) -> tuple[int, float]:
        is_waiting = entry.activity is SessionActivity.WAITING
        return _ORDER.index(entry.activity), entry.since if is_waiting else -entry.modified

    return sorted(entries, key=key)


def entry_to_json(entry: SessionEntry) -> JsonObject:
    """A session as the page lists it."""
    return {
        "id": entry.session_id,
        "title": sanitize_summary(entry.title),
        "folder": sanitize_summary(entry.folder),
        "activity": entry.activity.value,
        "since": round(entry.since),
        "modified": round(entry.modified),
        "cost": "" if entry.cost is None else format_cost(entry.cost),
        "turns": entry.turns,
        "model": sanitize_summary(entry.model),
        "detail": sanitize_summary(entry.detail),
        "live": entry.is_live,
    }
