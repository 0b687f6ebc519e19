"""Python functions as tools: the schema comes from the type hints, the description from the docstring."""

import asyncio
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial, update_wrapper
from typing import Generic, ParamSpec, TypeVar, cast, overload

from tejat.core.approval.confirmation import Confirmation, InfoConfirmation
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.frozen import frozen, replace
from tejat.core.i18n import lazy
from tejat.core.messages.types import Params
from tejat.core.tools.base import Kind, ParsingTool, ToolContext, ToolResult
from tejat.core.tools.docstring import parse_docstring
from tejat.core.tools.json_types import Property, TypeMismatch, object_schema
from tejat.core.tools.schema import NOT_AN_OBJECT, Param
from tejat.core.tools.type_hints import declared_default, json_type_of_hint, resolve_hints, split_annotated
from tejat.tools.python.function_result import to_tool_result
from tejat.workspace.threads.daemon import run_detached

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")


@overload
def tool(
    function: Callable[_Parameters, _Result],
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    kind: Kind = Kind.OTHER,
    needs_confirmation: bool = False,
) -> "FunctionTool[_Parameters, _Result]": ...


@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    kind: Kind = Kind.OTHER,
    needs_confirmation: bool = False,
) -> "Callable[[Callable[_Parameters, _Result]], FunctionTool[_Parameters, _Result]]": ...


