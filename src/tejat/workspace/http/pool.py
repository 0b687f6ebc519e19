"""Connections that wait for their next request."""

import asyncio
from typing import TypeAlias

from tejat.workspace.http.address import Origin
from tejat.workspace.http.connection import Connection
from tejat.workspace.http.proxies import Proxy

_IDLE_SECONDS = 30.0
_MOST_IDLE = 4

Route: TypeAlias = "tuple[Origin, Proxy | None]"


class Pool:
    """A few idle connections for each way to a server; every connection that is in use is known too."""

    def __init__(self) -> None:
        self._idle: dict[Route, list[tuple[Connection, asyncio.TimerHandle]]] = {}
        self._open: set[Connection] = set()
        self._is_closed = False

    def take(self, route: Route) -> Connection | None:
        """The connection that was used last, if it is still alive."""
        waiting = self._idle.get(route, [])
        while waiting:
            connection, alarm = waiting.pop()
            alarm.cancel()
            if connection.is_quiet and connection.wire.loop is asyncio.get_running_loop():
                return connection
            self.drop(connection)
        return None

    def hold(self, connection: Connection) -> None:
        """Remember a connection that somebody uses."""
        self._open.add(connection)

    def put(self, route: Route, connection: Connection) -> None:
        """Keep a connection that is ready for another request, for a while."""
        waiting = self._idle.setdefault(route, [])
        if self._is_closed or len(waiting) >= _MOST_IDLE:
            self.drop(connection)
            return
        waiting.append((connection, connection.wire.loop.call_later(_IDLE_SECONDS, self._expire, route, connection)))

    def drop(self, connection: Connection) -> None:
        """Close a connection at once."""
        self._open.discard(connection)
        if not connection.wire.loop.is_closed():
            connection.wire.abort()

    async def close(self) -> None:
        """Close all, also those in use, and wait until they are closed."""
        self._is_closed = True
        for waiting in self._idle.values():
            for _, alarm in waiting:
                alarm.cancel()
        self._idle.clear()
        connections = list(self._open)
        for connection in connections:
            self.drop(connection)
        own = asyncio.get_running_loop()
        closing = [connection.wire.closed for connection in connections if connection.wire.loop is own]
        if closing:
            await asyncio.wait(closing, timeout=1.0)

    def _expire(self, route: Route, connection: Connection) -> None:
        self._idle[route] = [entry for entry in self._idle.get(route, []) if entry[0] is not connection]
        self.drop(connection)
