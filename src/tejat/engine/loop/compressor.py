"""When to compress a long conversation."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from tejat.core.agent.events import CompressionStatus
from tejat.core.frozen import Frozen

if TYPE_CHECKING:
    from tejat.core.agent.compaction import CompressionPreview
    from tejat.core.agent.events import Compressed
    from tejat.core.messages.history import Message
    from tejat.core.model import ModelRequest, ModelResponse

_MAX_ATTEMPTS = 4
"""How often a summary is requested if the service refuses the request as too long."""


class CompressionScope(Frozen):
    """The conversation that may be summarized: its size and the `room` for a request, in estimated tokens.

    The first `preamble_length` messages stay as they are. `carried` are names and texts that are put back after the
    summary. `number_of` returns the number by which the model can recall a message; None if it cannot.
    """

    tokens_before: int
    room: int
    preamble_length: int = 0
    carried: Sequence[tuple[str, str]] = ()
    number_of: Callable[[int], int] | None = None


class Compressor:
    """Decides when a conversation needs a summary, and makes it."""

    def __init__(self, *, threshold: float = 0.5) -> None:
        """`threshold` is the share of the model's context window that may be full."""
        self._threshold = threshold
        self._next_threshold = 0.0

    def should_compress(self, tokens: int, window: int) -> bool:
        """Whether a request of this size is too close to the context window of the model.

        After a summary or a failed attempt the conversation must have grown before the next attempt; after a summary
        that would have been longer there is no further attempt.
        """
        return tokens >= max(self._threshold * window, self._next_threshold)

    async def compress(
        self,
        request_summary: Callable[[ModelRequest], Awaitable[ModelResponse]],
        messages: Sequence[Message],
        scope: CompressionScope,
        rescope: Callable[[], CompressionScope] | None = None,
    ) -> tuple[Sequence[Message], Compressed]:
        """Return the new messages and the outcome; the same messages if nothing changed.

        The preamble and the latest messages stay as they are. The request for the summary takes at most the room of the
        scope in estimated tokens, and so do the new messages if their latest one is not too long. A failure of
        `request_summary` becomes the outcome. Estimates may be wrong: if the service refuses the request as too long,
        it is sent again, shorter, as long as `rescope` returns a scope with less room.
        """
        from tejat.engine.loop.compression import attempt_compression

        attempt = await attempt_compression(request_summary, messages, scope)
        for _ in range(_MAX_ATTEMPTS - 1):
            smaller = rescope() if attempt.is_refused and rescope is not None else scope
            if smaller.room >= scope.room:
                break
            scope = smaller
            attempt = await attempt_compression(request_summary, messages, scope)
        self._next_threshold = _threshold_after(attempt.outcome)
        return attempt.messages, attempt.outcome

    def preview(self, messages: Sequence[Message], scope: CompressionScope) -> CompressionPreview:
        """Return what `compress` would do with these messages, without a request."""
        from tejat.engine.loop.compression import preview_compression

        return preview_compression(messages, scope)


def _threshold_after(outcome: Compressed) -> float:
    match outcome.status:
        case CompressionStatus.COMPRESSED:
            return outcome.after * 1.25
        case CompressionStatus.INFLATED:
            return math.inf
        case CompressionStatus.FAILED | CompressionStatus.NOT_NEEDED:
            return outcome.before * 1.1
