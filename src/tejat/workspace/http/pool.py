"""Pool of idle HTTP connections."""

import asyncio
from typing import TypeAlias

from tejat.workspace.http.connection import HttpConnection
from tejat.workspace.http.proxies import Proxy
from tejat.workspace.http.url import Origin

_IDLE_SECONDS = 30.0
_MAX_IDLE = 4

Route: TypeAlias = "tuple[Origin, Proxy | None]"


class ConnectionPool:
    """A few idle connections per route; connections in use are tracked too."""

    def __init__(self) -> None:
        self._idle: dict[Route, list[tuple[HttpConnection, asyncio.TimerHandle]]] = {}
        self._open: set[HttpConnection] = set()
        self._is_closed = False

    def acquire(self, route: Route) -> HttpConnection | None:
        """Return the most recently used connection, if one is alive."""
        waiting = self._idle.get(route, [])
        while waiting:
            connection, alarm = waiting.pop()
            alarm.cancel()
            if connection.is_idle and connection.stream.loop is asyncio.get_running_loop():
                return connection
            self.discard(connection)
        return None

    def track(self, connection: HttpConnection) -> None:
        """Track a connection in use."""
        self._open.add(connection)

    def release(self, route: Route, connection: HttpConnection) -> None:
        """Keep a reusable connection for a while."""
        waiting = self._idle.setdefault(route, [])
        if self._is_closed or len(waiting) >= _MAX_IDLE:
            self.discard(connection)
            return
        waiting.append((connection, connection.stream.loop.call_later(_IDLE_SECONDS, self._expire, route, connection)))

    def discard(self, connection: HttpConnection) -> None:
        """Close a connection at once."""
        self._open.discard(connection)
        if not connection.stream.loop.is_closed():
            connection.stream.abort()

    async def close(self) -> None:
        """Close all connections, also those in use, and wait for it."""
        self._is_closed = True
        for waiting in self._idle.values():
            for _, alarm in waiting:
                alarm.cancel()
        self._idle.clear()
        connections = list(self._open)
        for connection in connections:
            self.discard(connection)
        own = asyncio.get_running_loop()
        closing = [connection.stream.closed for connection in connections if connection.stream.loop is own]
        if closing:
            await asyncio.wait(closing, timeout=1.0)

    def _expire(self, route: Route, connection: HttpConnection) -> None:
        self._idle[route] = [entry for entry in self._idle.get(route, []) if entry[0] is not connection]
        self.discard(connection)
