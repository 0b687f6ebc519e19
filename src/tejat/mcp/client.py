"""Client of one MCP server for the lifetime of a session, connected in the background."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import TypeVar

from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import lazy
from tejat.core.log import mcp_logger
from tejat.core.messages.types import JsonObject
from tejat.mcp.connection import ServerConnection
from tejat.mcp.errors import McpFailure, McpProblem, RequestNotSent
from tejat.mcp.features.discovery import NOTHING_FOUND
from tejat.mcp.jsonrpc_session import RequestTimeouts
from tejat.mcp.protocol import TOOL_CALL
from tejat.mcp.server_requests import ServerRequestHandler
from tejat.mcp.transports.base import Transport
from tejat.mcp.transports.uncancelled import wait_uncancelled
from tejat.mcp.types import ClientCallbacks, ConnectionStep, McpProgress, ServerFeatures, ServerState, ServerStatus
from tejat.workspace.threads.offload import run_blocking

_Result = TypeVar("_Result")

_MAX_TIMEOUT_FACTOR = 4
"""A call that reports progress may take this many times the server's timeout."""
_MAX_REASONS = 3
_STEP_ACTIONS = {ConnectionStep.START: lazy("start"), ConnectionStep.HANDSHAKE: lazy("complete the handshake")}
_MAY_BE_DONE = lazy("The call may or may not have been executed.")
_CLOSED = lazy("The server session was closed.")


class ServerPlan(Frozen):
    """How to reach one server. Timeouts are in seconds.

    `connect` may raise McpFailure. `location` is shown: a command without arguments, or a URL without secrets.
    `start_timeout` limits the handshake. `may_sample`: the server may use the model of the session.
    `check` runs in a thread before each connection, and may raise McpFailure.
    """

    alias: str
    transport: str
    location: str
    connect: Callable[[], Transport]
    timeout: float = 600.0
    start_timeout: float = 30.0
    may_sample: bool = False
    check: Callable[[], None] | None = None


class ClientLimits(Frozen):
    """Limits in seconds. A step also ends at the server's own timeout.

    `reconnect_delays` precede the automatic attempts to reconnect; there are no more of them within `reconnect_window`.
    """

    start: float = 10.0
    listing: float = 10.0
    second_listing_delay: float = 0.5
    listing_interval: float = 0.2
    reconnect_delays: tuple[float, ...] = (1.0, 5.0, 25.0)
    reconnect_window: float = 300.0


CLIENT_LIMITS = ClientLimits()


