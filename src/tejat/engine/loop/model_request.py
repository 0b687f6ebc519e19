"""A single request to a model."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, TypeAlias

from tejat.core.agent.events import AwaitingModel, Noticed, RequestFailed, Retrying, Severity
from tejat.core.errors import CallbackFailure, StoppedByHook
from tejat.core.frozen import replace
from tejat.core.i18n import lazy
from tejat.core.messages.history import Message
from tejat.core.messages.tokens import estimate_request_tokens
from tejat.core.messages.types import FunctionCall
from tejat.core.model import (
    Chunk,
    Delayed,
    FailureKind,
    ModelClient,
    ModelFailure,
    ModelRequest,
    ModelResponse,
    Retry,
    Usage,
)

if TYPE_CHECKING:
    from tejat.core.agent.events import EventSink
    from tejat.core.agent.hooks import AgentHooks

OnChunk: TypeAlias = Callable[[Chunk], None]
"""Gets every chunk before the response, and may stop the request by raising."""

_MAX_TOOL_NAME_LENGTH = 128
_REPORT_AFTER = 15.0
_MAX_REPORT_INTERVAL = 60.0


async def request_model(
    model: ModelClient,
    request: ModelRequest,
    emit: EventSink,
    *,
    on_chunk: OnChunk | None = None,
    report_after: float = _REPORT_AFTER,
) -> tuple[ModelResponse, float]:
    """Send a request and return the response and the seconds it took. Raises ModelFailure.

    `on_chunk` gets every chunk before the response, and may stop the request by raising. A model that says nothing is
    reported after `report_after` seconds, and then less and less often.
    """
    started = time.perf_counter()
    wait = _WaitReporter(request, emit, report_after)
    try:
        async with aclosing(model.stream(request)) as chunks:
            async for chunk in chunks:
                wait.stop()
                if isinstance(chunk, ModelResponse):
                    return chunk, time.perf_counter() - started
                if on_chunk is not None:
                    on_chunk(chunk)
                if isinstance(chunk, Retry | Delayed):
                    wait.start()
                    emit(_waiting_event(chunk, request.purpose))
        raise ModelFailure(lazy("The response was cut off."), FailureKind.STREAM_CUT)
    except ModelFailure as failure:
        emit(RequestFailed(failure.kind, failure.message, time.perf_counter() - started, request.purpose))
        raise
    finally:
        wait.stop()


def _waiting_event(chunk: Retry | Delayed, purpose: str) -> Retrying | Noticed:
    if isinstance(chunk, Delayed):
        return Noticed(chunk.reason, Severity.NOTE)
    return Retrying(chunk.kind, chunk.reason, chunk.attempt, chunk.max_attempts, chunk.wait, purpose)


async def request_with_hooks(
    hooks: AgentHooks,
    model: ModelClient,
    request: ModelRequest,
    emit: EventSink,
    *,
    on_chunk: OnChunk | None,
    on_usage: Callable[[Usage, str, str], None],
) -> tuple[ModelResponse, float]:
    """Like `request_model`, with hooks before and after it. Raises ModelFailure, StoppedByHook and CallbackFailure.

    `on_usage` counts an answer that hooks have stopped.
    """
    await hooks.before_model(request, model.name)
    answer, seconds = await request_model(model, request, emit, on_chunk=on_chunk)
    try:
        await hooks.after_model(request, model.name, answer)
    except (StoppedByHook, CallbackFailure):
        on_usage(answer.usage, model.name, answer.model)
        raise
    return answer, seconds


class _WaitReporter:
    """Emits how long a model has been silent."""

    def __init__(self, request: ModelRequest, emit: EventSink, report_after: float) -> None:
        self._request = request
        self._emit = emit
        self._report_after = report_after
        self._timer: asyncio.TimerHandle | None = None
        self.start()

    def start(self) -> None:
        self.stop()
        self._since = time.perf_counter()
        self._schedule(self._report_after)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _schedule(self, interval: float) -> None:
        self._timer = asyncio.get_running_loop().call_later(interval, self._report, interval)

    def _report(self, interval: float) -> None:
        seconds = time.perf_counter() - self._since
        with suppress(CallbackFailure):  # nobody could handle it in a timer; whoever listens keeps it
            self._emit(AwaitingModel(seconds, estimate_request_tokens(self._request), self._request.purpose))
        self._schedule(min(2 * interval, _MAX_REPORT_INTERVAL))


def truncate_tool_names(message: Message) -> Message:
    """Shorten impossible tool names, which would be repeated in every later request."""
    if all(len(call.name) <= _MAX_TOOL_NAME_LENGTH for call in message.calls):
        return message
    parts = (
        replace(part, name=part.name[:_MAX_TOOL_NAME_LENGTH]) if isinstance(part, FunctionCall) else part
        for part in message.parts
    )
    return Message(message.role, tuple(parts))
