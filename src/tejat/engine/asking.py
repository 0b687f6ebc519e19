"""One request to a model, from its first chunk to the whole answer, told to whoever watches."""

import time
from collections.abc import Callable
from contextlib import aclosing

from tejat.core.agent_events import RequestFailed, Retrying, Tell
from tejat.core.model import (
    Answer,
    Chunk,
    FailureKind,
    ModelClient,
    ModelFailure,
    ModelRequest,
    Retry,
)
from tejat.core.words import phrase


async def ask(
    model: ModelClient, request: ModelRequest, tell: Tell, *, watch: Callable[[Chunk], None] | None = None
) -> tuple[Answer, float]:
    """The answer, and the seconds it took. Raises ModelFailure.

    `watch` sees every chunk that comes before, and may stop the request by raising.
    """
    started = time.perf_counter()
    try:
        async with aclosing(model.stream(request)) as chunks:
            async for chunk in chunks:
                if isinstance(chunk, Answer):
                    return chunk, time.perf_counter() - started
                if watch is not None:
                    watch(chunk)
                if isinstance(chunk, Retry):
                    tell(Retrying(chunk.kind, chunk.reason, chunk.attempt, chunk.most, chunk.wait, request.purpose))
        raise ModelFailure(phrase("The answer of the model ended before it was whole."), FailureKind.STREAM_CUT)
    except ModelFailure as failure:
        tell(RequestFailed(failure.kind, failure.message, time.perf_counter() - started, request.purpose))
        raise
