"""Asking a scripted model without the rest of the program."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from tejat.core.messages.history import Message
from tejat.core.model import MAIN_LANE, Chunk, ModelClient, ModelFailure, ModelRequest, ModelResponse
from tejat.models.scripted.model import open_scripted_model


def scripted(folder: Path, text: str, *, root: str = "/project") -> ModelClient:
    file = folder / "script.toml"
    file.write_text(text, encoding="utf-8")
    return open_scripted_model(str(file), root=root)


def ask(model: ModelClient, *messages: Message, purpose: str = "conversation", lane: str = MAIN_LANE) -> list[Chunk]:
    async def read() -> list[Chunk]:
        return [chunk async for chunk in model.stream(ModelRequest(messages, purpose=purpose, lane=lane))]

    return asyncio.run(read())


def answer_of(chunks: Sequence[Chunk]) -> ModelResponse:
    assert isinstance(chunks[-1], ModelResponse)
    return chunks[-1]


def failure_of(
    model: ModelClient, *messages: Message, purpose: str = "conversation", lane: str = MAIN_LANE
) -> ModelFailure:
    with pytest.raises(ModelFailure) as caught:
        ask(model, *messages, purpose=purpose, lane=lane)
    return caught.value
