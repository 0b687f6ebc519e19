"""The socket of a session, for front ends in other processes."""

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress

from tejat.core.agent.events import AgentEvent, RunEnded
from tejat.core.frozen import Frozen
from tejat.core.i18n import _, translate
from tejat.core.messages.prompt import Prompt
from tejat.core.messages.types import JsonObject
from tejat.core.ui.status import Status
from tejat.core.value_json import value_to_json
from tejat.engine.sessions.event_log import EventLog
from tejat.ui.contract import UiSession
from tejat.ui.jsonrpc.socket_stream import SocketSink, SocketSource
from tejat.ui.remote import methods
from tejat.ui.remote.front_end import FrontEnd
from tejat.workspace.files.unix_socket import listen_on_socket
from tejat.workspace.processes.socket_peer import PeerRefused, check_client

_STATE_SECONDS = 0.1
"""Time that changes of the state are collected for."""
_SERVER_POLL_SECONDS = 0.3
_MAX_FRONT_ENDS = 100
_MAX_REFUSALS_SHOWN = 5


class ServerOptions(Frozen):
    """How a session is served. `kind` says what else keeps it open: terminal, headless or detached.

    `started` is in seconds since 1970, `on_stop` ends a session that nothing else keeps open.
    """

    kind: str
    started: float
    on_stop: Callable[[], object] | None = None


class SessionServer:
    """Serves one session until `close`. Processes that it started are refused, see `check_client`.

    `open_session` returns the session when the first front end needs it; `warn` gets messages for the log.
    """

    def __init__(
        self, open_session: Callable[[], UiSession], log: EventLog, options: ServerOptions, warn: Callable[[str], None]
    ) -> None:
        self._open_session = open_session
        self._session: UiSession | None = None
        self._options = options
        self._warn = warn
        self.log = log
        self.front_ends: set[FrontEnd] = set()
        self.on_change: Callable[[], object] = lambda: None
        self._path = ""
        self._connections: set[asyncio.Task[None]] = set()
        self._prompts: set[asyncio.Task[RunEnded]] = set()
        self._server: asyncio.Server | None = None
        self._refusals = 0
        self._shown: tuple[Status, object, object] | None = None
        self._state_timer: asyncio.TimerHandle | None = None

    @property
    def session(self) -> UiSession:
        if self._session is None:
            self._session = self._open_session()
        return self._session

    async def start(self, path: str) -> None:
        """Open the socket. Raises OSError."""
        listener = listen_on_socket(path)
        self._path = path
        # Without an `await` that could be cancelled before the server is known, and so can be closed.
        self._server = await asyncio.start_unix_server(self._accept, sock=listener, start_serving=False)
        await self._server.start_serving()

    async def close(self) -> None:
        """Close the socket and all connections. Prompts that front ends sent are stopped."""
        if self._state_timer is not None:
            self._state_timer.cancel()
        if self._server is not None:
            self._server.close()
            with suppress(OSError):
                os.unlink(self._path)
        for front_end in tuple(self.front_ends):
            front_end.close()
        for task in self._prompts:
            task.cancel()
        if waiting := (*self._connections, *self._prompts):
            await asyncio.wait(waiting)

    def handle_event(self, event: AgentEvent) -> None:
        """Send an event to the front ends. It has to be in the log already."""
        attached = [each for each in self.front_ends if each.is_attached]
        if attached:
            params: JsonObject = {"event": value_to_json(event)}
            for front_end in attached:
                front_end.notify(methods.EVENT, params)
            self._send_state_soon(_STATE_SECONDS)

    def info(self) -> JsonObject:
        """See `SharedSession`."""
        session = self.session
        status, questions = session.status, session.pending_questions
        return {
            "protocol": methods.PROTOCOL,
            "session_id": status.session_id,
            "pid": os.getpid(),
            "kind": self._options.kind,
            "state": "waiting" if questions else "working" if self.log.is_running else "idle",
            "waiting_since": questions[0].asked_at if questions else None,
            "questions": value_to_json(questions),
            "title": session.title,
            "folder": session.root,
            "model": status.model,
            "mode": status.mode,
            "tokens": status.tokens,
            "cost": status.cost,
            "started": self._options.started,
            "front_ends": sum(each.is_attached for each in self.front_ends),
        }

    def state(self) -> JsonObject:
        """See `SharedSession`."""
        session = self.session
        return {
            "status": value_to_json(session.status),
            "preferences": value_to_json(session.preferences),
            "commands": value_to_json(session.commands.summaries()),
            "resumable_id": session.resumable_id,
            "title": session.title,
            "root": session.root,
        }

    def begin_prompt(self, prompt: Prompt) -> "asyncio.Task[RunEnded]":
        """See `SharedSession`."""
        task = asyncio.create_task(self.session.prompt(prompt))
        self._prompts.add(task)
        task.add_done_callback(self._on_prompt_done)
        return task

    def stop(self) -> bool:
        """See `SharedSession`."""
        is_interrupted = self.session.interrupt()
        if self._options.on_stop is not None:
            asyncio.get_running_loop().call_soon(self._options.on_stop)
        return is_interrupted or self._options.on_stop is not None

    @property
    def is_used(self) -> bool:
        """Whether a front end is attached, or a prompt of one runs."""
        return bool(self._prompts) or any(each.is_attached for each in self.front_ends)

    def _on_prompt_done(self, task: "asyncio.Task[RunEnded]") -> None:
        self._prompts.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._warn(str(error))
        self.on_change()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            await self._serve(reader, writer)
        except asyncio.CancelledError:
            pass  # asyncio would log a cancelled connection
        finally:
            self._connections.discard(task)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self.front_ends) >= _MAX_FRONT_ENDS:
            return
        try:
            check_client(writer.get_extra_info("socket"))
        except (PeerRefused, OSError) as refused:
            self._report_refusal(refused)
            return
        front_end = FrontEnd(self, self._warn)
        self.front_ends.add(front_end)
        try:
            await front_end.serve(SocketSource(reader), SocketSink(writer))
        finally:
            self.front_ends.discard(front_end)
            self.on_change()

    def _report_refusal(self, refused: PeerRefused | OSError) -> None:
        """Warn of a process that may not connect. It must not fill the screen, however often it tries."""
        self._refusals += 1
        if self._refusals <= _MAX_REFUSALS_SHOWN:
            reason = translate(refused.args[0]) if isinstance(refused, PeerRefused) else refused
            self._warn(_("A process may not use this session: {reason}.", reason=reason))

    def _send_state_soon(self, seconds: float) -> None:
        if self._state_timer is None:
            self._state_timer = asyncio.get_running_loop().call_later(seconds, self._send_state)

    def _send_state(self) -> None:
        self._state_timer = None
        attached = [each for each in self.front_ends if each.is_attached]
        if not attached:
            return
        session = self.session
        shown = session.status, session.preferences, session.resumable_id
        if shown != self._shown:
            self._shown = shown
            state = self.state()
            for front_end in attached:
                front_end.notify(methods.STATE, state)
        servers = session.status.servers
        if servers.ready + servers.failed < servers.total:
            self._send_state_soon(_SERVER_POLL_SECONDS)
