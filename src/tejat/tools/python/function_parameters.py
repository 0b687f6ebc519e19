"""The parameters of a Python function, as a model is told of them and as the function gets them."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import cast

from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.frozen import Frozen, replace
from tejat.core.messages.types import JsonObject, Params
from tejat.core.tools.base import ToolContext
from tejat.core.tools.hints.annotations import NO_DEFAULT, is_field, read_annotation
from tejat.core.tools.hints.json_types import Property, TypeMismatch, object_schema
from tejat.core.tools.hints.type_hints import declared_default, json_type_of_annotation, resolve_hints
from tejat.core.tools.schema import NOT_AN_OBJECT, Param


class FunctionParameters:
    """All parameters of a function. Raises TypeError that names the function and the parameter."""

    def __init__(self, function: Callable[..., object], described: Mapping[str, str]) -> None:
        self._function = function
        self._parameters = tuple(_read_parameters(function, described))

    @property
    def has_context(self) -> bool:
        return any(each.is_context for each in self._parameters)

    @property
    def names(self) -> Sequence[str]:
        """The names of the parameters that are arguments."""
        return [each.member.name for each in self._parameters if not each.is_context]

    def schema(self) -> JsonObject:
        return object_schema([each.declared_member for each in self._parameters if each.is_declared])

    def parse(self, params: object) -> dict[str, object]:
        """Parse the arguments. Unknown ones are ignored; null means absent where a default exists.

        Raises ToolFailure that names every invalid parameter.
        """
        if not isinstance(params, Mapping):
            raise ToolFailure(NOT_AN_OBJECT, ErrorType.INVALID_TOOL_PARAMS)
        given = cast("Params", params)
        problems: list[str] = []
        arguments: dict[str, object] = {}
        for each in self._parameters:
            if not each.is_context:
                try:
                    arguments.update(each.parse_argument(given))
                except TypeMismatch as mismatch:
                    problems.append(str(mismatch))
        if problems:
            raise ToolFailure(", ".join(problems), ErrorType.INVALID_TOOL_PARAMS)
        return arguments

    def with_defaults(self, arguments: Mapping[str, object]) -> dict[str, object]:
        """All arguments by name, those that were not given too."""
        return {
            each.member.name: arguments[each.member.name] if each.member.name in arguments else each.make_default()
            for each in self._parameters
            if not each.is_context
        }

    def bind(self, arguments: Mapping[str, object], context: ToolContext) -> Callable[[], object]:
        """The call of the function with parsed arguments."""
        complete = self.with_defaults(arguments)
        positional: list[object] = []
        named: dict[str, object] = {}
        for each in self._parameters:
            argument = context if each.is_context else complete[each.member.name]
            if each.is_positional:
                positional.append(argument)
            else:
                named[each.member.name] = argument
        return partial(self._function, *positional, **named)


class _FunctionParameter(Frozen):
    """One parameter of the function. A positional one cannot be passed by name."""

    member: Property
    param: Param
    make_default: Callable[[], object]
    is_positional: bool
    is_context: bool

    @property
    def is_declared(self) -> bool:
        return self.param.declared and not self.is_context

    @property
    def declared_member(self) -> Property:
        return replace(self.member, is_required=True) if self.param.listed_as_required else self.member

    def parse_argument(self, given: Params) -> dict[str, object]:
        """Parse the argument, as a dict that is empty if the default applies. Raises TypeMismatch."""
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


def _read_parameters(function: Callable[..., object], described: Mapping[str, str]) -> Iterator[_FunctionParameter]:
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


def _read_parameter(parameter: inspect.Parameter, names: Mapping[str, object], described: str) -> _FunctionParameter:
    written: object = parameter.annotation
    annotation = read_annotation(resolve_hints({"it": written}, names)["it"])
    param = annotation.param
    is_context = annotation.hint is ToolContext
    if any("." in alias for alias in param.aliases):
        raise TypeError("an alias is a name without dots")
    if is_field(parameter.default):
        raise TypeError(
            f"write Field(...) inside of Annotated[...], as in `{parameter.name}: Annotated[T, Field(...)]`"
        )
    default: object = annotation.default if parameter.default is parameter.empty else parameter.default
    factory = annotation.default_factory if default is NO_DEFAULT else None
    is_required = default is NO_DEFAULT and factory is None
    if is_required and not param.declared:
        raise TypeError("a parameter that is not declared to the model needs a default")
    member = Property(
        parameter.name,
        json_type_of_annotation(replace(annotation, hint=object) if is_context else annotation),
        is_required,
        None if default is NO_DEFAULT else declared_default(default),
        param.description or described,
    )
    is_positional = parameter.kind is parameter.POSITIONAL_ONLY
    return _FunctionParameter(member, param, factory or partial(_identity, default), is_positional, is_context)


def _identity(value: object) -> object:
    return value
