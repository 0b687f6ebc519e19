"""The live sessions that browsers have opened."""

import asyncio

from tejat.ui.web.contract import SessionDirectory
from tejat.ui.web.session.feed import SessionFeed

_IDLE_SECONDS = 300.0


class SessionFeeds:
    """Opens a feed when a browser asks for its session, and closes it some time after the last one has left."""

    def __init__(self, directory: SessionDirectory, *, idle_seconds: float = _IDLE_SECONDS) -> None:
        self._directory = directory
        self._idle_seconds = idle_seconds
        self._feeds: dict[str, SessionFeed] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._closing: set[asyncio.Task[None]] = set()

    async def get(self, session_id: str) -> SessionFeed:
        """The feed of a running session. Raises UsageError."""
        async with self._locks.setdefault(session_id, asyncio.Lock()):
            feed = self._feeds.get(session_id)
            if feed is None or feed.has_ended:
                if feed is not None:
                    await feed.close()
                feed = SessionFeed(self._directory, session_id)
                try:
                    await feed.open()
                except BaseException:
                    await feed.close()
                    self._feeds.pop(session_id, None)
                    raise
                self._feeds[session_id] = feed
        self._watch(session_id)
        return feed

    def _watch(self, session_id: str) -> None:
        """Look in a while whether anybody still needs the feed."""
        timer = self._timers.pop(session_id, None)
        if timer is not None:
            timer.cancel()
        loop = asyncio.get_running_loop()
        self._timers[session_id] = loop.call_later(self._idle_seconds, self._close_if_unused, session_id)

    def _close_if_unused(self, session_id: str) -> None:
        self._timers.pop(session_id, None)
        feed = self._feeds.get(session_id)
        if feed is None:
            return
        if feed.listeners or feed.is_working:
            self._watch(session_id)
            return
        del self._feeds[session_id]
        task = asyncio.create_task(feed.close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def close(self) -> None:
        """Detach from all sessions."""
        for timer in self._timers.values():
            timer.cancel()
        feeds, self._feeds = list(self._feeds.values()), {}
        await asyncio.gather(*(feed.close() for feed in feeds), *self._closing)
