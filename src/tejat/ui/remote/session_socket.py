"""The socket of the session in this process, through which other processes of the user reach it."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from tejat.core.agent.events import Noticed
from tejat.core.i18n import _
from tejat.core.log import report_unexpected
from tejat.engine.sessions.event_bus import EventBus
from tejat.engine.sessions.event_log import EventLog

if TYPE_CHECKING:
    from tejat.core.agent.events import AgentEvent
    from tejat.ui.contract import UiSession
    from tejat.ui.remote.server import SessionServer

_DELAY_SECONDS = 0.5
"""The socket opens when the first screen is drawn, or the first request is on its way."""


class SessionSocket:
    """Opens the socket in the background, and keeps the events from the beginning.

    `open_session` returns the session when somebody wants to use it. `kind` is as in `ServerOptions`.
    """

    def __init__(
        self,
        events: EventBus[AgentEvent],
        open_session: Callable[[], UiSession],
        directory: str,
        *,
        kind: str,
        on_stop: Callable[[], object] | None = None,
    ) -> None:
        self._events = events
        self._open_session = open_session
        self._directory = directory
        self._kind = kind
        self._on_stop = on_stop
        self._started = time.time()
        self._log = EventLog()
        self._unsubscribe = events.subscribe(self._handle_event)
        self.server: SessionServer | None = None

    async def open(self) -> None:
        """Open the socket now. Raises OSError."""
        from tejat.ui.remote.server import ServerOptions, SessionServer
        from tejat.ui.remote.socket_name import make_socket_name

        options = ServerOptions(self._kind, self._started, self._on_stop)
        server = SessionServer(self._open_session, self._log, options, self._warn)
        try:
            await server.start(os.path.join(self._directory, make_socket_name()))
        except BaseException:
            await server.close()
            raise
        self.server = server

    async def open_later(self) -> None:
        """Open the socket after a moment. Without it the session only cannot be reached."""
        await asyncio.sleep(_DELAY_SECONDS)
        try:
            await self.open()
        except OSError as error:
            reason = error.strerror or error
            self._warn(_("This session cannot be reached from other terminals: {reason}.", reason=reason))
        except Exception as error:  # noqa: BLE001 -- the session itself works
            self._warn(report_unexpected(error, "the session socket"))

    async def close(self) -> None:
        """Close the socket and its connections."""
        self._unsubscribe()
        if self.server is not None:
            await self.server.close()

    def _handle_event(self, event: AgentEvent) -> None:
        self._log.record(event)
        if self.server is not None:
            self.server.handle_event(event)

    def _warn(self, message: str) -> None:
        self._events.emit(Noticed(message))


@asynccontextmanager
async def serve_session(
    events: EventBus[AgentEvent], open_session: Callable[[], UiSession], *, directory: str, kind: str
) -> AsyncGenerator[None]:
    """Open the socket of a session in the background while the context is open. See `SessionSocket`."""
    socket = SessionSocket(events, open_session, directory, kind=kind)
    opening = asyncio.create_task(socket.open_later())
    try:
        yield
    finally:
        opening.cancel()
        await asyncio.wait((opening,))
        await socket.close()


def wants_socket(flag: bool | None, *, setting: bool, is_replay: bool) -> bool:
    """Whether a session gets a socket: where the process at the other end can be known, unless the user said no."""
    return sys.platform == "linux" and (setting if flag is None else flag) and not is_replay
