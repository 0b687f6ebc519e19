"""Typed parameter classes: their JSON Schema, and the parsing of arguments.

A parameter class is a `@frozen` class or a frozen dataclass whose fields are annotated with `Annotated[type,
Param(...)]`. The types are `str`, `int`, `bool`, `list[str]`, and each of them `| None`. A field without a default is
required.
"""

import types
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Annotated, TypeVar, cast, get_args, get_origin

from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.frozen import MISSING, fields_of, frozen, is_frozen
from tejat.core.messages.types import JsonObject, JsonValue

NOT_AN_OBJECT = "Value of params must be an object"

_Parameters = TypeVar("_Parameters")


@frozen
class Param:
    """The declaration of one parameter.

    `aliases` are other accepted names; `a.b` means the key `b` of an object `a`. A parameter with `declared=False` is
    accepted but not declared to the model. One with `listed_as_required=True` has a default, because some forms of a
    call do without it, but is declared as required.
    """

    description: str = ""
    aliases: tuple[str, ...] = ()
    minimum: int | None = None
    min_items: int | None = None
    min_item_length: int | None = None
    json_type: str | None = None
    declared: bool = True
    listed_as_required: bool = False


def parameters_schema(parameters: type) -> JsonObject:
    """The JSON Schema that is declared to the model."""
    properties: dict[str, JsonValue] = {}
    required: list[str] = []
    for field in _fields(parameters):
        if field.param.declared:
            properties[field.name] = field.declaration()
            if field.required or field.param.listed_as_required:
                required.append(field.name)
    return {"type": "object", "properties": properties, "required": required}


def parse_arguments(parameters: type[_Parameters], arguments: object) -> _Parameters:
    """Parse arguments into `parameters`. Unknown keys are ignored; null means absent if there is a default.

    Raises ToolFailure (invalid_tool_params) that names every invalid field.
    """
    if not isinstance(arguments, dict | Mapping):  # dict first: asking an abstract class is slow
        raise ToolFailure(NOT_AN_OBJECT, ErrorType.INVALID_TOOL_PARAMS)
    members = cast("Mapping[str, object]", arguments)
    problems: list[str] = []
    values: dict[str, object] = {}
    for field in _fields(parameters):
        (name, value), *others = field.find_values(members)
        conflict = next((other for other, its_value in others if its_value != value), None)
        if conflict is not None:  # a rule or hook may have judged the one that would not be used
            both = " and ".join(map(_where, (name, conflict)))
            problems.append(f"{both} are one parameter and must not differ")
        if value is _MISSING or (value is None and not field.required):
            if field.required:
                problems.append(f"params must have required property '{field.name}'")
            continue
        checked, problem = field.check(_where(name), value)
        if problem:
            problems.append(problem)
        values[field.name] = checked
    if problems:
        raise ToolFailure(", ".join(problems), ErrorType.INVALID_TOOL_PARAMS)
    return parameters(**values)


def json_type_of(parameters: type, name: str) -> str | None:
    """The JSON type of a parameter by name or alias, or None."""
    for field in _fields(parameters):
        if name == field.name or name in field.param.aliases:
            return field.json_type
    return None


_MISSING = object()