class McpClient:
    """One server, as a `ClientSession`.

    A task of its own opens, watches and closes the connections; callers only wait for responses, so they can be
    cancelled at any time. `on_change` is called in the loop with every change of the status. `start_semaphore` limits
    how many servers start at once.
    """

    def __init__(
        self,
        plan: ServerPlan,
        callbacks: ClientCallbacks,
        *,
        version: str,
        on_change: Callable[[ServerStatus], None],
        start_semaphore: asyncio.Semaphore | None = None,
        limits: ClientLimits = CLIENT_LIMITS,
    ) -> None:
        self.alias = plan.alias
        self._plan = plan
        callbacks = callbacks if plan.may_sample else replace(callbacks, sample=None)
        self._request_handler = ServerRequestHandler(plan.alias, callbacks)
        self._version = version
        self._on_change = on_change
        self._start_semaphore = start_semaphore or asyncio.Semaphore()
        self._limits = limits
        self._status = ServerStatus(plan.alias, ServerState.DISCONNECTED, plan.transport, plan.location)
        self._task: asyncio.Task[None] | None = None
        self._is_closed = False
        self._connection: ServerConnection | None = None
        self._attempt: asyncio.Future[ServerConnection | McpFailure] | None = None
        self._disconnected: asyncio.Future[McpFailure]
        self._connect_requested = asyncio.Event()
        self._wake_up = asyncio.Event()
        self._is_current = asyncio.Event()
        self._is_current.set()
        self._was_connected = False
        self._reconnect_times: deque[float] = deque()

    @property
    def status(self) -> ServerStatus:
        return self._status

    def start(self) -> None:
        """Connect in the background. Needed only once: a lost connection is restored on demand."""
        if self._task is not None or self._is_closed:
            return
        loop = asyncio.get_running_loop()
        self._attempt = loop.create_future()
        self._update_status(state=ServerState.CONNECTING, step=ConnectionStep.START)
        self._task = loop.create_task(self._run(), name=f"tejat-mcp-{self.alias}")
        self._task.add_done_callback(self._on_task_done)

    async def wait_until_current(self) -> None:
        """Wait until the changes that the server has announced are in the status."""
        await self._is_current.wait()

    async def reconnect(self) -> ServerStatus:
        """Connect now, for example after a login, unless connected, and return the status.

        An attempt already under way may predate the login: if it fails, there is another one.
        """
        for _ in range(2 if self._status.state is ServerState.CONNECTING else 1):
            with suppress(McpFailure):
                await self._ensure_connected()
                break
        return self._status

    async def close(self) -> None:
        """Close for good. May be called at any time and more than once."""
        if self._task is None:
            self._is_closed = True
            return
        if not self._is_closed:
            self._is_closed = True
            self._task.cancel()
        await asyncio.wait((self._task,))

    async def call_tool(
        self, name: str, arguments: JsonObject, *, on_progress: Callable[[McpProgress], None] | None = None
    ) -> JsonObject:
        """Return the result as the server gave it. Cancelling the task cancels the call. Raises McpFailure."""
        params: JsonObject = {"name": name, "arguments": arguments}
        return await self._request(TOOL_CALL, params, tool=name, on_progress=on_progress or _ignore_progress)

    async def get_prompt(self, name: str, arguments: JsonObject) -> JsonObject:
        """Raises McpFailure."""
        return await self._request("prompts/get", {"name": name, "arguments": arguments})

    async def read_resource(self, uri: str) -> JsonObject:
        """Raises McpFailure."""
        return await self._request("resources/read", {"uri": uri})

    async def notify_roots_changed(self) -> None:
        """Notify the server if it is connected. Raises McpFailure."""
        if self._connection is not None:
            await self._connection.notify_roots_changed()

    async def _request(
        self,
        method: str,
        params: JsonObject,
        *,
        tool: str | None = None,
        on_progress: Callable[[McpProgress], None] | None = None,
    ) -> JsonObject:
        """Send a request, again after a lost connection unless it is a tool call that may have run."""
        timeouts = RequestTimeouts(idle=self._plan.timeout, total=_MAX_TIMEOUT_FACTOR * self._plan.timeout)
        is_repeated = False
        while True:
            connection = await self._ensure_connected()
            try:
                return await connection.request(method, params, timeouts=timeouts, on_progress=on_progress)
            except McpFailure as failure:
                if failure.problem is McpProblem.UNAUTHORIZED and self._connection is connection:
                    self._handle_disconnect(failure)
                if failure.problem is not McpProblem.CLOSED:
                    raise
                if tool is not None and not isinstance(failure, RequestNotSent) and not self._is_idempotent(tool):
                    raise McpFailure(f"{failure.message} {_MAY_BE_DONE}", McpProblem.CLOSED) from None
                if is_repeated:
                    raise
            is_repeated = True

    def _is_idempotent(self, name: str) -> bool:
        """Return whether the tool declares that repeating a call has no further effect."""
        marks = [tool.annotations for tool in self._status.features.tools if tool.name == name]
        return any(each.idempotent is True or each.read_only is True for each in marks)

    async def _ensure_connected(self) -> ServerConnection:
        """Return the connection, after connecting if needed. Raises McpFailure."""
        self.start()
        if self._connection is not None:
            return self._connection
        if self._is_closed or self._attempt is None:
            raise McpFailure(_CLOSED, McpProblem.CLOSED)
        self._connect_requested.set()
        outcome = await asyncio.shield(self._attempt)
        if isinstance(outcome, ServerConnection):
            return outcome
        message = lazy("The MCP server '{alias}' is not connected: {why}", alias=self.alias, why=outcome.message)
        raise outcome.replace(message=message)

    async def _run(self) -> None:
        while True:
            await self._run_connection()
            await self._wait_to_reconnect()
            self._update_status(state=ServerState.CONNECTING, step=ConnectionStep.START, reason="", recent_output=())

    async def _run_connection(self) -> None:
        """Run one connection from start to end."""
        began = asyncio.get_running_loop().time()
        self._disconnected = asyncio.get_running_loop().create_future()
        self._wake_up.clear()
        try:
            if (check := self._plan.check) is not None:
                await run_blocking(lambda _: check())
            transport = self._plan.connect()
        except McpFailure as failure:
            self._set_failed(failure, (), began)
            return
        connection = ServerConnection(
            transport, self._request_handler, on_change=self._handle_change, on_end=self._handle_disconnect
        )
        try:
            await self._connect(connection, began)
            raise await self._watch(connection)
        except McpFailure as failure:
            self._set_failed(failure, connection.session.recent_output, began)
        finally:
            self._connection = None
            closing = asyncio.get_running_loop().create_task(connection.session.close())
            await wait_uncancelled(closing)
            closing.result()

    async def _connect(self, connection: ServerConnection, began: float) -> None:
        """Raises McpFailure."""
        limits = self._limits
        async with self._start_semaphore:
            await self._run_step(ConnectionStep.START, connection.session.open, limits.start)
        negotiate = partial(connection.negotiate, version=self._version)
        info = await self._run_step(ConnectionStep.HANDSHAKE, negotiate, self._plan.start_timeout)
        self._update_status(step=ConnectionStep.LIST, info=info)
        features = await connection.list_features(seconds=min(limits.listing, self._plan.timeout))
        if features.is_empty:
            raise McpFailure(" ".join([NOTHING_FOUND, *features.problems[:_MAX_REASONS]]), McpProblem.MALFORMED)
        if connection.session.is_closed:
            return
        self._connection = connection
        self._was_connected = True
        seconds = asyncio.get_running_loop().time() - began
        self._update_status(state=ServerState.CONNECTED, step=None, features=features, connect_seconds=seconds)
        self._resolve_attempt(connection)

    async def _run_step(self, step: ConnectionStep, work: Callable[[], Awaitable[_Result]], seconds: float) -> _Result:
        """Run one step within its time limit. Raises McpFailure."""
        self._update_status(step=step)
        limit = min(seconds, self._plan.timeout)
        try:
            async with asyncio.timeout(limit):
                return await work()
        except TimeoutError:
            message = lazy(
                "The server did not {deed} within {limit:.3g} seconds.", deed=_STEP_ACTIONS[step], limit=limit
            )
            raise McpFailure(message, McpProblem.TIMED_OUT) from None

    async def _watch(self, connection: ServerConnection) -> McpFailure:
        """Watch a connection until it is lost, and return why."""
        listening = asyncio.get_running_loop().create_task(connection.listen())
        try:
            while True:
                await self._wake_up.wait()
                self._wake_up.clear()
                if self._disconnected.done():
                    return self._disconnected.result()
                await self._refresh_features(connection)
        finally:
            listening.cancel()

    async def _refresh_features(self, connection: ServerConnection) -> None:
        """List the features again after a change. Notifications that come meanwhile cause one more listing."""
        seconds = min(self._limits.listing, self._plan.timeout)
        # Some servers notify before the change is visible.
        for pause in (0.0, self._limits.second_listing_delay):
            await asyncio.wait((self._disconnected,), timeout=pause)
            try:
                features = await connection.list_features(seconds=seconds, is_strict=True)
            except McpFailure:
                break
            if features != self._status.features:
                self._update_status(features=features)
                break
        if not self._wake_up.is_set():
            self._is_current.set()
        await asyncio.wait((self._disconnected,), timeout=self._limits.listing_interval)

    def _handle_change(self) -> None:
        self._is_current.clear()
        self._wake_up.set()

    def _handle_disconnect(self, failure: McpFailure) -> None:
        self._is_current.set()
        if self._connection is not None:
            self._update_status(step=ConnectionStep.CALL if self._connection.session.has_pending_requests else None)
        self._connection = None
        if not self._disconnected.done():
            self._disconnected.set_result(failure)
        self._wake_up.set()

    def _set_failed(self, failure: McpFailure, recent_output: tuple[str, ...], began: float) -> None:
        is_new = self._status.state is ServerState.CONNECTING
        needs_login = failure.problem is McpProblem.UNAUTHORIZED
        self._update_status(
            state=ServerState.NEEDS_LOGIN if needs_login else ServerState.DISCONNECTED,
            reason=failure.message,
            recent_output=recent_output,
            connect_seconds=asyncio.get_running_loop().time() - began if is_new else self._status.connect_seconds,
        )
        if is_new:
            self._resolve_attempt(failure)

    def _resolve_attempt(self, outcome: ServerConnection | McpFailure) -> None:
        """Resolve everybody's wait for a connection. Later callers wait for the next attempt."""
        if self._attempt is not None:
            self._attempt.set_result(outcome)
        self._attempt = asyncio.get_running_loop().create_future()
        self._connect_requested.clear()

    async def _wait_to_reconnect(self) -> None:
        """Wait until a connection is requested, or the time for an automatic attempt has come."""
        now = asyncio.get_running_loop().time()
        while self._reconnect_times and now - self._reconnect_times[0] > self._limits.reconnect_window:
            self._reconnect_times.popleft()
        made = len(self._reconnect_times)
        may_try = self._was_connected and self._status.state is ServerState.DISCONNECTED
        pause = self._limits.reconnect_delays[made] if may_try and made < len(self._limits.reconnect_delays) else None
        try:
            async with asyncio.timeout(pause):
                await self._connect_requested.wait()
        except TimeoutError:
            self._reconnect_times.append(asyncio.get_running_loop().time())

    def _on_task_done(self, owner: "asyncio.Task[None]") -> None:
        """Handle the end of the task: it was cancelled, or it has a bug."""
        defect = None if owner.cancelled() else owner.exception()
        reason = _CLOSED
        if defect is not None:
            reason = lazy("Internal error while managing the server: {kind}", kind=type(defect).__name__)
            message = f"the link to the MCP server '{self.alias}' broke"
            owner.get_loop().call_exception_handler({"message": message, "exception": defect, "task": owner})
        self._is_closed = True
        failure = McpFailure(reason, McpProblem.CLOSED)
        if self._attempt is not None and not self._attempt.done():
            self._attempt.set_result(failure)
        self._update_status(state=ServerState.DISCONNECTED, step=None, reason=reason, features=ServerFeatures())

    def _update_status(self, **changes: object) -> None:
        status = replace(self._status, **changes)
        if status == self._status:
            return
        if status.state is not self._status.state:
            _log_state(status)
        self._status = status
        try:
            self._on_change(status)
        except Exception as error:  # noqa: BLE001 -- a listener must not break the client
            context = {"message": f"a change of the MCP server '{self.alias}' could not be told", "exception": error}
            asyncio.get_running_loop().call_exception_handler(context)


def _log_state(status: ServerStatus) -> None:
    match status.state:
        case ServerState.CONNECTED:
            mcp_logger.info("%s: connected, tools: %d", status.alias, len(status.features.tools))
        case ServerState.CONNECTING:
            mcp_logger.info("%s: connecting", status.alias)
        case _:
            log = mcp_logger.info if status.reason == _CLOSED else mcp_logger.warning
            log("%s: %s. %s", status.alias, status.state, status.reason)


def _ignore_progress(progress: McpProgress) -> None:
    """Ignore progress. Reporting it still extends the timeout."""
