"""Functions as tools: what a model is told of them, what they are called with, what becomes of what they do."""

from __future__ import annotations

import asyncio
import enum
import functools
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict

import pytest

from support.tool_results import failed_result, invalid_params_result
from tejat.core.approval.confirmation import InfoConfirmation
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.messages.types import InlineData
from tejat.core.tools.base import FunctionDeclaration, Kind, ToolContext, ToolError, ToolResult, validate_and_execute
from tejat.core.tools.schema import Param
from tejat.tools.python.function_tool import FunctionTool, tool

if TYPE_CHECKING:
    from decimal import Decimal


class Unit(enum.Enum):
    CELSIUS = "c"
    FAHRENHEIT = "f"


@dataclass(frozen=True)
class Place:
    city: str
    country: str = "NO"

    def __post_init__(self) -> None:
        if not self.city:
            raise ValueError("a city has a name")


class Options(TypedDict, total=False):
    unit: Unit


@tool
def forecast(
    place: Place,
    days: Annotated[int, Param("How many days.", aliases=("count",), minimum=1)] = 1,
    options: Options | None = None,
    *,
    detail: Literal["short", "long"] = "short",
) -> list[object]:
    """Tells the weather.

    Not for the model.

    Args:
        place: Where.
        days: Not used, the hint says more.
        detail (str): How much.
    """
    return [place, days, options, detail]


def run(function: Any, params: object, context: ToolContext | None = None) -> ToolResult:
    made = function if isinstance(function, FunctionTool) else tool(function)
    return asyncio.run(validate_and_execute(made, params, context))


def text_result(text: str) -> ToolResult:
    return ToolResult(text, text)


def broken(reason: str) -> ToolResult:
    told = f"Error: Tool call execution failed. Reason: {reason}"
    return ToolResult(told, reason, ToolError(reason, ErrorType.EXECUTION_FAILED))


class TestDeclaration:
    def test_hints_and_docstring_are_what_the_model_is_told(self) -> None:
        place = {
            "type": "object",
            "properties": {"city": {"type": "string"}, "country": {"type": "string", "default": "NO"}},
            "required": ["city"],
            "additionalProperties": False,
            "description": "Where.",
        }
        options = {
            "type": "object",
            "properties": {"unit": {"type": "string", "enum": ["c", "f"]}},
            "required": [],
            "additionalProperties": False,
        }
        detail = {"type": "string", "enum": ["short", "long"], "description": "How much.", "default": "short"}
        assert forecast.schema == FunctionDeclaration(
            "forecast",
            "Tells the weather.",
            {
                "type": "object",
                "properties": {
                    "place": place,
                    "days": {"type": "integer", "minimum": 1, "description": "How many days.", "default": 1},
                    "options": {"anyOf": [options, {"type": "null"}]},
                    "detail": detail,
                },
                "required": ["place"],
            },
        )
        assert (forecast.kind, forecast.is_read_only, forecast.display_name) == (Kind.OTHER, False, "forecast")

    def test_everything_can_be_said_otherwise(self) -> None:
        @tool(name="other", description="Something.", kind=Kind.READ)
        def undocumented() -> None: ...

        assert undocumented.schema == FunctionDeclaration(
            "other", "Something.", {"type": "object", "properties": {}, "required": []}
        )
        assert undocumented.kind is Kind.READ

    def test_parameters_that_are_not_told_or_asked_for(self) -> None:
        def search(
            what: Annotated[str, Param(listed_as_required=True)] = "", hidden: Annotated[int, Param(declared=False)] = 0
        ) -> str:
            """Searches."""
            return f"{what}{hidden}"

        assert tool(search).parameter_schema == {
            "type": "object",
            "properties": {"what": {"type": "string", "default": ""}},
            "required": ["what"],
        }
        assert run(search, {"hidden": 3}) == text_result("3")

    def test_it_is_still_the_function(self) -> None:
        assert forecast(Place("Oslo"), 2, detail="long") == [Place("Oslo"), 2, None, "long"]
        assert (forecast.__name__, forecast.__doc__) == ("forecast", forecast.__wrapped__.__doc__)  # pyright: ignore[reportAttributeAccessIssue]

    def test_bound_methods(self) -> None:
        class Counter:
            def __init__(self) -> None:
                self.count = 0

            def add(self, number: int) -> int:
                """Adds."""
                self.count += number
                return self.count

        counter = Counter()
        adding = tool(counter.add, name="add_number")
        assert [run(adding, {"number": 2}), run(adding, {"number": 3})] == [text_result("2"), text_result("5")]


def variadic(*names: str) -> None:
    """Many."""


def keywords(**names: str) -> None:
    """Many."""


def unhinted(name) -> None:
    """One."""


