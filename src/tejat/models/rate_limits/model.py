"""A model client that keeps the shared rate limit of its service."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing

from tejat.core.i18n import lazy
from tejat.core.model import Chunk, Delayed, FailureKind, ModelClient, ModelFailure, ModelRequest
from tejat.models.rate_limits.rate_file import read_rates
from tejat.models.rate_limits.shared_limit import SharedRateLimit, Turn
from tejat.models.rate_limits.state_file import RateStateFile
from tejat.models.wrapper import ModelWrapper
from tejat.workspace.threads.offload import run_blocking

_REPORT_SECONDS = 1.0
"""Longer waits are reported."""


def limit_model(inner: ModelClient, service: str, path: str, *, max_wait: float) -> ModelClient:
    """Return a client that keeps the limits in the file at `path`. Raises UsageError for an invalid file."""
    return RateLimitedModel(
        inner, SharedRateLimit(RateStateFile(path), service, read_rates(path).get(service)), max_wait=max_wait
    )


class RateLimitedModel(ModelWrapper):
    """A model client that sends a request when it is this process's turn.

    Token counts are not limited: services count them apart. If the service asked another process for a wait of more
    than `max_wait` seconds, the request fails as it would there.
    """

    def __init__(
        self,
        inner: ModelClient,
        limit: SharedRateLimit,
        *,
        max_wait: float = 120.0,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        super().__init__(inner)
        self._sleep = sleep
        self._limit = limit
        self._max_wait = max_wait

    async def prepare(self) -> Sequence[str]:
        notices = await super().prepare()
        problem = await run_blocking(self._limit.find_problem)
        if not problem:
            return notices
        return (*notices, lazy("The rate limits are not shared with other runs: {why}.", why=problem))

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        waited = 0.0
        while True:
            turn = await run_blocking(self._limit.take_turn)
            if turn.is_blocked and turn.wait > self._max_wait:
                raise self._blocked_failure(turn.wait)
            if waited <= _REPORT_SECONDS < waited + turn.wait:
                yield self._report(turn)
            waited += turn.wait
            await self._sleep(turn.wait)
            # Another process may have been told to wait meanwhile.
            if turn.is_granted and not (turn.wait and await run_blocking(self._limit.is_blocked)):
                break
        try:
            async with aclosing(self._inner.stream(request)) as chunks:
                async for chunk in chunks:
                    yield chunk
        except ModelFailure as failure:
            wait = failure.retry_after
            if failure.kind is FailureKind.RATE_LIMITED and failure.can_retry and wait:
                await run_blocking(lambda stop: self._limit.block(wait, stop))
            raise

    def _report(self, turn: Turn) -> Delayed:
        service, rate = self._limit.service, self._limit.rate
        if turn.is_blocked or rate is None:
            return Delayed(lazy("Waiting: {service} is rate limiting another run.", service=service), turn.wait)
        message = lazy(
            "Waiting for the shared rate limit of {service} ({rate:g} requests per minute).", service=service, rate=rate
        )
        return Delayed(message, turn.wait)

    def _blocked_failure(self, wait: float) -> ModelFailure:
        message = lazy("{service} is rate limiting another run.", service=self._limit.service)
        return ModelFailure(message, FailureKind.RATE_LIMITED, retry_after=wait, can_retry=True)
