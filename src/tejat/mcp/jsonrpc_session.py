"""JSON-RPC session over one transport: pending requests, their timeouts, and requests of the server."""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from itertools import count
from math import isfinite
from typing import assert_never

from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.core.sanitize import sanitize_text
from tejat.mcp.errors import McpFailure, McpProblem, RequestNotSent
from tejat.mcp.protocol import (
    INTERNAL_ERROR,
    JsonRpcError,
    JsonRpcMessage,
    JsonRpcNotification,
    JsonRpcRequest,
    JsonRpcResponse,
    RequestId,
)
from tejat.mcp.server_requests import ServerRequestHandler
from tejat.mcp.transports.base import Transport
from tejat.mcp.types import McpProgress

DISCOVER = "server/discover"
INITIALIZE = "initialize"

_UNCANCELLABLE = frozenset({DISCOVER, INITIALIZE})
"""The protocol forbids cancelling these."""
_MAX_INCOMING_REQUESTS = 16
_MAX_BACKGROUND_TASKS = 64
_BACKGROUND_SEND_SECONDS = 2.0
"""Time limit for messages that the server can do without."""
_CLOSE_SECONDS = 0.5
_MAX_LOG_LINES = 20
_MAX_LINE_LENGTH = 500
_MAX_MESSAGE_LENGTH = 2_000


class RequestTimeouts(Frozen):
    """Timeouts of a request in seconds: without any progress, and in total."""

    idle: float
    total: float


