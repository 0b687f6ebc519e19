"""The one loop that tries again when a model did not answer, and says so each time."""

import asyncio
import os
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing

from tejat.core.model import (
    Ability,
    Answer,
    Chunk,
    FailureKind,
    FinishReason,
    ModelClient,
    ModelFailure,
    ModelRequest,
    Retry,
)
from tejat.core.types import FileData, InlineData
from tejat.core.value import replace
from tejat.core.visible import visible
from tejat.core.words import joined, phrase, phrase_count
from tejat.models.refused_tools import RefusedTools

MOST_CALLS = 10_000
"""More calls in one answer could not even be cancelled before whoever interrupts loses patience."""
_LONGEST_WAIT = 30.0
_JITTER = 0.3
_VOID_KINDS = frozenset({FailureKind.EMPTY, FailureKind.MALFORMED_CALL})
_MOST_TOOLS = 5
"""How many tools are left out of one request because the service does not take them."""
_VOID_ATTEMPTS = 3
"""How often in all a model is asked that gives nothing usable: asking more often than that seldom helps."""


def _chance() -> float:
    # The module `random` takes longer to load than everything else here.
    return os.urandom(1)[0] / 255


class Retrying:
    """A model that is asked again when that may help.

    The stream of another attempt follows a `Retry`, which makes void whatever was streamed before it. It raises
    ModelFailure when nothing helps: also BLOCKED, EMPTY and MALFORMED_CALL, so that an `Answer` is always of use, if
    perhaps cut at the most tokens.

    A tool that the service refuses is left out from then on, and the request made without it.

    `patience` is how many seconds the waits of one request may take together. A service that asks for more is not
    waited for at all.
    """

    def __init__(
        self,
        inner: ModelClient,
        *,
        attempts: int = 5,
        patience: float = 120.0,
        first_wait: float = 1.0,
        name: str | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        jitter: Callable[[], float] = _chance,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._inner = inner
        self._attempts = max(1, attempts)
        self._patience = patience
        self._first_wait = first_wait
        self._name = inner.name if name is None else name
        self._sleep = sleep
        self._jitter = jitter
        self._now = now
        self._refused = RefusedTools()

    @property
    def name(self) -> str:
        return self._name

    @property
    def context_window(self) -> int:
        return self._inner.context_window

    @property
    def abilities(self) -> frozenset[Ability]:
        return self._inner.abilities

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        attempt, void_attempts, waited = 0, 0, 0.0
        attempts, left_out = self._attempts, 0
        request = self._refused.without(request)
        while True:
            attempt += 1
            try:
                async with aclosing(self._inner.stream(request)) as chunks:
                    async for chunk in chunks:
                        if isinstance(chunk, Answer):
                            yield _usable(chunk)
                            return
                        yield chunk
                raise ModelFailure(
                    phrase("The answer ended before it was whole."), FailureKind.STREAM_CUT, can_retry=True
                )
            except ModelFailure as failure:
                refused = self._refused.learn(request, failure, most=_MOST_TOOLS - left_out)
                # Without them it is another request, which has attempts of its own.
                attempts, left_out = attempts + bool(refused), left_out + len(refused)
                lost = _without_tools(refused, failure) if refused else failure
                void_attempts += lost.kind in _VOID_KINDS
                most = _most_attempts(attempts, attempt, void_attempts, lost)
                if not lost.can_retry:
                    raise
                if attempt >= most:
                    raise _given_up(lost, attempt) from None
                wait = self._wait(lost, attempt)
                if waited + wait > self._patience:
                    raise self._out_of_patience(lost, wait) from None
            waited += wait
            yield Retry(lost.kind, lost.message, attempt, most, wait)
            await self._sleep(wait)
            request = self._refused.without(_asked_again(request, lost))

    def _wait(self, failure: ModelFailure, attempt: int) -> float:
        if failure.retry_after is not None:
            return max(0.0, failure.retry_after)
        usual = min(_LONGEST_WAIT, self._first_wait * 2.0 ** min(attempt - 1, 10))
        return usual * (1 - _JITTER + 2 * _JITTER * self._jitter())

    def _out_of_patience(self, failure: ModelFailure, wait: float) -> ModelFailure:
        if failure.retry_after is None:
            return _worded(
                failure,
                phrase(
                    "{text} Given up after waiting for {patience:g} seconds in all.",
                    text=failure.message,
                    patience=self._patience,
                ),
            )
        until = time.strftime("%Y-%m-%d %H:%M:%S %z", time.localtime(self._now() + wait))
        advice = phrase(
            "The service can be asked again in {wait}, at {until}; not waiting that long.",
            wait=_duration(wait),
            until=until,
        )
        return _worded(failure, joined(" ", (failure.message, advice)))

    async def count_tokens(self, request: ModelRequest) -> int:
        return await self._inner.count_tokens(self._refused.without(request))

    async def close(self) -> None:
        await self._inner.close()


def _without_tools(names: Sequence[str], failure: ModelFailure) -> ModelFailure:
    """What to tell before the next attempt, which can be made at once."""
    told = phrase_count(
        "The service does not take the tool {names}, left out from now on.",
        "The service does not take the tools {names}, left out from now on.",
        len(names),
        names=", ".join(map(visible, names)),
    )
    message = joined(" ", (told, failure.message))
    return ModelFailure(message, failure.kind, status=failure.status, retry_after=0.0, can_retry=True)


def _most_attempts(attempts: int, attempt: int, void_attempts: int, failure: ModelFailure) -> int:
    return min(attempts, attempt + _VOID_ATTEMPTS - void_attempts) if failure.kind in _VOID_KINDS else attempts


def _usable(answer: Answer) -> Answer:
    """Raises ModelFailure for an answer that a conversation cannot go on with."""
    detail = joined("", (" ", answer.detail)) if answer.detail else ""
    if answer.reason is FinishReason.BLOCKED:
        raise ModelFailure(
            phrase("The answer was blocked by the model's service.{detail}", detail=detail), FailureKind.BLOCKED
        )
    if answer.reason is FinishReason.MALFORMED_CALL:
        raise ModelFailure(
            phrase("The model made a function call that cannot be read.{detail}", detail=detail),
            FailureKind.MALFORMED_CALL,
            can_retry=True,
        )
    if len(answer.calls) > MOST_CALLS:
        raise ModelFailure(
            phrase(
                "The model made {calls} calls at once, and only {most} are taken.",
                calls=len(answer.calls),
                most=MOST_CALLS,
            ),
            FailureKind.MALFORMED_CALL,
            can_retry=True,
        )
    if answer.reason is not FinishReason.MAX_TOKENS and _says_nothing(answer):
        raise ModelFailure(
            phrase("The model gave an empty answer.{detail}", detail=detail), FailureKind.EMPTY, can_retry=True
        )
    return answer


def _says_nothing(answer: Answer) -> bool:
    return answer.is_empty and not any(isinstance(part, InlineData | FileData) for part in answer.message.parts)


def _asked_again(request: ModelRequest, failure: ModelFailure) -> ModelRequest:
    """After an answer of no use: the same without a set temperature, which would bring the same answer again."""
    if failure.kind not in _VOID_KINDS or request.temperature is None:
        return request
    return replace(request, temperature=None)


def _given_up(failure: ModelFailure, attempts: int) -> ModelFailure:
    if attempts == 1:
        return failure
    told = phrase("{text} Given up after {attempts} attempts.", text=failure.message, attempts=attempts)
    return _worded(failure, told)


def _worded(failure: ModelFailure, message: str) -> ModelFailure:
    return ModelFailure(
        message, failure.kind, status=failure.status, retry_after=failure.retry_after, can_retry=failure.can_retry
    )


def _duration(seconds: float) -> str:
    if seconds < 120:
        return phrase("{time:.0f} seconds", time=seconds)
    if seconds < 7200:
        return phrase("{time:.0f} minutes", time=seconds / 60)
    return phrase("{time:.1f} hours", time=seconds / 3600)
