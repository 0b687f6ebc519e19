"""A model with the generation settings of the user."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import TypeAlias

from tejat.core.frozen import replace
from tejat.core.json_text import merge_objects
from tejat.core.messages.types import JsonObject
from tejat.core.model import Chunk, ModelClient, ModelRequest
from tejat.models.wire.generation import ignored_settings
from tejat.models.wrapper import ModelWrapper

GenerationOf: TypeAlias = Callable[[ModelRequest], JsonObject]
"""Returns the generation settings for a request."""


class ConfiguredModel(ModelWrapper):
    """Adds the generation settings to each request. `is_gemini`: the service understands all of them."""

    def __init__(self, inner: ModelClient, generation_of: GenerationOf, *, is_gemini: bool) -> None:
        super().__init__(inner)
        self._generation_of = generation_of
        self._is_gemini = is_gemini

    async def prepare(self) -> Sequence[str]:
        notices = await super().prepare()
        ignored = "" if self._is_gemini else ignored_settings(self._generation_of(ModelRequest(())))
        return (*notices, ignored) if ignored else notices

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        request = replace(request, generation=merge_objects(request.generation, self._generation_of(request)))
        async with aclosing(self._inner.stream(request)) as chunks:
            async for chunk in chunks:
                yield chunk