class JsonRpcSession:
    """One session, from `open` to `close`. Nothing is retried here.

    `on_notification` is called with the method of every notification that does not belong to a request, `on_end` once
    if the connection ends without `close`.
    """

    def __init__(
        self,
        transport: Transport,
        request_handler: ServerRequestHandler,
        *,
        on_notification: Callable[[str], None],
        on_end: Callable[[McpFailure], None],
    ) -> None:
        self._transport = transport
        self._request_handler = request_handler
        self._on_notification = on_notification
        self._on_end = on_end
        self._ids = count(1)
        self._pending: dict[RequestId, _PendingRequest] = {}
        self._incoming: dict[RequestId, asyncio.Task[None]] = {}
        self._background_tasks: set[asyncio.Task[None]] = set()
        self._closed_by: McpFailure | None = None
        self._interactive_requests = 0
        self._envelope: JsonObject = {}
        self._log_lines: deque[str] = deque(maxlen=_MAX_LOG_LINES)

    @property
    def is_closed(self) -> bool:
        return self._closed_by is not None

    @property
    def has_pending_requests(self) -> bool:
        """Whether a request is waiting for its response."""
        return bool(self._pending)

    @property
    def recent_output(self) -> tuple[str, ...]:
        """The last lines that the server printed or logged, sanitized."""
        return (*self._transport.stderr_tail, *self._log_lines)[-_MAX_LOG_LINES:]

    async def open(self) -> None:
        """Raises McpFailure."""
        await self._transport.open(self._receive, self._handle_failure)

    def set_revision(self, revision: str, envelope: JsonObject) -> None:
        """Set the negotiated revision, and the `_meta` fields to send with every request."""
        self._transport.set_revision(revision)
        self._envelope = envelope

    async def request(
        self,
        method: str,
        params: JsonObject | None = None,
        *,
        timeouts: RequestTimeouts | None = None,
        on_progress: Callable[[McpProgress], None] | None = None,
    ) -> JsonObject:
        """Send a request and return its result. Raises McpFailure; RequestNotSent: it has not reached the server.

        A timeout and the cancellation of the task cancel the request on the server. `on_progress` asks the server for
        progress, which also extends the idle timeout. Without `timeouts` the caller limits the time.
        """
        if self._closed_by is not None:
            raise RequestNotSent(self._closed_by)
        request_id = next(self._ids)
        pending = _PendingRequest(timeouts, on_progress)
        try:
            async with asyncio.timeout(None) as deadline:
                pending.start(deadline, is_held=self._interactive_requests > 0)
                self._pending[request_id] = pending
                params_with_meta = self._with_meta(params, request_id if on_progress is not None else None)
                try:
                    await self._transport.send(JsonRpcRequest(request_id, method, params_with_meta))
                except McpFailure as failure:
                    pending.settle(RequestNotSent(failure))
                outcome = await pending.outcome
        except TimeoutError:
            message = lazy(
                "The server did not answer within {seconds:.3g} seconds ({method}).",
                seconds=pending.limit(),
                method=method,
            )
            raise McpFailure(message, McpProblem.TIMED_OUT) from None
        finally:
            self._pending.pop(request_id, None)
            if not pending.is_settled:
                self._abandon(request_id, method)
        if isinstance(outcome, McpFailure):
            raise outcome
        return outcome

    async def notify(self, method: str, params: JsonObject | None = None) -> None:
        """Raises McpFailure."""
        if self._closed_by is not None:
            raise RequestNotSent(self._closed_by)
        await self._transport.send(JsonRpcNotification(method, params))

    async def close(self) -> None:
        """Close the connection. Pending requests fail."""
        self._fail_pending(McpFailure(lazy("The connection to the server was closed."), McpProblem.CLOSED))
        for task in self._incoming.values():
            task.cancel()
        try:
            if self._background_tasks:
                # Cancellations above all: a remote server would go on working.
                await asyncio.wait(self._background_tasks, timeout=_CLOSE_SECONDS)
        finally:
            for task in self._background_tasks:
                task.cancel()
            await self._transport.close()

    def _with_meta(self, params: JsonObject | None, token: RequestId | None) -> JsonObject | None:
        about: dict[str, JsonValue] = {**self._envelope}
        if token is not None:
            about["progressToken"] = token
        return {**(params or {}), "_meta": about} if about else params

    def _abandon(self, request_id: RequestId, method: str) -> None:
        self._transport.forget_request(request_id)
        if method not in _UNCANCELLABLE and self._closed_by is None:
            params = {"requestId": request_id, "reason": "nobody waits for it any more"}
            self._spawn(self._send_if_possible(JsonRpcNotification("notifications/cancelled", params)))

    def _receive(self, message: JsonRpcMessage) -> None:
        if self._closed_by is not None:
            return
        match message:
            case JsonRpcResponse(request_id, result):
                self._settle(request_id, result)
            case JsonRpcError(request_id, code, text, data):
                if request_id is None:
                    self._add_log_line(lazy("The server sent an unreadable message: {text}", text=text))
                    return
                failure_message = lazy(
                    "The server returned an error: {text} (code {code})",
                    text=sanitize_text(_truncate(text, _MAX_MESSAGE_LENGTH)),
                    code=code,
                )
                self._settle(request_id, McpFailure(failure_message, McpProblem.REFUSED, code=code, data=data))
            case JsonRpcNotification():
                self._handle_notification(message)
            case JsonRpcRequest():
                self._handle_request(message)
            case _:
                assert_never(message)

    def _handle_failure(self, failure: McpFailure, request_id: RequestId | None) -> None:
        if request_id is not None:
            self._settle(request_id, failure)
        elif self._closed_by is None:
            self._fail_pending(failure)
            self._on_end(failure)

    def _fail_pending(self, failure: McpFailure) -> None:
        if self._closed_by is None:
            self._closed_by = failure
        for waiting in self._pending.values():
            waiting.settle(self._closed_by)

    def _settle(self, request_id: RequestId, outcome: JsonObject | McpFailure) -> None:
        """Resolve a pending request. Unexpected and repeated responses are dropped."""
        if waiting := self._pending.get(request_id):
            waiting.settle(outcome)

    def _handle_notification(self, notification: JsonRpcNotification) -> None:
        params = notification.params or {}
        match notification.method:
            case "notifications/progress":
                token = params.get("progressToken")
                waiting = self._pending.get(token) if isinstance(token, int | str) else None
                if waiting is not None:
                    waiting.extend(is_held=self._interactive_requests > 0)
                    waiting.report_progress(_parse_progress(params))
            case "notifications/cancelled":
                request_id = params.get("requestId")
                asked = self._incoming.get(request_id) if isinstance(request_id, int | str) else None
                if asked is not None:
                    asked.cancel()
            case "notifications/message":
                self._add_log_line(_log_text(params))
            case method:
                self._on_notification(method)

    def _add_log_line(self, text: str) -> None:
        line = " ".join(_truncate(text, _MAX_LINE_LENGTH).split())
        if line:
            self._log_lines.append(sanitize_text(line))

    def _handle_request(self, request: JsonRpcRequest) -> None:
        if request.id in self._incoming:
            return
        if len(self._incoming) >= _MAX_INCOMING_REQUESTS:
            refusal = JsonRpcError(request.id, INTERNAL_ERROR, "There are too many questions open.")
            self._spawn(self._send_if_possible(refusal))
        elif (task := self._spawn(self._answer_request(request))) is not None:
            self._incoming[request.id] = task
            task.add_done_callback(lambda _: self._incoming.pop(request.id, None))

    async def _answer_request(self, request: JsonRpcRequest) -> None:
        # It is unknown which call this belongs to: while the user has to decide, no call times out for being idle.
        thinking = int(self._request_handler.is_interactive(request.method))
        self._count_interactive(thinking)
        try:
            answer = JsonRpcResponse(
                request.id, await self._request_handler.handle(request.method, request.params or {})
            )
        except McpFailure as failure:
            code = INTERNAL_ERROR if failure.code is None else failure.code
            answer = JsonRpcError(request.id, code, failure.message)
        finally:
            self._count_interactive(-thinking)
        await self._send_if_possible(answer)

    def _count_interactive(self, more: int) -> None:
        self._interactive_requests += more
        if more:
            for waiting in self._pending.values():
                waiting.extend(is_held=self._interactive_requests > 0)

    async def _send_if_possible(self, message: JsonRpcMessage) -> None:
        with suppress(McpFailure, TimeoutError):
            async with asyncio.timeout(_BACKGROUND_SEND_SECONDS):
                await self._transport.send(message)

    def _spawn(self, errand: Coroutine[None, None, None]) -> asyncio.Task[None] | None:
        """Run a task in the background, unless too many are running because the server does not read."""
        if len(self._background_tasks) >= _MAX_BACKGROUND_TASKS:
            errand.close()
            return None
        task = asyncio.get_running_loop().create_task(errand)
        self._background_tasks.add(task)
        task.add_done_callback(self._background_tasks.discard)
        return task


