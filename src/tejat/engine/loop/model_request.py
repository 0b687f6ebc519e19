"""A single request to a model."""

import time
from collections.abc import Callable
from contextlib import aclosing

from tejat.core.agent.events import EventSink, RequestFailed, Retrying
from tejat.core.i18n import lazy
from tejat.core.model import Chunk, FailureKind, ModelClient, ModelFailure, ModelRequest, ModelResponse, Retry


async def request_model(
    model: ModelClient, request: ModelRequest, emit: EventSink, *, on_chunk: Callable[[Chunk], None] | None = None
) -> tuple[ModelResponse, float]:
    """Send a request and return the response and the seconds it took. Raises ModelFailure.

    `on_chunk` gets every chunk before the response, and may stop the request by raising.
    """
    started = time.perf_counter()
    try:
        async with aclosing(model.stream(request)) as chunks:
            async for chunk in chunks:
                if isinstance(chunk, ModelResponse):
                    return chunk, time.perf_counter() - started
                if on_chunk is not None:
                    on_chunk(chunk)
                if isinstance(chunk, Retry):
                    emit(
                        Retrying(
                            chunk.kind, chunk.reason, chunk.attempt, chunk.max_attempts, chunk.wait, request.purpose
                        )
                    )
        raise ModelFailure(lazy("The answer of the model ended before it was whole."), FailureKind.STREAM_CUT)
    except ModelFailure as failure:
        emit(RequestFailed(failure.kind, failure.message, time.perf_counter() - started, request.purpose))
        raise
