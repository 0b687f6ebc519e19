"""Typed parameter classes: their JSON Schema, and the parsing of arguments.

A parameter class is a subclass of `Frozen` or a frozen dataclass whose fields are annotated with `Annotated[type,
Param(...)]`. A field without a default is required. The types `str`, `int`, `bool`, `list[str]`, and each of them
`| None`, are read here, which is fast; all other hints are read as those of functions (`core/tools/hints/`). A pydantic
model declares and validates itself.
"""

import types
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast, get_args, get_origin

from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.frozen import MISSING, Frozen, fields_of, is_frozen, replace
from tejat.core.messages.types import JsonObject, JsonValue, Params
from tejat.core.text.one_or_many import keep_as_tuple

if TYPE_CHECKING:
    from tejat.core.tools.hints.json_types import JsonType
    from tejat.core.tools.hints.pydantic_types import PydanticType

NOT_AN_OBJECT = "Value of params must be an object"

_Parameters = TypeVar("_Parameters")


class Param(Frozen):
    """The declaration of one parameter.

    `aliases` are other accepted names; `a.b` means the key `b` of an object `a`. A parameter with `declared=False` is
    accepted but not declared to the model. One with `listed_as_required=True` has a default, because some forms of a
    call do without it, but is declared as required. The lengths are those of a text, a list or a dict, and
    `min_item_length` is that of the texts in a list.
    """

    description: str = ""
    aliases: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    exclusive_minimum: float | None = None
    exclusive_maximum: float | None = None
    multiple_of: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    min_item_length: int | None = None
    pattern: str | None = None
    examples: tuple[JsonValue, ...] = ()
    json_type: str | None = None
    declared: bool = True
    listed_as_required: bool = False

    def __post_init__(self) -> None:
        keep_as_tuple(self, "aliases")
        keep_as_tuple(self, "examples")

    @property
    def is_simple(self) -> bool:
        """Whether it has no limits but those of the built-in tools."""
        others = (self.maximum, self.exclusive_minimum, self.exclusive_maximum, self.multiple_of)
        return (*others, self.min_length, self.max_length, self.pattern, self.examples) == _NO_LIMITS


_NO_LIMITS = (*(None,) * 7, ())


def parameters_schema(parameters: type) -> JsonObject:
    """The JSON Schema that is declared to the model. Raises TypeError for a class that cannot be declared."""
    if _is_model(parameters):
        return _model_type(parameters).schema()
    properties: dict[str, JsonValue] = {}
    required: list[str] = []
    for field in _fields(parameters):
        if field.param.declared:
            properties[field.name] = field.declaration()
            if field.required or field.param.listed_as_required:
                required.append(field.name)
    return {"type": "object", "properties": properties, "required": required}


class Arguments(dict[str, Any]):
    """The arguments of one call, and what its tool has parsed from them.

    A call is validated, judged, described and executed. A typed tool parses such arguments once for all of that.
    """

    __slots__ = ("_owner", "_parsed", "_parsed_from")

    def keep_parsed(self, tool: object, parsed: object) -> None:
        """Keep what a tool has parsed from the present arguments."""
        self._owner, self._parsed, self._parsed_from = tool, parsed, dict(self)

    def parsed_by(self, tool: object) -> object | None:
        """What this tool has parsed, None if it has not parsed them as they are now."""
        if getattr(self, "_owner", None) is not tool or self._parsed_from != self:
            return None
        return self._parsed


def as_arguments(given: Params) -> Params:
    """Copy the arguments of a call, so that its tool can keep what it parsed. Anything but a dict is left as it is."""
    return Arguments(given) if isinstance(given, dict) else given


def parse_arguments(parameters: type[_Parameters], arguments: object) -> _Parameters:
    """Parse arguments into `parameters`. Unknown keys are ignored; null means absent if there is a default.

    Raises ToolFailure (invalid_tool_params) that names every invalid field.
    """
    if not isinstance(arguments, dict | Mapping):  # dict first: asking an abstract class is slow
        raise ToolFailure(NOT_AN_OBJECT, ErrorType.INVALID_TOOL_PARAMS)
    members = cast("Mapping[str, object]", arguments)
    if _is_model(parameters):
        return cast("_Parameters", _parse_model(parameters, members))
    plain = _parse_plain(parameters, members)
    if plain is not None:
        return parameters(**plain)
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


def _parse_plain(parameters: type, members: Mapping[str, object]) -> dict[str, object] | None:
    """The values of valid arguments without aliases and unknown keys, as nearly all are; None for any other."""
    values: dict[str, object] = {}
    fields, required = _plain_fields(parameters)
    for name, given in members.items():
        field = fields.get(name)
        if field is None:
            return None
        if given is None and not field.required:
            continue
        values[name], problem = field.check("", given)
        if problem is not None:
            return None
    return values if required <= values.keys() else None


def json_type_of(parameters: type, name: str) -> str | None:
    """The JSON type of a parameter by name or alias, or None."""
    if _is_model(parameters):
        declared: Any = parameters_schema(parameters).get("properties", {})
        return declared.get(name, {}).get("type")
    for field in _fields(parameters):
        if name == field.name or name in field.param.aliases:
            return field.json_type
    return None


