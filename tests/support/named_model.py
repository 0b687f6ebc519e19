"""A model client that is only a name."""

from collections.abc import AsyncGenerator, Sequence

from tejat.core.model import Capability, Chunk, ModelRequest


class NamedModel:
    """A model that must not be asked."""

    context_window = 1000
    capabilities: frozenset[Capability] = frozenset()

    def __init__(self, name: str) -> None:
        self.name = name

    async def prepare(self) -> Sequence[str]:
        return ()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        raise AssertionError(request)
        yield

    async def count_tokens(self, request: ModelRequest) -> int:
        raise AssertionError(request)

    async def close(self) -> None:
        pass