def dated(when: datetime) -> None:
    """When."""


def unfound(amount: Decimal) -> None:
    """How much."""


def undescribed(name: str) -> None: ...


def generator() -> Iterator[int]:
    """Gives."""
    yield 1


async def async_generator() -> AsyncIterator[int]:
    """Gives."""
    yield 1


def hidden(name: Annotated[str, Param(declared=False)]) -> None:
    """Never told."""


def dotted(name: Annotated[str, Param(aliases=("a.b",))] = "") -> None:
    """Too deep."""


class Holder:
    def method(self, name: str) -> None:
        """Unbound."""


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        (variadic, "variadic(), parameter 'names': a tool has named parameters only, neither *args nor **kwargs"),
        (keywords, "keywords(), parameter 'names': a tool has named parameters only, neither *args nor **kwargs"),
        (unhinted, "unhinted(), parameter 'name' has no type hint"),
        (Holder.method, "parameter 'self' has no type hint (of an object, make a tool of the bound method)"),
        (dated, "dated(), parameter 'when': datetime is nothing that a model can give; take a str"),
        (unfound, "unfound(), parameter 'amount': the type hint 'Decimal' cannot be found"),
        (undescribed, "undescribed() has no docstring"),
        (generator, "generator() is a generator"),
        (async_generator, "async_generator() is a generator"),
        (hidden, "what is not told to the model needs a default"),
        (dotted, "an alias is a name without dots"),
        (Holder, "a tool is made of a function or a bound method, not of type"),
        (functools.partial(dated), "not of partial"),
        (staticmethod(dated), "not of staticmethod"),
    ],
)
def test_what_cannot_be_a_tool_is_refused_when_it_is_decorated(function: Any, problem: str) -> None:
    with pytest.raises(TypeError) as caught:
        tool(function)
    assert problem in str(caught.value)


@pytest.mark.parametrize("name", ["", "two words", "9lives", "ü", "x" * 65, "a\n"])
def test_names_that_no_model_can_use(name: str) -> None:
    with pytest.raises(ValueError, match="no tool can have the name"):
        tool(name=name)(dated)


class TestArguments:
    @pytest.mark.parametrize(
        ("params", "called_with"),
        [
            ({"place": {"city": "Oslo"}}, '[{"city":"Oslo","country":"NO"},1,null,"short"]'),
            (
                {"place": {"city": "Rome", "country": "IT"}, "days": 2.0, "options": {"unit": "f"}, "detail": "long"},
                '[{"city":"Rome","country":"IT"},2,{"unit":"f"},"long"]',
            ),
            ({"place": {"city": "Oslo"}, "count": 3}, '[{"city":"Oslo","country":"NO"},3,null,"short"]'),
            (
                {"place": {"city": "Oslo"}, "days": None, "unknown": 1},
                '[{"city":"Oslo","country":"NO"},1,null,"short"]',
            ),
        ],
    )
    def test_they_become_what_was_hinted(self, params: object, called_with: str) -> None:
        assert run(forecast, params) == text_result(called_with)

    @pytest.mark.parametrize(
        ("params", "reason"),
        [
            ([], "Value of params must be an object"),
            ({}, "params must have required property 'place'"),
            ({"place": None}, "params/place must be object"),
            ({"place": {"city": ""}}, "params/place is refused: a city has a name"),
            (
                {"place": {"town": "x"}, "count": 0, "detail": "much"},
                (
                    "params/place must NOT have the property 'town', params/count must be >= 1, "
                    'params/detail must be one of "short", "long"'
                ),
            ),
            ({"place": {"city": "Oslo"}, "options": {"unit": "k"}}, 'params/options/unit must be one of "c", "f"'),
        ],
    )
    def test_all_that_is_wrong_is_told(self, params: object, reason: str) -> None:
        assert run(forecast, params) == invalid_params_result(reason)
        assert forecast.validate_tool_params(params) == reason

    def test_members_of_enums_are_handed_over_as_members(self) -> None:
        got: list[object] = []

        def take(unit: Unit, units: set[Unit], pair: tuple[int, Unit]) -> None:
            """Takes."""
            got.extend((unit, units, pair))

        assert run(take, {"unit": "c", "units": ["f", "f"], "pair": [1, "c"]}) == ToolResult([])
        assert got == [Unit.CELSIUS, {Unit.FAHRENHEIT}, (1, Unit.CELSIUS)]

    def test_parameters_that_are_only_positional(self) -> None:
        def add(one: int, two: int = 2, /, three: int = 3) -> str:
            """Adds."""
            return f"{one} {two} {three}"

        assert run(add, {"one": 1}) == text_result("1 2 3")
        assert run(add, {"one": 1, "three": 4}) == text_result("1 2 4")