_MISSING = object()


class _Field(Frozen):
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
        schema |= _optional("minimum", param.minimum)
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


def _optional(key: str, value: float | None) -> dict[str, JsonValue]:
    return {} if value is None else {key: value}


def _check_items(where: str, items: list[object], param: Param) -> str | None:
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

_JSON_TYPES: dict[object, str] = {str: "string", bool: "boolean", int: "integer", list[str]: "array"}


@cache
def _fields(parameters: type) -> tuple[_Field, ...]:
    defaults = list(_defaults(parameters))
    hints = cast("Mapping[str, object]", parameters.__annotations__)
    if any(isinstance(hints.get(name), str | None) for name, _ in defaults):  # written as text, or inherited
        from tejat.core.tools.hints.type_hints import class_hints

        hints = class_hints(parameters)
    return tuple(_read_field(parameters, name, hints[name], default) for name, default in defaults)


@cache
def _plain_fields(parameters: type) -> tuple[Mapping[str, _Field], frozenset[str]]:
    """The fields by name, without those whose value may hold another one, and the names of the required ones."""
    declared = _fields(parameters)
    holders = {alias.partition(".")[0] for field in declared for alias in field.param.aliases if "." in alias}
    fields = {field.name: field for field in declared if field.name not in holders}
    return fields, frozenset(field.name for field in declared if field.required)


def _defaults(parameters: type) -> Iterator[tuple[str, object]]:
    """The fields in order, each with its default, `_MISSING` if it is required. Raises TypeError for other classes."""
    if is_frozen(parameters):
        for each in fields_of(parameters):
            is_required = each.default is MISSING and each.factory is MISSING
            yield each.name, _MISSING if is_required else None if each.default is MISSING else each.default
        return
    import dataclasses  # tool authors may use dataclasses

    if not dataclasses.is_dataclass(parameters):
        raise TypeError(f"parameters must be a dataclass or a pydantic model, not {parameters!r}")
    for field in dataclasses.fields(parameters):
        has_default = field.default is not dataclasses.MISSING
        is_required = not has_default and field.default_factory is dataclasses.MISSING
        yield field.name, _MISSING if is_required else field.default if has_default else None


def _read_field(parameters: type, name: str, annotation: object, default: object) -> _Field:
    notes = cast("tuple[object, ...]", get_args(annotation)) if get_origin(annotation) is Annotated else ()
    required = default is _MISSING
    if len(notes) == _SIMPLE_NOTES and isinstance(notes[1], Param) and notes[1].is_simple:
        kind, param = notes[0], notes[1]
        if isinstance(kind, types.UnionType):
            kind = next((member for member in get_args(kind) if member is not types.NoneType), None)
        json_type = _JSON_TYPES.get(kind)
        if json_type is not None:
            return _Field(name, json_type, required, cast("JsonValue", None if required else default), param)
    try:
        return _read_hinted_field(parameters, name, annotation, default)
    except TypeError as error:
        raise TypeError(f"{parameters.__name__}.{name}: {error}") from None


_SIMPLE_NOTES = 2


class _HintedField(_Field):
    """A field with any hint that a function may have."""

    hinted: "JsonType"

    def declaration(self) -> JsonObject:
        from tejat.core.tools.hints.json_types import describe_type

        declared = describe_type(self.hinted, self.param.description)
        return declared if self.default is None else {**declared, "default": self.default}

    def check(self, where: str, value: object) -> tuple[object, str | None]:
        from tejat.core.tools.hints.json_types import TypeMismatch

        try:
            return self.hinted.parse(value, where), None
        except TypeMismatch as mismatch:
            return value, str(mismatch)


def _read_hinted_field(parameters: type, name: str, hint: object, default: object) -> _HintedField:
    from tejat.core.tools.hints.annotations import read_annotation
    from tejat.core.tools.hints.docstring import parse_docstring
    from tejat.core.tools.hints.type_hints import declared_default, json_type_of_annotation, refuse_field_default

    annotation = read_annotation(hint)
    refuse_field_default(annotation)
    hinted = json_type_of_annotation(annotation)
    required = default is _MISSING
    default = None if required else declared_default(default)
    declared = hinted.schema().get("type")
    json_type = declared if isinstance(declared, str) else ""
    param = annotation.param
    if not param.description:
        documented = parse_docstring(parameters.__dict__.get("__doc__") or "").parameters
        param = replace(param, description=documented.get(name, ""))
    return _HintedField(name, json_type, required, default, param, hinted)


def _is_model(parameters: type) -> bool:
    """Whether it is a pydantic model. Pydantic itself is never imported."""
    return hasattr(parameters, "__pydantic_core_schema__")


@cache
def _model_type(parameters: type) -> "PydanticType":
    from tejat.core.tools.hints.pydantic_types import pydantic_type

    return pydantic_type(parameters)


def _parse_model(parameters: type, arguments: Mapping[str, object]) -> object:
    """Raises ToolFailure."""
    from tejat.core.tools.hints.json_types import TypeMismatch

    try:
        return _model_type(parameters).parse(dict(arguments), "params")
    except TypeMismatch as mismatch:
        raise ToolFailure(str(mismatch), ErrorType.INVALID_TOOL_PARAMS) from None
