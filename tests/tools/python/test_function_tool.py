"""Functions as tools: what a model is told of them, what they are called with, what becomes of what they do."""

from __future__ import annotations

import asyncio
import enum
import functools
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict

import pytest

from support.tool_results import failed_result, invalid_params_result
from tejat.core.approval.confirmation import InfoConfirmation
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.messages.declaration import FunctionDeclaration, Kind
from tejat.core.messages.types import InlineData
from tejat.core.tools.base import ToolContext, ToolError, ToolResult, validate_and_execute
from tejat.core.tools.cancellation import CancelReason
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


def timed(took: timedelta) -> None:
    """How long."""


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
        (timed, "timed(), parameter 'took': timedelta is not supported as the type of a parameter; use a str"),
        (unfound, "unfound(), parameter 'amount': the type hint 'Decimal' cannot be found"),
        (undescribed, "undescribed() has no docstring"),
        (generator, "generator() is a generator"),
        (async_generator, "async_generator() is a generator"),
        (hidden, "a parameter that is not declared to the model needs a default"),
        (dotted, "an alias is a name without dots"),
        (Holder, "a tool is made of a function or a bound method, not of the class Holder"),
        (functools.partial(timed), "not of partial"),
        (staticmethod(timed), "not of staticmethod"),
    ],
)
def test_what_cannot_be_a_tool_is_refused_when_it_is_decorated(function: Any, problem: str) -> None:
    with pytest.raises(TypeError) as caught:
        tool(function)
    assert problem in str(caught.value)


@pytest.mark.parametrize("name", ["", "two words", "9lives", "ü", "x" * 65, "a\n"])
def test_names_that_no_model_can_use(name: str) -> None:
    with pytest.raises(ValueError, match="is not a valid tool name"):
        tool(name=name)(timed)


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


class TestOptions:
    @pytest.mark.parametrize(
        ("options", "error", "problem"),
        [
            ({"timeout": "5"}, TypeError, "greet(): timeout must be a number of seconds, not '5'"),
            ({"timeout": True}, TypeError, "greet(): timeout must be a number of seconds, not True"),
            ({"timeout": 0}, ValueError, "greet(): timeout must be more than 0 seconds, not 0"),
            ({"timeout": float("inf")}, ValueError, "greet(): timeout must be more than 0 seconds, not inf"),
            ({"kind": "read"}, TypeError, "greet(): kind must be a Kind such as Kind.READ, not 'read'"),
            ({"description": 3}, TypeError, "greet(): description must be a str, not 3"),
            ({"name": 3}, TypeError, "the name of a tool is a str, not 3"),
            ({"confirm": "yes"}, TypeError, "greet(): confirm must be a bool or a function, not 'yes'"),
            ({"confirm": lambda nam: nam}, TypeError, "greet(): confirm takes 'nam', which is no argument of the tool"),
        ],
    )
    def test_wrong_ones_are_refused_when_it_is_decorated(
        self, options: dict[str, Any], error: type[Exception], problem: str
    ) -> None:
        def greet(name: str) -> str:
            """Greets."""
            return name

        with pytest.raises(error) as caught:
            tool(**options)(greet)
        assert str(caught.value).startswith(problem)

    @pytest.mark.parametrize(
        ("confirm", "asked"),
        [
            (False, None),
            (True, InfoConfirmation(title="Confirm: greet", prompt='{"name":"you"}')),
            (lambda name, times: f"{name} {times}", InfoConfirmation(title="Confirm: greet", prompt="you 1")),
        ],
    )
    def test_the_programmer_says_whether_it_asks(self, confirm: Any, asked: object) -> None:
        @tool(confirm=confirm)
        def greet(name: str, context: ToolContext, times: int = 1) -> str:
            """Greets."""
            context.update_output(name)
            return f"Hello {name}" * times

        assert asyncio.run(greet.should_confirm_execute({"name": "you"})) == asked

    def test_a_confirmation_is_not_asked_for_invalid_arguments(self) -> None:
        @tool(confirm=True)
        def greet(name: str) -> str:
            """Greets."""
            return name

        with pytest.raises(ToolFailure, match="params must have required property 'name'"):
            asyncio.run(greet.should_confirm_execute({}))


class TestTimeout:
    LATE = failed_result("wait took longer than 0.05 seconds and was stopped.", ErrorType.TIMEOUT)

    def test_an_async_function_is_cancelled(self) -> None:
        cancelled: list[object] = []

        @tool(timeout=0.05)
        async def wait(context: ToolContext) -> None:
            """Waits."""
            try:
                await asyncio.sleep(60)
            finally:
                cancelled.append((context.is_cancelled, context.cancel_reason))

        assert run(wait, {}) == self.LATE
        assert cancelled == [(True, CancelReason.TIME_LIMIT)]

    def test_a_plain_function_is_told(self) -> None:
        reasons: list[CancelReason | None] = []

        @tool(timeout=0.05)
        def wait(context: ToolContext) -> str:
            """Waits."""
            while not context.is_cancelled:
                time.sleep(0.01)
            reasons.append(context.cancel_reason)
            return "too late"

        assert run(wait, {}) == self.LATE
        assert reasons == [CancelReason.TIME_LIMIT]

    @pytest.mark.parametrize("is_async", [False, True])
    def test_what_is_in_time_is_not_disturbed(self, is_async: bool) -> None:
        async def wait_async(context: ToolContext) -> bool:
            """Waits."""
            await asyncio.sleep(0)
            return context.is_cancelled

        def wait(context: ToolContext) -> bool:
            """Waits."""
            return context.is_cancelled

        assert run(tool(timeout=60)(wait_async) if is_async else tool(timeout=60)(wait), {}) == text_result("false")

    def test_a_timeout_of_the_function_itself_is_its_failure(self) -> None:
        @tool(timeout=60)
        async def fetch() -> None:
            """Fetches."""
            raise TimeoutError("the server did not answer")

        assert run(fetch, {}) == broken("the server did not answer")

    def test_a_cancelled_call_is_no_timeout(self) -> None:
        contexts: list[ToolContext] = []

        @tool(timeout=60)
        async def wait(context: ToolContext) -> None:
            """Waits."""
            contexts.append(context)
            await asyncio.sleep(60)

        async def cancel() -> None:
            task = asyncio.ensure_future(validate_and_execute(wait, {}))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        asyncio.run(cancel())
        assert contexts[0].is_cancelled


def test_a_function_that_was_left_behind_may_go_on_talking() -> None:
    began, may_talk, talked = threading.Event(), threading.Event(), threading.Event()

    @tool
    def hang(context: ToolContext) -> None:
        """Hangs."""
        began.set()
        may_talk.wait(30)
        context.update_output("still here")
        talked.set()

    async def leave() -> None:
        task = asyncio.ensure_future(hang.execute({}, ToolContext()))
        await asyncio.to_thread(began.wait, 10)
        task.cancel()
        await asyncio.sleep(0)
        task.cancel()  # does not wait for it any longer
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(leave())
    may_talk.set()
    assert talked.wait(10)


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