class TestRunning:
    def test_a_plain_function_does_not_hold_up_the_loop(self) -> None:
        @tool
        def wait() -> bool:
            """Waits."""
            return is_set.wait(10)

        is_set = threading.Event()

        async def both() -> ToolResult:
            waiting = asyncio.ensure_future(validate_and_execute(wait, {}))
            await asyncio.sleep(0.01)
            is_set.set()
            return await waiting

        assert asyncio.run(both()) == text_result("true")

    def test_an_async_function_runs_in_the_loop(self) -> None:
        async def where() -> bool:
            """Tells."""
            await asyncio.sleep(0)
            return threading.current_thread() is threading.main_thread()

        assert run(where, {}) == text_result("true")

    def test_a_function_that_gives_something_to_await(self) -> None:
        async def inner() -> str:
            return "awaited"

        def outer() -> Any:
            """Hands over."""
            return inner()

        assert run(outer, {}) == text_result("awaited")

    def test_parts(self) -> None:
        image = InlineData("image/png", b"x")

        def draw() -> list[str | InlineData]:
            """Draws."""
            return ["drawn", image]

        assert run(draw, {}) == ToolResult(["drawn", image])

    @pytest.mark.parametrize("is_async", [False, True])
    @pytest.mark.parametrize(
        ("error", "result"),
        [
            (ValueError("no such city"), broken("no such city")),
            (KeyError(), broken("KeyError")),
            (ToolFailure("gone", ErrorType.FILE_NOT_FOUND), failed_result("gone", ErrorType.FILE_NOT_FOUND)),
            (SystemExit(3), broken("SystemExit was raised: 3")),
        ],
    )
    def test_what_it_raises_is_told(self, is_async: bool, error: BaseException, result: ToolResult) -> None:
        def fail() -> None:
            """Fails."""
            raise error

        async def fail_later() -> None:
            """Fails."""
            await asyncio.sleep(0)
            raise error

        assert run(fail_later if is_async else fail, {}) == result

    def test_one_that_is_cancelled_by_nobody_has_failed(self) -> None:
        async def give_up() -> None:
            """Gives up."""
            raise asyncio.CancelledError

        assert run(give_up, {}) == broken("it was cancelled from within")

    @pytest.mark.parametrize("is_async", [False, True])
    def test_cancelling_the_call_cancels_it(self, is_async: bool) -> None:
        began = threading.Event()

        def sleep() -> None:
            """Sleeps."""
            began.set()
            time.sleep(0.1)

        async def sleep_async() -> None:
            """Sleeps."""
            began.set()
            await asyncio.sleep(60)

        async def cancel() -> None:
            task = asyncio.ensure_future(validate_and_execute(tool(sleep_async if is_async else sleep), {}))
            assert await asyncio.to_thread(began.wait, 10)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        asyncio.run(cancel())

    @pytest.mark.parametrize("is_async", [False, True])
    def test_the_context_is_handed_over_and_not_told(self, is_async: bool) -> None:
        def report(number: int, context: ToolContext) -> str:
            """Reports."""
            assert context.update_output is not None
            context.update_output("half")
            context.update_output("all")
            return str(number)

        async def report_async(number: int, context: ToolContext) -> str:
            """Reports."""
            return report(number, context)

        reporting: FunctionTool[..., Any] = tool(report_async) if is_async else tool(report)
        told: list[tuple[str, bool]] = []

        def listen(output: str) -> None:
            told.append((output, threading.current_thread() is threading.main_thread()))

        assert reporting.can_update_output
        assert reporting.parameter_schema["required"] == ["number"]
        assert run(reporting, {"number": 1, "context": "forged"}, ToolContext(update_output=listen)) == text_result("1")
        assert told == [("half", True), ("all", True)]


class TestConfirmation:
    @pytest.mark.parametrize(
        ("needs_confirmation", "asked"),
        [(False, None), (True, InfoConfirmation(title="Confirm: greet", prompt='{"name":"you"}'))],
    )
    def test_the_programmer_says_whether_it_asks(self, needs_confirmation: bool, asked: object) -> None:
        @tool(needs_confirmation=needs_confirmation)
        def greet(name: str) -> str:
            """Greets."""
            return f"Hello {name}"

        assert asyncio.run(greet.should_confirm_execute({"name": "you"})) == asked


def test_wrapped_functions_keep_their_hints() -> None:
    def logged(function: Callable[..., str]) -> Callable[..., str]:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> str:
            return f"logged {function(*args, **kwargs)}"

        return wrapper

    @tool
    @logged
    def greet(unit: Unit) -> str:
        """Greets."""
        return unit.name

    assert run(greet, {"unit": "c"}) == text_result("logged CELSIUS")
