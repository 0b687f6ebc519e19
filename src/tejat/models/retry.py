"""Retry with exponential backoff around a model client."""

import asyncio
import os
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing

from tejat.core.frozen import replace
from tejat.core.i18n import join_lazy, lazy, lazy_plural
from tejat.core.messages.types import FileData, InlineData
from tejat.core.model import (
    Chunk,
    FailureKind,
    FinishReason,
    ModelClient,
    ModelFailure,
    ModelRequest,
    ModelResponse,
    Retry,
)
from tejat.core.sanitize import sanitize_text
from tejat.models.rejected_tools import RejectedTools
from tejat.models.wrapper import ModelWrapper

MAX_CALLS = 10_000
"""More calls in one response could not be cancelled in reasonable time."""
_MAX_WAIT = 30.0
_JITTER = 0.3
_UNUSABLE_KINDS = frozenset({FailureKind.EMPTY, FailureKind.MALFORMED_CALL})
_CONNECTION_KINDS = frozenset({FailureKind.NETWORK, FailureKind.STREAM_CUT})
_MAX_REJECTED_TOOLS = 5
"""How many rejected tools are removed from one request."""
_MAX_UNUSABLE_RESPONSES = 3
"""How often a model may give an unusable response: more attempts rarely help."""


def _random_fraction() -> float:
    # Importing `random` takes longer than everything else here.
    return os.urandom(1)[0] / 255


