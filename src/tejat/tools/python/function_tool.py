"""Python functions as tools: the schema comes from the type hints, the description from the docstring."""

import asyncio
import inspect
from collections.abc import Callable
from contextlib import suppress
from functools import partial, update_wrapper
from math import inf
from typing import Generic, ParamSpec, TypeVar, cast, overload

from tejat.core.approval.confirmation import Confirmation
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.frozen import replace
from tejat.core.messages.declaration import Kind
from tejat.core.messages.types import Params
from tejat.core.tools.base import ParsingTool, ToolContext, ToolResult
from tejat.core.tools.cancellation import inner_cancellation
from tejat.core.tools.hints.docstring import parse_docstring
from tejat.core.tools.tool_check import check_tool_name
from tejat.tools.python.call_confirmation import CallConfirmation, Confirm
from tejat.tools.python.function_parameters import FunctionParameters
from tejat.tools.python.function_result import to_tool_result
from tejat.workspace.threads.daemon import run_detached

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


@overload
def tool(
    function: Callable[_Parameters, _Result],
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    kind: Kind = Kind.OTHER,
    confirm: Confirm = False,
    timeout: float | None = None,
) -> "FunctionTool[_Parameters, _Result]": ...


@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    kind: Kind = Kind.OTHER,
    confirm: Confirm = False,
    timeout: float | None = None,
) -> "Callable[[Callable[_Parameters, _Result]], FunctionTool[_Parameters, _Result]]": ...


def tool(
    function: Callable[_Parameters, _Result] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    kind: Kind = Kind.OTHER,
    confirm: Confirm = False,
    timeout: float | None = None,
) -> object:
    """Make a tool of a function, as `@tool` or `@tool(...)`. The function can still be called directly.

    Parameters are str, int, float, bool, None, Literal, enums (by value), dataclasses, TypedDicts, pydantic models,
    dates, paths, UUIDs, decimals, lists, tuples, sets and dicts of them, unions and Any. `Annotated[T, "description"]`,
    `Annotated[T, Param(...)]` and the constraints of annotated_types and pydantic add details. A ToolContext parameter
    receives the context of the call and is hidden from the model. A function that is not async runs in its own thread.

    The function may return text, a part, a list of text and parts, a ToolResult, None, or any JSON-serializable value.
    Exceptions are reported to the model.

    A tool that only reads should use `kind=Kind.READ`: it may run in parallel and in plan mode, and no undo data is
    kept for it. `confirm` asks the user before each call; if there is no one to ask, the call is refused. A function
    as `confirm` gets the arguments that it takes by name and returns whether to ask, or the text to show. The user's
    policy rules apply to every tool.

    A call that takes longer than `timeout` seconds fails with `ErrorType.TIMEOUT`. An async function is cancelled; any
    other should look at `ToolContext.is_cancelled`, and is left behind a few seconds later.

    Raises TypeError for a function that cannot be declared to a model and for options of a wrong type, ValueError for
    an invalid tool name.
    """

    def decorate(decorated: Callable[_Parameters, _Result]) -> FunctionTool[_Parameters, _Result]:
        return FunctionTool(decorated, name=name, description=description, kind=kind, confirm=confirm, timeout=timeout)

    return decorate if function is None else decorate(function)


