"""Base class of model clients that wrap another one."""

from collections.abc import Sequence

from tejat.core.model import Capability, ModelClient, ModelRequest


class ModelWrapper:
    """Delegates everything but `stream` to the inner client."""

    def __init__(self, inner: ModelClient, name: str | None = None) -> None:
        self._inner = inner
        self.name = inner.name if name is None else name

    @property
    def context_window(self) -> int:
        return self._inner.context_window

    @property
    def capabilities(self) -> frozenset[Capability]:
        return self._inner.capabilities

    async def prepare(self) -> Sequence[str]:
        return await self._inner.prepare()

    async def count_tokens(self, request: ModelRequest) -> int:
        return await self._inner.count_tokens(request)

    async def close(self) -> None:
        await self._inner.close()