class RetryingModel(ModelWrapper):
    """A model client that retries failed requests where that may help.

    Another attempt starts with a `Retry`, which voids everything streamed before it. Raises ModelFailure when retrying
    does not help: also BLOCKED, EMPTY and MALFORMED_CALL, so that a `ModelResponse` is always usable, though it may be
    truncated.

    Tools that the service rejects are removed from then on.

    `max_total_wait` limits the waits of one request together, in seconds. If the service asks for a longer wait, the
    request fails at once. Without `retries_connections` a connection that is refused or breaks is final.
    """

    def __init__(
        self,
        inner: ModelClient,
        *,
        max_attempts: int = 5,
        max_total_wait: float = 120.0,
        first_wait: float = 1.0,
        retries_connections: bool = True,
        name: str | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        jitter: Callable[[], float] = _random_fraction,
        now: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(inner, name)
        self._max_attempts = max(1, max_attempts)
        self._max_total_wait = max_total_wait
        self._first_wait = first_wait
        self._final_kinds = frozenset[FailureKind]() if retries_connections else _CONNECTION_KINDS
        self._sleep = sleep
        self._jitter = jitter
        self._now = now
        self._rejected_tools = RejectedTools()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        attempt, unusable, waited = 0, 0, 0.0
        attempts, removed = self._max_attempts, 0
        request = self._rejected_tools.remove_from(request)
        while True:
            attempt += 1
            try:
                async with aclosing(self._inner.stream(request)) as chunks:
                    async for chunk in chunks:
                        if isinstance(chunk, ModelResponse):
                            yield _check_usable(chunk, request)
                            return
                        yield chunk
                message = lazy("The response was cut off.")
                raise ModelFailure(message, FailureKind.STREAM_CUT, can_retry=True)
            except ModelFailure as failure:
                rejected = self._rejected_tools.learn_from(request, failure, limit=_MAX_REJECTED_TOOLS - removed)
                # Without the tools it is another request, with an attempt of its own.
                attempts, removed = attempts + bool(rejected), removed + len(rejected)
                reported = _tools_rejected_failure(rejected, failure) if rejected else failure
                limit = attempts
                if reported.kind in _UNUSABLE_KINDS:
                    unusable += 1
                    limit = min(attempts, attempt + _MAX_UNUSABLE_RESPONSES - unusable)
                if not reported.can_retry or reported.kind in self._final_kinds:
                    raise
                if attempt >= limit:
                    raise _attempts_exhausted(reported, attempt) from None
                wait = self._next_wait(reported, attempt)
                if waited + wait > self._max_total_wait:
                    raise self._wait_too_long(reported, wait) from None
            waited += wait
            yield Retry(reported.kind, reported.message, attempt, limit, wait)
            await self._sleep(wait)
            request = self._rejected_tools.remove_from(_retry_request(request, reported))

    def _next_wait(self, failure: ModelFailure, attempt: int) -> float:
        if failure.retry_after is not None:
            return max(0.0, failure.retry_after)
        usual = min(_MAX_WAIT, self._first_wait * 2.0 ** min(attempt - 1, 10))
        return usual * (1 - _JITTER + 2 * _JITTER * self._jitter())

    def _wait_too_long(self, failure: ModelFailure, wait: float) -> ModelFailure:
        if failure.retry_after is None:
            message = lazy(
                "{text} Gave up after waiting {patience:g} seconds.",
                text=_as_sentence(failure.message),
                patience=self._max_total_wait,
            )
            return _with_message(failure, message)
        until = time.strftime("%Y-%m-%d %H:%M:%S %z", time.localtime(self._now() + wait))
        advice = lazy(
            "The service asks to retry in {wait}, at {until}. Not waiting that long.",
            wait=_format_duration(wait),
            until=until,
        )
        return _with_message(failure, join_lazy(" ", (failure.message, advice)))

    async def count_tokens(self, request: ModelRequest) -> int:
        return await self._inner.count_tokens(self._rejected_tools.remove_from(request))


def _tools_rejected_failure(names: Sequence[str], failure: ModelFailure) -> ModelFailure:
    """Return the failure to report before the immediate retry without these tools."""
    text = lazy_plural(
        "The service rejected the tool {names}. It is no longer sent.",
        "The service rejected the tools {names}. They are no longer sent.",
        len(names),
        names=", ".join(map(sanitize_text, names)),
    )
    message = join_lazy(" ", (text, failure.message))
    return ModelFailure(message, failure.kind, status=failure.status, retry_after=0.0, can_retry=True)


def _check_usable(answer: ModelResponse, request: ModelRequest) -> ModelResponse:
    """Return the response. Raises ModelFailure if the conversation cannot continue with it."""
    detail = join_lazy("", (" ", answer.detail)) if answer.detail else ""
    if answer.reason is FinishReason.BLOCKED:
        message = lazy("The service blocked the response.{detail}", detail=detail)
        raise ModelFailure(message, FailureKind.BLOCKED)
    if answer.reason is FinishReason.MALFORMED_CALL:
        message = lazy("The model made a malformed function call.{detail}", detail=detail)
        raise ModelFailure(message, FailureKind.MALFORMED_CALL, can_retry=True)
    if len(answer.calls) > MAX_CALLS:
        message = lazy(
            "The model made {calls} calls at once; at most {most} are allowed.", calls=len(answer.calls), most=MAX_CALLS
        )
        raise ModelFailure(message, FailureKind.MALFORMED_CALL, can_retry=True)
    is_silence = request.allows_silence and answer.reason is FinishReason.STOP
    if answer.reason is not FinishReason.MAX_TOKENS and not is_silence and _is_blank(answer):
        message = lazy("The model returned an empty response.{detail}", detail=detail)
        raise ModelFailure(message, FailureKind.EMPTY, can_retry=True)
    return answer


def _is_blank(answer: ModelResponse) -> bool:
    return answer.is_empty and not any(isinstance(part, InlineData | FileData) for part in answer.message.parts)


def _retry_request(request: ModelRequest, failure: ModelFailure) -> ModelRequest:
    """Return the next request: after an unusable response without a temperature, which would only reproduce it."""
    if failure.kind not in _UNUSABLE_KINDS:
        return request
    return replace(request, temperature=None, is_retry=True)


def _attempts_exhausted(failure: ModelFailure, attempts: int) -> ModelFailure:
    if attempts == 1:
        return failure
    text = _as_sentence(failure.message)
    message = lazy("{text} Gave up after {attempts} attempts.", text=text, attempts=attempts)
    return _with_message(failure, message)


def _as_sentence(message: str) -> str:
    """The message with its full stop, which those of other programs may lack."""
    return join_lazy("", (message, ".")) if message and message[-1].isalnum() else message


def _with_message(failure: ModelFailure, message: str) -> ModelFailure:
    return ModelFailure(
        message,
        failure.kind,
        status=failure.status,
        retry_after=failure.retry_after,
        can_retry=failure.can_retry,
        overflow=failure.overflow,
    )


def _format_duration(seconds: float) -> str:
    if seconds < 120:
        return lazy("{time:.0f} seconds", time=seconds)
    if seconds < 7200:
        return lazy("{time:.0f} minutes", time=seconds / 60)
    return lazy("{time:.1f} hours", time=seconds / 3600)