class FunctionTool(ParsingTool, Generic[_Parameters, _Result]):
    """A tool made of a function. See `tool`."""

    def __init__(
        self,
        function: Callable[_Parameters, _Result],
        *,
        name: str | None = None,
        description: str | None = None,
        kind: Kind = Kind.OTHER,
        confirm: Confirm = False,
        timeout: float | None = None,
    ) -> None:
        _check_function(function)
        name = function.__name__ if name is None else name
        check_tool_name(name)
        _check_options(name, description, kind, timeout)
        documented = parse_docstring(function.__doc__ or "")
        description = description or documented.summary
        if not description:
            raise TypeError(f"{name}() has no docstring, and a model must be told what it does")
        self._function = function
        self._function_parameters = FunctionParameters(function, documented.parameters)
        self._confirmation = CallConfirmation(confirm, self._function_parameters.names, tool=f"{name}()")
        self._timeout = timeout
        super().__init__(
            name=name,
            description=description,
            parameter_schema=self._function_parameters.schema(),
            kind=kind,
            can_update_output=self._function_parameters.has_context,
        )
        update_wrapper(self, function, updated=())

    def __call__(self, *args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        return self._function(*args, **kwargs)

    def parse(self, params: object) -> dict[str, object]:
        """Parse the arguments. Unknown ones are ignored; null means absent where a default exists.

        Raises ToolFailure that names every invalid parameter.
        """
        return self._function_parameters.parse(params)

    async def should_confirm_execute(self, params: Params) -> Confirmation | None:
        if self._confirmation.is_off:
            return None
        arguments = self._function_parameters.with_defaults(self.parse(params))
        description = self.get_description(params)
        return await self._confirmation.ask(arguments, title=self.display_name, description=description)

    async def execute(self, params: Params, context: ToolContext) -> ToolResult:
        """Call the function. Raises ToolFailure (timeout) if it takes too long."""
        arguments = self.parse(params)
        context.signal.watch(asyncio.current_task())
        limit = asyncio.timeout(self._timeout)
        context.signal.watch_limit(limit.expired)
        try:
            async with limit:
                return await self._call(arguments, context)
        except TimeoutError:
            if not limit.expired():
                raise
            context.signal.set()
            raise ToolFailure(
                f"{self.name} took longer than {self._timeout:g} seconds and was stopped.", ErrorType.TIMEOUT
            ) from None
        except asyncio.CancelledError:
            context.signal.set()
            raise

    async def _call(self, arguments: dict[str, object], context: ToolContext) -> ToolResult:
        bind = self._function_parameters.bind
        if inspect.iscoroutinefunction(self._function):
            return to_tool_result(await _await_result(bind(arguments, context)()))
        loop = asyncio.get_running_loop()
        returned: object = await run_detached(bind(arguments, _thread_safe_context(context, loop)))
        return to_tool_result(await _await_result(returned) if inspect.isawaitable(returned) else returned)


def _check_function(function: object) -> None:
    if not (inspect.isfunction(function) or inspect.ismethod(function)):
        given = f"the class {function.__name__}" if isinstance(function, type) else type(function).__name__
        raise TypeError(f"a tool is made of a function or a bound method, not of {given}")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError(f"{function.__name__}() is a generator, and a tool gives one result")


def _check_options(name: str, description: object, kind: object, timeout: object) -> None:
    if not isinstance(description, str | None):
        raise TypeError(f"{name}(): description must be a str, not {description!r}")
    if not isinstance(kind, Kind):
        raise TypeError(f"{name}(): kind must be a Kind such as Kind.READ, not {kind!r}")
    if timeout is None:
        return
    if isinstance(timeout, bool) or not isinstance(timeout, int | float):
        raise TypeError(f"{name}(): timeout must be a number of seconds, not {timeout!r}")
    if not 0 < timeout < inf:
        raise ValueError(f"{name}(): timeout must be more than 0 seconds, not {timeout!r}")


async def _await_result(returned: object) -> object:
    """Await the result. A function that cancels itself has failed."""
    try:
        return await cast("asyncio.Future[object]", returned)
    except asyncio.CancelledError as error:
        raise inner_cancellation(error, asyncio.current_task()) from error
    except SystemExit as error:
        raise RuntimeError(f"SystemExit was raised: {error}") from error


def _thread_safe_context(context: ToolContext, loop: asyncio.AbstractEventLoop) -> ToolContext:
    """Wrap the callbacks of a context so that they run in the event loop."""
    return replace(
        context,
        update_output=partial(_call_in_loop, loop, context.update_output),
        keep_partial=partial(_call_in_loop, loop, context.keep_partial),
    )


def _call_in_loop(loop: asyncio.AbstractEventLoop, callback: Callable[..., object], *args: object) -> None:
    """Call it in the loop. A function that was left behind may outlive the loop; then nobody listens."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(callback, *args)