class _PendingRequest:
    """A request waiting for its response. `outcome` holds failures as values, as nobody may retrieve them."""

    def __init__(self, timeouts: RequestTimeouts | None, on_progress: Callable[[McpProgress], None] | None) -> None:
        self._loop = asyncio.get_running_loop()
        self._timeouts = timeouts
        self._on_progress = on_progress
        self._started_at = self._loop.time()
        self._deadline: asyncio.Timeout | None = None
        self.outcome: asyncio.Future[JsonObject | McpFailure] = self._loop.create_future()

    @property
    def is_settled(self) -> bool:
        return self.outcome.done() and not self.outcome.cancelled()

    def start(self, deadline: asyncio.Timeout, *, is_held: bool) -> None:
        self._deadline = deadline
        self.extend(is_held=is_held)

    def settle(self, outcome: JsonObject | McpFailure) -> None:
        if not self.outcome.done():
            self.outcome.set_result(outcome)

    def report_progress(self, progress: McpProgress | None) -> None:
        if progress is None or self._on_progress is None:
            return
        try:
            self._on_progress(progress)
        except Exception as error:  # noqa: BLE001 -- a listener must not make the call fail
            self._loop.call_exception_handler({"message": "progress could not be told", "exception": error})

    def extend(self, *, is_held: bool) -> None:
        """Restart the idle timeout; while it is held, only the total timeout counts."""
        if self._timeouts is None or self._deadline is None or self._deadline.expired() or self.outcome.done():
            return
        last = self._started_at + self._timeouts.total
        self._deadline.reschedule(last if is_held else min(last, self._loop.time() + self._timeouts.idle))

    def limit(self) -> float:
        """Return the timeout that was reached, in seconds."""
        if self._timeouts is None:
            return self._loop.time() - self._started_at
        is_last = self._loop.time() - self._started_at >= self._timeouts.total
        return self._timeouts.total if is_last else self._timeouts.idle


def _parse_progress(params: JsonObject) -> McpProgress | None:
    done, total, message = _as_number(params.get("progress")), _as_number(params.get("total")), params.get("message")
    if done is None:
        return None
    return McpProgress(
        done, total, sanitize_text(_truncate(message, _MAX_LINE_LENGTH)) if isinstance(message, str) else ""
    )


def _as_number(given: JsonValue) -> float | None:
    if isinstance(given, bool) or not isinstance(given, int | float):
        return None
    try:
        number = float(given)
    except OverflowError:
        return None
    return number if isfinite(number) else None


def _log_text(params: JsonObject) -> str:
    level, data = params.get("level"), params.get("data")
    if isinstance(data, Mapping):
        data = data.get("message") or data.get("msg")
    text = data if isinstance(data, str) else ""
    return f"[{level}] {text}" if isinstance(level, str) and text else text


def _truncate(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
