"""The models of a sub-agent: that of the session, or one of its own."""

from collections.abc import AsyncGenerator, Callable, Sequence

from tejat.core.model import Capability, Chunk, FailureKind, ModelClient, ModelFailure, ModelRequest
from tejat.engine.models.fallback import ModelFallback

_UNUSABLE = frozenset({FailureKind.NO_KEY, FailureKind.AUTHENTICATION})


class SessionModel:
    """The present model of the session. Closing it closes nothing: it stays the session's."""

    def __init__(self, current: Callable[[], ModelClient]) -> None:
        self._current = current

    @property
    def name(self) -> str:
        return self._current().name

    @property
    def context_window(self) -> int:
        return self._current().context_window

    @property
    def capabilities(self) -> frozenset[Capability]:
        return self._current().capabilities

    async def prepare(self) -> Sequence[str]:
        return await self._current().prepare()

    def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        return self._current().stream(request)

    async def count_tokens(self, request: ModelRequest) -> int:
        return await self._current().count_tokens(request)

    async def close(self) -> None:
        """Nothing to close."""


class OwnModelFallback:
    """The fallback of an agent with a model of its own: the session's model, if that one cannot be had at all.

    `on_fallback` is called with the reason. Other failures are left to `inner`.
    """

    def __init__(
        self, session_model: SessionModel, inner: ModelFallback | None, on_fallback: Callable[[str], None]
    ) -> None:
        self._session_model = session_model
        self._inner = inner
        self._on_fallback = on_fallback

    async def successor(self, model: ModelClient, failure: ModelFailure) -> ModelClient | None:
        is_own = model is not self._session_model
        if is_own and (failure.is_unknown_model or failure.kind in _UNUSABLE):
            self._on_fallback(failure.message)
            return self._session_model
        return None if self._inner is None else await self._inner.successor(model, failure)

    def preferred(self, model: ModelClient) -> ModelClient | None:
        return None
