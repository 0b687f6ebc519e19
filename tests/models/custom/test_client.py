"""Models of the program: what they may yield, and what becomes of their errors."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, Sequence
from contextlib import aclosing
from typing import Any

import pytest

from tejat.core.agent.prices import Price
from tejat.core.errors import CallbackFailure
from tejat.core.messages.history import model_message, user_message
from tejat.core.messages.tokens import estimate_request_tokens
from tejat.core.messages.types import FunctionCall, Text, Thought
from tejat.core.model import (
    Capability,
    Chunk,
    FailureKind,
    FinishReason,
    ModelFailure,
    ModelOutput,
    ModelRequest,
    ModelResponse,
    TextDelta,
    ThoughtDelta,
    Usage,
)
from tejat.models.custom.client import DEFAULT_CONTEXT_WINDOW, CustomModelClient

REQUEST = ModelRequest([user_message("Hello there")], system="Be kind.")


class Yields:
    """A model that yields these pieces, and raises what is an exception."""

    def __init__(self, *pieces: Any) -> None:
        self.pieces = pieces
        self.is_closed = False

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelOutput]:
        assert tuple(request.messages) == tuple(REQUEST.messages)
        try:
            for piece in self.pieces:
                if isinstance(piece, Exception):
                    raise piece
                yield piece
        finally:
            self.is_closed = True


def stream(model: Any) -> list[Chunk]:
    async def read() -> list[Chunk]:
        return [chunk async for chunk in CustomModelClient(model).stream(REQUEST)]

    return asyncio.run(read())


CALL = FunctionCall("read_file", {"path": "a"})


@pytest.mark.parametrize(
    ("pieces", "chunks", "parts"),
    [
        (["Good ", "day."], [TextDelta("Good "), TextDelta("day.")], [Text("Good day.")]),
        ([TextDelta("a"), Text("b"), "c"], [TextDelta("a"), TextDelta("b"), TextDelta("c")], [Text("abc")]),
        (
            [ThoughtDelta("Let me "), Thought("see."), "Yes."],
            [ThoughtDelta("Let me "), ThoughtDelta("see."), TextDelta("Yes.")],
            [Thought("Let me see."), Text("Yes.")],
        ),
        (
            [Thought("a", signature="s"), Thought("b")],
            [ThoughtDelta("a"), ThoughtDelta("b")],
            [Thought("a", signature="s"), Thought("b")],
        ),
        (["I look.", CALL, CALL], [TextDelta("I look.")], [Text("I look."), CALL, CALL]),
        ([], [], []),
    ],
)
def test_pieces_become_chunks_and_one_response(pieces: Sequence[Any], chunks: list[Chunk], parts: list[Any]) -> None:
    *streamed, last = stream(Yields(*pieces))
    assert streamed == chunks
    assert isinstance(last, ModelResponse)
    assert (last.message.parts, last.reason, last.model) == (tuple(parts), FinishReason.STOP, "Yields")


def test_tokens_are_estimated_unless_they_are_given() -> None:
    estimated = stream(Yields("Four characters a token"))[-1]
    assert isinstance(estimated, ModelResponse)
    assert estimated.usage == Usage(prompt=estimate_request_tokens(REQUEST), output=6)
    given = stream(Yields(Usage(prompt=100), "Yes.", Usage(output=7)))[-1]
    assert isinstance(given, ModelResponse)
    assert given.usage == Usage(prompt=100, output=7)


def test_a_complete_response_is_the_last_piece() -> None:
    response = ModelResponse(model_message("Yes."), FinishReason.MAX_TOKENS, model="inner")
    model = Yields("Yes.", response, "never read")
    assert stream(model) == [TextDelta("Yes."), response]
    assert model.is_closed


def test_members_are_used_if_they_exist() -> None:
    class Named(Yields):
        name = "my model"
        context_window = 8_000
        capabilities = frozenset({Capability.GOOGLE_SEARCH})
        price = Price(1.0, 0.1, 2.0)

        async def count_tokens(self, _: ModelRequest) -> int:
            return 17

    client, plain = CustomModelClient(Named()), CustomModelClient(Yields())
    assert (client.name, client.context_window, client.price) == ("my model", 8_000, Price(1.0, 0.1, 2.0))
    assert client.capabilities == {Capability.GOOGLE_SEARCH}
    assert asyncio.run(client.count_tokens(REQUEST)) == 17
    assert (plain.name, plain.context_window, plain.price) == ("Yields", DEFAULT_CONTEXT_WINDOW, None)
    assert plain.capabilities == frozenset()
    assert asyncio.run(plain.count_tokens(REQUEST)) == estimate_request_tokens(REQUEST)
    assert asyncio.run(plain.prepare()) == ()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("name", 5, "name of the model must be of the type str, not 5."),
        ("context_window", "8k", "context_window of the model must be of the type int, not '8k'."),
        ("price", 1.0, "price of the model must be of the type Price, not 1.0."),
        ("price", Price(1.0, "0", 1.0), "Price.cached must be a number, not '0'."),  # pyright: ignore[reportArgumentType]
    ],
)
def test_members_of_another_type_are_refused(name: str, value: object, message: str) -> None:
    model: Any = type("Odd", (Yields,), {name: value})()
    with pytest.raises(TypeError) as caught:
        CustomModelClient(model)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("window", [0, -1])
def test_a_context_window_must_have_room(window: int) -> None:
    model: Any = type("Odd", (Yields,), {"context_window": window})()
    with pytest.raises(ValueError, match=f"context_window of the model must be greater than 0, not {window}"):
        CustomModelClient(model)


@pytest.mark.parametrize("amount", [-1.0, float("inf")])
def test_a_price_that_nothing_can_have_is_refused(amount: float) -> None:
    for price in (Price(1.0, amount, 1.0), Price(1.0, 1.0, 1.0, steps=((10, Price(1.0, amount, 1.0)),))):
        model: Any = type("Odd", (Yields,), {"price": price})()
        with pytest.raises(ValueError, match=r"^Price\.cached must be dollars, 0 or more, not "):
            CustomModelClient(model)


@pytest.mark.parametrize(
    ("piece", "message"),
    [
        (FunctionCall("glob", None), "FunctionCall.args must be a JSON object, not None."),  # pyright: ignore[reportArgumentType]
        (TextDelta(5), "TextDelta.text must be a string, not 5."),  # pyright: ignore[reportArgumentType]
        (Usage(prompt="5"), "Usage.prompt must be a whole number, not '5'."),  # pyright: ignore[reportArgumentType]
        (Usage(output=-1), "The model counted less than 0 tokens: Usage(output=-1)."),
        (ModelResponse("a"), "ModelResponse.message must be a Message, not 'a'."),  # pyright: ignore[reportArgumentType]
        (ModelResponse(model_message(Text("a")), usage=Usage(-1)), "The model counted less than 0 tokens: "),
    ],
)
def test_the_wrong_field_of_a_piece_is_named(piece: object, message: str) -> None:
    with pytest.raises(CallbackFailure) as caught:
        stream(Yields(piece))
    assert str(caught.value.error).startswith(message)


def test_a_model_failure_stays_one() -> None:
    failure = ModelFailure("Too busy.", FailureKind.UNAVAILABLE, can_retry=True)
    with pytest.raises(ModelFailure) as caught:
        stream(Yields("a", failure))
    assert caught.value is failure


def test_any_other_exception_is_that_of_a_callback() -> None:
    error = KeyError("lost")
    with pytest.raises(CallbackFailure) as caught:
        stream(Yields("a", error))
    assert caught.value.error is error


@pytest.mark.parametrize("wrong", [None, 5, ["a"], object()])
def test_other_pieces_are_an_error_of_the_model(wrong: object) -> None:
    with pytest.raises(CallbackFailure) as caught:
        stream(Yields(wrong))
    assert isinstance(caught.value.error, TypeError)
    assert str(caught.value).startswith("The model 'Yields' yielded ")


def test_stream_may_be_a_coroutine_function() -> None:
    class Late:
        async def stream(self, _: ModelRequest) -> AsyncIterable[ModelOutput]:
            return Yields("Late.").stream(REQUEST)

    assert stream(Late())[0] == TextDelta("Late.")


def test_stream_must_return_an_iterator() -> None:
    class Plain:
        def stream(self, _: ModelRequest) -> str:
            return "Hello."

    with pytest.raises(CallbackFailure, match=r"stream of the model 'Plain' returned 'Hello\.', no async iterator"):
        stream(Plain())


def test_closing_the_stream_closes_that_of_the_model() -> None:
    model = Yields("a", "b")

    async def leave() -> None:
        async with aclosing(CustomModelClient(model).stream(REQUEST)) as chunks:
            async for _ in chunks:
                break
        assert model.is_closed
        await CustomModelClient(model).close()

    asyncio.run(leave())


def test_a_model_that_never_waits_leaves_time_to_others() -> None:
    class Busy(Yields):
        async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelOutput]:
            try:
                while True:
                    yield "more "
            finally:
                self.is_closed = True

    model = Busy()

    async def read() -> None:
        async with asyncio.timeout(0.05):
            async for _ in CustomModelClient(model).stream(REQUEST):
                pass

    with pytest.raises(TimeoutError):
        asyncio.run(read())
    assert model.is_closed


def test_a_model_that_is_cancelled_by_nobody_has_failed() -> None:
    class Lost:
        async def stream(self, _: ModelRequest) -> AsyncIterable[ModelOutput]:
            raise asyncio.CancelledError
            yield ""

    with pytest.raises(CallbackFailure, match="The model 'Lost' was cancelled from within"):
        stream(Lost())