@frozen
class _Field:
    name: str
    json_type: str
    required: bool
    default: JsonValue
    param: Param

    def declaration(self) -> JsonObject:
        param = self.param
        schema: dict[str, JsonValue] = {"type": param.json_type or self.json_type, "description": param.description}
        if self.json_type == "array":
            schema["items"] = {"type": "string"} | _optional("minLength", param.min_item_length)
        schema |= _optional("minItems", param.min_items) | _optional("minimum", param.minimum)
        return schema if self.default is None else {**schema, "default": self.default}

    def find_values(self, members: Mapping[str, object]) -> list[tuple[str, object]]:
        """The values found, with the names they were found under; null or `_MISSING` alone if there is no other."""
        found: list[tuple[str, object]] = []
        absent = self.name, _MISSING
        for name in (self.name, *self.param.aliases):
            value = _get_path(members, name.split(".")) if "." in name else members.get(name, _MISSING)
            if value is not None and value is not _MISSING:
                found.append((name, value))
            elif value is None and absent[1] is _MISSING:
                absent = name, value
        return found or [absent]

    def check(self, where: str, value: object) -> tuple[object, str | None]:
        checked, problem = _CHECKS[self.json_type](value)
        if problem:
            # A fraction is a number, so "must be number" would not help.
            wanted = self.json_type if isinstance(value, float) else self.param.json_type or self.json_type
            return value, f"{where} must be {wanted}"
        param = self.param
        if isinstance(checked, int) and param.minimum is not None and checked < param.minimum:
            return value, f"{where} must be >= {param.minimum}"
        if self.json_type == "array":
            return checked, _check_items(where, cast("list[object]", checked), param)
        return checked, None


def _where(name: str) -> str:
    return f"params/{name.replace('.', '/')}"


def _get_path(value: object, keys: list[str]) -> object:
    for key in keys:
        if not isinstance(value, Mapping):
            return _MISSING
        value = cast("Mapping[str, object]", value).get(key, _MISSING)
    return value


def _optional(key: str, value: int | None) -> dict[str, JsonValue]:
    return {} if value is None else {key: value}


def _check_items(where: str, items: list[object], param: Param) -> str | None:
    if param.min_items is not None and len(items) < param.min_items:
        return f"{where} must NOT have fewer than {param.min_items} items"
    for index, item in enumerate(items):
        if not isinstance(item, str):
            return f"{where}/{index} must be string"
        if param.min_item_length is not None and len(item) < param.min_item_length:
            return f"{where}/{index} must NOT have fewer than {param.min_item_length} characters"
    return None


def _check_integer(value: object) -> tuple[object, bool]:
    """JSON has one number type, so 3.0 is the integer 3."""
    if isinstance(value, float) and value.is_integer():
        return int(value), False
    return value, isinstance(value, bool) or not isinstance(value, int)


_CHECKS: dict[str, Callable[[object], tuple[object, bool]]] = {
    "string": lambda value: (value, not isinstance(value, str)),
    "boolean": lambda value: (value, not isinstance(value, bool)),
    "integer": _check_integer,
    "array": lambda value: (value, not isinstance(value, list)),
}

_JSON_TYPES: dict[object, str] = {str: "string", bool: "boolean", int: "integer", list: "array"}


@cache
def _fields(parameters: type) -> tuple[_Field, ...]:
    annotations = cast("dict[str, object]", parameters.__annotations__)
    return tuple(_read_field(name, annotations[name], default) for name, default in _defaults(parameters))


def _defaults(parameters: type) -> Iterator[tuple[str, object]]:
    """The fields in order, each with its default, `_MISSING` if it is required."""
    if is_frozen(parameters):
        for each in fields_of(parameters):
            is_required = each.default is MISSING and each.factory is MISSING
            yield each.name, _MISSING if is_required else None if each.default is MISSING else each.default
        return
    import dataclasses  # tool authors may use dataclasses

    for field in dataclasses.fields(parameters):
        has_default = field.default is not dataclasses.MISSING
        is_required = not has_default and field.default_factory is dataclasses.MISSING
        yield field.name, _MISSING if is_required else field.default if has_default else None


def _read_field(name: str, annotation: object, default: object) -> _Field:
    if get_origin(annotation) is not Annotated:
        raise TypeError(f"parameter {name!r} must be annotated with Annotated[type, Param(...)]")
    kind, param = cast("tuple[object, Param]", get_args(annotation))
    if isinstance(kind, types.UnionType):
        (kind,) = (member for member in get_args(kind) if member is not types.NoneType)
    required = default is _MISSING
    return _Field(
        name=name,
        json_type=_JSON_TYPES[get_origin(kind) or kind],
        required=required,
        default=cast("JsonValue", None if required else default),
        param=param,
    )
