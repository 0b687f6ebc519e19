"""A model made of a plain function."""

import inspect
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, cast

from tejat.core.agent.prices import Price
from tejat.core.agent.settings import describe_value
from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.history import Message
from tejat.core.model import ModelOutput, ModelRequest
from tejat.models.custom.client import DEFAULT_CONTEXT_WINDOW, CustomModelClient, closed_after
from tejat.workspace.threads.daemon import run_detached

FunctionAnswer: TypeAlias = ModelOutput | Iterable[ModelOutput]
"""What the function of a model returns: text, a function call, a response, or several pieces of one."""
ModelFunction: TypeAlias = Callable[
    [Sequence[Message], Sequence[FunctionDeclaration]],
    FunctionAnswer | Awaitable[FunctionAnswer] | AsyncIterable[ModelOutput],
]
"""Answers a conversation with these tools. It may be `async`, and a generator streams."""


def function_model(
    function: ModelFunction,
    *,
    name: str | None = None,
    context_window: int = DEFAULT_CONTEXT_WINDOW,
    price: Price | None = None,
) -> "FunctionModel":
    """Make a model of a function that takes the messages and the declared tools, for `Agent(model=...)`.

    The function returns text, a `FunctionCall`, a `ModelResponse`, or a list of them; a generator streams. A function
    that is not `async` runs in its own thread. `name` defaults to the name of the function.

    Raises TypeError for anything but a function with two parameters, and for other arguments of a wrong type;
    ValueError for values that cannot be meant.
    """
    given: object = function
    if not callable(given) or isinstance(given, type):
        raise TypeError(f"A function model needs a function, not {describe_value(given)}.")
    try:
        inspect.signature(function).bind(None, None)
    except TypeError:
        name = getattr(function, "__name__", type(function).__name__)
        raise TypeError(f"The function {name!r} must take two arguments: the messages and the tools.") from None
    except ValueError:  # written in C
        pass
    model = FunctionModel(function, name or getattr(function, "__name__", "function"), context_window, price)
    CustomModelClient(model)  # checks the other arguments
    return model


class FunctionModel:
    """A `Model` around a function; see `function_model`."""

    def __init__(self, function: ModelFunction, name: str, context_window: int, price: Price | None) -> None:
        self._function = function
        self.name = name
        self.context_window = context_window
        self.price = price

    def __repr__(self) -> str:
        return f"<FunctionModel {self.name!r}>"

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelOutput]:
        """Stream the answer of the function. Raises what it raises."""
        answer = await self._call(request)
        if isinstance(answer, AsyncIterable):
            async with closed_after(cast("AsyncIterable[ModelOutput]", answer)) as pieces:
                async for piece in pieces:
                    yield piece
        elif isinstance(answer, Iterator):
            rest = zip(cast("Iterator[ModelOutput]", answer), strict=False)
            while (given := await run_detached(lambda: next(rest, None), grace=0)) is not None:
                yield given[0]
        elif isinstance(answer, Iterable) and not isinstance(answer, str | bytes | Mapping):
            for piece in cast("Iterable[ModelOutput]", answer):
                yield piece
        else:
            yield cast("ModelOutput", answer)

    async def _call(self, request: ModelRequest) -> Any:
        function: Callable[..., Any] = self._function
        if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
            answer = function(request.messages, request.tools)
        else:
            answer = await run_detached(lambda: function(request.messages, request.tools), grace=0)
        return await cast("Awaitable[Any]", answer) if isinstance(answer, Awaitable) else answer
