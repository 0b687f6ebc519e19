"""A model of the embedding program as a model client."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Sequence
from contextlib import aclosing, asynccontextmanager
from types import NoneType
from typing import Any, TypeVar, cast, get_args

from tejat.core.agent.prices import Price, check_price
from tejat.core.agent.settings import describe_value
from tejat.core.errors import CallbackFailure
from tejat.core.frozen import Value, replace
from tejat.core.messages.history import model_message
from tejat.core.messages.tokens import estimate_message_tokens, estimate_request_tokens
from tejat.core.messages.types import FunctionCall, Text, Thought
from tejat.core.messages.value_check import check_value
from tejat.core.model import (
    Capability,
    Chunk,
    Model,
    ModelFailure,
    ModelOutput,
    ModelRequest,
    ModelResponse,
    TextDelta,
    ThoughtDelta,
    Usage,
)
from tejat.core.tools.cancellation import inner_cancellation
from tejat.models.wire.part_assembler import PartAssembler

DEFAULT_CONTEXT_WINDOW = 128_000

_Piece = TypeVar("_Piece")


class CustomModelClient:
    """A client around a `Model`. The model stays the program's: it is never closed here.

    An exception of the model that is no ModelFailure is raised as CallbackFailure.
    """

    def __init__(self, model: Model) -> None:
        """Raises TypeError for a member of another type than documented, and ValueError for a wrong value."""
        self._model = model
        self.name = _member(model, "name", str, type(model).__name__)
        self.context_window = _member(model, "context_window", int, DEFAULT_CONTEXT_WINDOW)
        if self.context_window <= 0:
            raise ValueError(f"context_window of the model must be greater than 0, not {self.context_window}.")
        self.capabilities = frozenset(map(Capability, _member(model, "capabilities", set | frozenset, frozenset())))
        self.price: Price | None = _member(model, "price", Price | None, None)
        if self.price is not None:
            check_price(self.price)

    async def prepare(self) -> Sequence[str]:
        """Nothing to find out."""
        return ()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        """Raises ModelFailure, and CallbackFailure for any other exception of the model."""
        try:
            async with aclosing(self._stream(request)) as chunks:
                async for chunk in chunks:
                    yield chunk
        except (ModelFailure, CallbackFailure):
            raise
        except asyncio.CancelledError as error:
            failure = inner_cancellation(error, asyncio.current_task(), f"The model {self.name!r}")
            raise CallbackFailure(failure) from error
        except Exception as error:
            raise CallbackFailure(error) from error

    async def _stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        assembly = _ResponseAssembly(self.name)
        # The list of messages grows afterwards.
        streamed: object = self._model.stream(replace(request, messages=tuple(request.messages)))
        if isinstance(streamed, Awaitable):
            streamed = await cast("Awaitable[object]", streamed)
        if not isinstance(streamed, AsyncIterable):
            raise TypeError(
                f"stream of the model {self.name!r} returned {describe_value(streamed)}, no async iterator."
            )
        async with closed_after(cast("AsyncIterable[object]", streamed)) as pieces:
            async for piece in pieces:
                # A model that never waits would keep timers, cancellation and the other tasks from running.
                await asyncio.sleep(0)
                if isinstance(piece, ModelResponse):
                    _check_output(piece)
                    yield piece
                    return
                if (delta := assembly.add(piece)) is not None:
                    yield delta
        yield assembly.response(request)

    async def count_tokens(self, request: ModelRequest) -> int:
        count: Any = getattr(self._model, "count_tokens", None)
        return estimate_request_tokens(request) if count is None else await count(request)

    async def close(self) -> None:
        """Leave the model open: it belongs to the program."""


@asynccontextmanager
async def closed_after(pieces: AsyncIterable[_Piece]) -> AsyncGenerator[AsyncIterable[_Piece]]:
    """Close an iterator at the end of the block if it is a generator."""
    try:
        yield pieces
    finally:
        if isinstance(pieces, AsyncGenerator):
            await pieces.aclose()


class _ResponseAssembly:
    """The response that a model gives piece by piece."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._parts = PartAssembler()
        self._usage: Usage | None = None

    def add(self, piece: object) -> TextDelta | ThoughtDelta | None:
        """Add a piece and return what is streamed for it. Raises TypeError."""
        if isinstance(piece, ModelOutput) and not isinstance(piece, str):
            _check_output(piece)
        match piece:
            case str(text) | TextDelta(text) | Text(text):
                self._parts.add_piece(Text, text)
                return TextDelta(text)
            case ThoughtDelta(text) | Thought(text):
                self._parts.add(piece if isinstance(piece, Thought) else Thought(text))
                return ThoughtDelta(text)
            case FunctionCall():
                self._parts.add(piece)
            case Usage():
                self._usage = piece if self._usage is None else self._usage + piece
            case _:
                raise TypeError(
                    f"The model {self._model!r} yielded {describe_value(piece)}. It must yield strings, function "
                    "calls, or other values of `ModelOutput`."
                )
        return None

    def response(self, request: ModelRequest) -> ModelResponse:
        """The response of all pieces. Token counts that the model did not give are estimated."""
        message = model_message(*self._parts.parts())
        usage = self._usage
        if usage is None:
            usage = Usage(prompt=estimate_request_tokens(request), output=estimate_message_tokens([message]))
        return ModelResponse(message, usage=usage, model=self._model)


def _check_output(piece: Value) -> None:
    """Raises TypeError for a wrong type in it, and ValueError for a negative number of tokens."""
    check_value(piece)
    usage = piece.usage if isinstance(piece, ModelResponse) else piece
    if isinstance(usage, Usage) and any(count < 0 for count in usage.to_dict().values() if isinstance(count, int)):
        raise ValueError(f"The model counted less than 0 tokens: {usage!r}.")


def _member(model: Model, name: str, expected: Any, default: Any) -> Any:
    found = getattr(model, name, default)
    if not isinstance(found, expected) or isinstance(found, bool):
        kinds = " or ".join(each.__name__ for each in get_args(expected) or (expected,) if each is not NoneType)
        raise TypeError(f"{name} of the model must be of the type {kinds}, not {describe_value(found)}.")
    return found