def tool(
    function: Callable[_Parameters, _Result] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    kind: Kind = Kind.OTHER,
    needs_confirmation: bool = False,
) -> object:
    """Make a tool of a function, as `@tool` or `@tool(...)`. The function can still be called directly.

    Parameters are str, int, float, bool, None, Literal, enums (by value), dataclasses, TypedDicts, lists, tuples, sets
    and dicts of them, unions and Any; `Annotated[T, "description"]` or `Annotated[T, Param(...)]` adds details. A
    ToolContext parameter receives the context of the call and is hidden from the model. A function that is not async
    runs in its own thread.

    The function may return text, a part, a list of text and parts, a ToolResult, None, or any JSON-serializable value.
    Exceptions are reported to the model.

    A tool that only reads should use `kind=Kind.READ`: it may run in parallel and in plan mode, and no undo data is
    kept for it. `needs_confirmation` asks the user before each call; if there is no one to ask, the call is refused.
    The user's policy rules apply to every tool.

    Raises TypeError for a function that cannot be declared to a model, ValueError for an invalid tool name.
    """

    def decorate(decorated: Callable[_Parameters, _Result]) -> FunctionTool[_Parameters, _Result]:
        return FunctionTool(
            decorated, name=name, description=description, kind=kind, needs_confirmation=needs_confirmation
        )

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
        needs_confirmation: bool = False,
    ) -> None:
        if not (inspect.isfunction(function) or inspect.ismethod(function)):
            raise TypeError(f"a tool is made of a function or a bound method, not of {type(function).__name__}")
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError(f"{function.__name__}() is a generator, and a tool gives one result")
        name = function.__name__ if name is None else name
        if not _NAME.fullmatch(name):
            raise ValueError(f"no tool can have the name {name!r}: letters, digits, '_' and '-', at most 64")
        documented = parse_docstring(function.__doc__ or "")
        description = description or documented.summary
        if not description:
            raise TypeError(f"{name}() has no docstring, and a model must be told what it does")
        self._function = function
        self._tool_parameters = tuple(_read_parameters(function, documented.parameters))
        self._needs_confirmation = needs_confirmation
        super().__init__(
            name=name,
            description=description,
            parameter_schema=object_schema(
                [each.declared_member for each in self._tool_parameters if each.is_declared]
            ),
            kind=kind,
            can_update_output=any(each.is_context for each in self._tool_parameters),
        )
        update_wrapper(self, function, updated=())

    def __call__(self, *args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        return self._function(*args, **kwargs)

    async def should_confirm_execute(self, params: Params) -> Confirmation | None:
        if not self._needs_confirmation:
            return None
        title = lazy("Confirm: {tool}", tool=self.display_name)
        return InfoConfirmation(title=title, prompt=self.get_description(params))

    async def execute(self, params: Params, context: ToolContext) -> ToolResult:
        arguments = self.parse(params)
        if inspect.iscoroutinefunction(self._function):
            return to_tool_result(await _await_result(self._bind(arguments, context)()))
        loop = asyncio.get_running_loop()
        returned: object = await run_detached(self._bind(arguments, _thread_safe_context(context, loop)))
        return to_tool_result(await _await_result(returned) if inspect.isawaitable(returned) else returned)

    def parse(self, params: object) -> dict[str, object]:
        """Parse the arguments. Unknown ones are ignored; null means absent where a default exists.

        Raises ToolFailure that names every invalid parameter.
        """
        if not isinstance(params, Mapping):
            raise ToolFailure(NOT_AN_OBJECT, ErrorType.INVALID_TOOL_PARAMS)
        given = cast("Params", params)
        problems: list[str] = []
        arguments: dict[str, object] = {}
        for each in self._tool_parameters:
            if not each.is_context:
                try:
                    arguments.update(each.parse_argument(given))
                except TypeMismatch as mismatch:
                    problems.append(str(mismatch))
        if problems:
            raise ToolFailure(", ".join(problems), ErrorType.INVALID_TOOL_PARAMS)
        return arguments

    def _bind(self, arguments: Mapping[str, object], context: ToolContext) -> Callable[[], object]:
        positional: list[object] = []
        named: dict[str, object] = {}
        for each in self._tool_parameters:
            name = each.member.name
            if not each.is_context and name not in arguments and not each.is_positional:
                continue
            argument = context if each.is_context else arguments.get(name, each.default)
            if each.is_positional:
                positional.append(argument)
            else:
                named[name] = argument
        return partial(cast("Callable[..., object]", self._function), *positional, **named)


@frozen
class _ToolParameter:
    """One parameter of the function. A positional one cannot be passed by name."""

    member: Property
    param: Param
    default: object
    is_positional: bool
    is_context: bool

    @property
    def is_declared(self) -> bool:
        return self.param.declared and not self.is_context

    @property
    def declared_member(self) -> Property:
        return replace(self.member, is_required=True) if self.param.listed_as_required else self.member

    def parse_argument(self, given: Params) -> dict[str, object]:
        """Parse the argument, as a dict that is empty if the default applies. Raises Mismatch."""
        member = self.member
        name = next((name for name in (member.name, *self.param.aliases) if name in given), None)
        if name is None:
            if member.is_required:
                raise TypeMismatch("params", f"must have required property '{member.name}'")
            return {}
        try:
            return {member.name: member.json_type.parse(given[name], f"params/{name}")}
        except TypeMismatch:
            if given[name] is None and not member.is_required:
                return {}
            raise


def _read_parameters(function: Callable[..., object], described: Mapping[str, str]) -> Iterator[_ToolParameter]:
    """Read the parameters of a function. Raises TypeError that names the function and the parameter."""
    names = cast("Mapping[str, object]", getattr(inspect.unwrap(function), "__globals__", {}))
    for parameter in inspect.signature(function).parameters.values():
        where = f"{function.__name__}(), parameter {parameter.name!r}"
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise TypeError(f"{where}: a tool has named parameters only, neither *args nor **kwargs")
        if parameter.annotation is parameter.empty:
            hint = " (of an object, make a tool of the bound method)" if parameter.name in ("self", "cls") else ""
            raise TypeError(f"{where} has no type hint{hint}")
        try:
            yield _read_parameter(parameter, names, described.get(parameter.name, ""))
        except TypeError as error:
            raise TypeError(f"{where}: {error}") from None


def _read_parameter(parameter: inspect.Parameter, names: Mapping[str, object], described: str) -> _ToolParameter:
    written: object = parameter.annotation
    hint, param = split_annotated(resolve_hints({"it": written}, names)["it"])
    is_context = hint is ToolContext
    if any("." in alias for alias in param.aliases):
        raise TypeError("an alias is a name without dots")
    is_required = parameter.default is parameter.empty
    if is_required and not param.declared:
        raise TypeError("what is not told to the model needs a default")
    member = Property(
        parameter.name,
        json_type_of_hint(object if is_context else hint, param),
        is_required,
        None if is_required else declared_default(parameter.default),
        param.description or described,
    )
    is_positional = parameter.kind is parameter.POSITIONAL_ONLY
    return _ToolParameter(member, param, parameter.default, is_positional, is_context)


async def _await_result(returned: object) -> object:
    """Await the result. A function that cancels itself has failed."""
    try:
        return await cast("asyncio.Future[object]", returned)
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        raise RuntimeError("it was cancelled from within") from None
    except SystemExit as error:
        raise RuntimeError(f"SystemExit was raised: {error}") from error


def _thread_safe_context(context: ToolContext, loop: asyncio.AbstractEventLoop) -> ToolContext:
    """Wrap the callbacks of a context so that they run in the event loop."""
    update_output, keep_partial = context.update_output, context.keep_partial
    return replace(
        context,
        update_output=update_output and partial(loop.call_soon_threadsafe, update_output),
        keep_partial=keep_partial and partial(loop.call_soon_threadsafe, keep_partial),
    )
