"""Models made of functions of every form."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Generator, Sequence
from typing import Any, TypeAlias

import pytest

from tejat.core.agent.prices import Price
from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.history import Message, model_message, user_message
from tejat.core.messages.types import FunctionCall, JsonObject
from tejat.core.model import ModelOutput, ModelRequest, ModelResponse
from tejat.models.custom.client import DEFAULT_CONTEXT_WINDOW
from tejat.models.custom.function_model import FunctionModel, function_model

SCHEMA: JsonObject = {"type": "object"}
TOOLS = (FunctionDeclaration("look", "Looks.", SCHEMA),)
REQUEST = ModelRequest([user_message("Hello")], tools=TOOLS)
CALL = FunctionCall("look", {})
RESPONSE = ModelResponse(model_message("Done."))


def answers(model: FunctionModel) -> list[ModelOutput]:
    async def read() -> list[ModelOutput]:
        return [piece async for piece in model.stream(REQUEST)]

    return asyncio.run(read())


Messages: TypeAlias = Sequence[Message]
Tools: TypeAlias = Sequence[FunctionDeclaration]


async def coroutine(messages: Messages, tools: Tools) -> str:
    await asyncio.sleep(0)
    return f"{messages[-1].text} {tools[0].name}"


def generator(messages: Messages, _: Tools) -> Generator[ModelOutput]:
    yield messages[-1].text
    yield CALL


async def async_generator(messages: Messages, _: Tools) -> AsyncGenerator[ModelOutput]:
    yield messages[-1].text
    await asyncio.sleep(0)
    yield CALL


class Callable:
    async def __call__(self, messages: Messages, _: Tools) -> list[ModelOutput]:
        return [messages[-1].text, CALL]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda messages, tools: f"{messages[-1].text} {tools[0].name}", ["Hello look"]),
        (lambda *_: CALL, [CALL]),
        (lambda *_: RESPONSE, [RESPONSE]),
        (lambda *_: ["a", CALL], ["a", CALL]),
        (lambda *_: coroutine([user_message("b")], TOOLS), ["b look"]),
        (coroutine, ["Hello look"]),
        (generator, ["Hello", CALL]),
        (async_generator, ["Hello", CALL]),
        (Callable(), ["Hello", CALL]),
    ],
)
def test_functions_of_every_form(function: Any, expected: list[ModelOutput]) -> None:
    assert answers(function_model(function)) == expected


def test_its_name_window_and_price() -> None:
    model = function_model(coroutine)
    assert (model.name, model.context_window, model.price) == ("coroutine", DEFAULT_CONTEXT_WINDOW, None)
    assert repr(model) == "<FunctionModel 'coroutine'>"
    assert function_model(Callable()).name == "function"
    named = function_model(coroutine, name="mine", context_window=5, price=Price(1, 1, 1))
    assert (named.name, named.context_window, named.price) == ("mine", 5, Price(1, 1, 1))


def test_a_plain_function_does_not_hold_up_the_loop() -> None:
    threads: list[int] = []

    def slow(*_: object) -> Generator[str]:
        threads.append(threading.get_ident())
        yield "a"
        threads.append(threading.get_ident())

    assert answers(function_model(slow)) == ["a"]
    assert threading.get_ident() not in threads


def test_what_it_raises_is_raised() -> None:
    def fail(*_: object) -> str:
        raise KeyError("lost")

    with pytest.raises(KeyError, match="lost"):
        answers(function_model(fail))


def test_a_dict_is_no_answer() -> None:
    assert answers(function_model(lambda *_: {"a": 1})) == [{"a": 1}]  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("text", "A function model needs a function, not 'text'."),
        (FunctionModel, "A function model needs a function, not the class FunctionModel."),
        (lambda messages: messages, "must take two arguments: the messages and the tools."),
    ],
)
def test_no_function(given: Any, message: str) -> None:
    with pytest.raises(TypeError) as caught:
        function_model(given)
    assert str(caught.value).endswith(message)


@pytest.mark.parametrize("wrong", [{"price": 5}, {"context_window": "x"}, {"name": 5}])
def test_other_arguments_of_a_wrong_type(wrong: Any) -> None:
    (name,) = wrong
    with pytest.raises(TypeError, match=f"{name} of the model must be of the type"):
        function_model(lambda *_: "", **wrong)
