"""Conversion of type hints to JSON types."""

import dataclasses
import types
import typing
from collections import abc
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum, EnumType
from functools import partial
from math import isfinite
from typing import Annotated, Any, Literal, NotRequired, Required, Union, cast, get_args, get_origin, is_typeddict

from tejat.core.frozen import replace
from tejat.core.messages.types import JsonValue
from tejat.core.tools.hints.annotations import NO_DEFAULT, Annotation, is_field, read_annotation
from tejat.core.tools.hints.docstring import parse_docstring
from tejat.core.tools.hints.json_types import (
    AnyType,
    ArrayType,
    CheckedType,
    DescribedType,
    JsonType,
    LiteralType,
    MapType,
    NumberType,
    ObjectType,
    Property,
    ScalarType,
    TupleType,
    UnionType,
    json_equal,
)
from tejat.core.tools.hints.limits import Bounds, Lengths, TimeBounds
from tejat.core.tools.hints.pydantic_types import is_pydantic_type, pydantic_type
from tejat.core.tools.hints.standard_types import (
    STANDARD_TYPES,
    DecimalType,
    FormattedType,
    path_type,
    standard_to_json,
)


def resolve_hints(annotations: Mapping[str, object], names: Mapping[str, object]) -> dict[str, object]:
    """Resolve hints written as strings. Raises TypeError for an unknown name.

    `names` are those of the module that contains the hints.
    """
    holder = types.SimpleNamespace(__annotations__=dict(annotations))
    try:
        return typing.get_type_hints(holder, dict(names), include_extras=True)
    except NameError as error:
        raise TypeError(
            f"the type hint {error.name!r} cannot be found; define or import it at the top of the module, and not "
            "only under TYPE_CHECKING"
        ) from None


def json_type_of_hint(hint: object, within: tuple[object, ...] = ()) -> JsonType:
    """The JSON type of a hint. `within` are the classes that contain it.

    Raises TypeError for a type that a model cannot give.
    """
    annotation = read_annotation(hint)
    if annotation.param.aliases or not annotation.param.declared or annotation.param.listed_as_required:
        raise TypeError("only a parameter itself can have aliases, be undeclared or asked for")
    refuse_field_default(annotation)
    json_type = json_type_of_annotation(annotation, within)
    description = annotation.param.description
    return DescribedType(json_type, description) if description else json_type


def json_type_of_annotation(annotation: Annotation, within: tuple[object, ...] = ()) -> JsonType:
    """The JSON type of an annotated hint, with its limits. Its description is left to the caller.

    Raises TypeError for a type that a model cannot give, and for limits that its type cannot have.
    """
    if annotation.needs_pydantic:
        return pydantic_type(annotation.hint)
    json_type = _parse_hint(annotation.hint, within)
    if annotation.bounds != Bounds():
        is_time = _with_times(TimeBounds(), json_type) is not None
        limits = f"bounds are for numbers{'; limit a date by a date: Ge(date(2026, 1, 1))' if is_time else ''}"
        json_type = _limit(json_type, partial(_with_bounds, annotation.bounds), annotation, limits)
    if annotation.times != TimeBounds():
        limits = "dates and times are bounds of dates and times"
        json_type = _limit(json_type, partial(_with_times, annotation.times), annotation, limits)
    if annotation.lengths != Lengths():
        limits = "a length is for texts, lists and dicts"
        json_type = _limit(json_type, partial(_with_lengths, annotation.lengths), annotation, limits)
    if annotation.pattern is not None:
        json_type = _limit(json_type, partial(_with_pattern, annotation.pattern), annotation, "a pattern is for texts")
    min_item_length = annotation.param.min_item_length
    if min_item_length is not None:
        limits = "min_item_length is for lists of texts"
        json_type = _limit(json_type, partial(_with_item_length, min_item_length), annotation, limits)
    for test in annotation.tests:
        json_type = CheckedType(json_type, test)
    return DescribedType(json_type, "", annotation.keywords) if annotation.keywords else json_type


def refuse_field_default(annotation: Annotation) -> None:
    """Raise TypeError if a `Field` has a default where only parameters of functions can have one."""
    if annotation.default is not NO_DEFAULT or annotation.default_factory is not None:
        raise TypeError("the default of a Field(...) works for parameters of functions only: assign the default")


def declared_default(default: object) -> JsonValue:
    """A default as it is declared to the model, or None."""
    match default:
        case Enum():
            return declared_default(default.value)
        case bool() | int() | str():
            return default
        case float():
            return default if isfinite(default) else None
        case _:
            return standard_to_json(default)


def _parse_hint(hint: object, within: tuple[object, ...]) -> JsonType:
    if get_origin(hint) is Annotated:
        return json_type_of_hint(hint, within)
    if hint in _SCALARS:
        return _SCALARS[hint]
    if isinstance(hint, typing.NewType):
        return _parse_hint(hint.__supertype__, within)
    if type(hint).__name__ == "TypeAliasType":
        return _parse_hint(cast("Any", hint).__value__, within)
    if get_origin(hint) in (Union, types.UnionType):
        return _union([_parse_hint(member, within) for member in get_args(hint)])
    if get_origin(hint) is Literal:
        return _literal_type([_literal_pair(member) for member in get_args(hint)], hint)
    if isinstance(hint, type) and not isinstance(hint, types.GenericAlias):
        return _parse_class(hint, within)
    return _parse_generic(hint, within)


_SCALARS: Mapping[object, JsonType] = {
    str: ScalarType("string"),
    bool: ScalarType("boolean"),
    int: NumberType("integer"),
    float: NumberType("number"),
    None: ScalarType("null"),
    types.NoneType: ScalarType("null"),
    Any: AnyType(),
    object: AnyType(),
    **STANDARD_TYPES,
}


def _union(members: Sequence[JsonType]) -> JsonType:
    flat = [inner for member in members for inner in (member.members if isinstance(member, UnionType) else (member,))]
    return UnionType(tuple(flat))


def _literal_pair(member: object) -> tuple[object, object]:
    return (member.value, member) if isinstance(member, Enum) else (member, member)


def _literal_type(pairs: Sequence[tuple[object, object]], hint: object) -> JsonType:
    if not pairs:
        raise TypeError(f"{_name(hint)} has no members to choose from")
    choices: list[tuple[JsonValue, object]] = []
    for given, meant in pairs:
        if not (given is None or isinstance(given, str | int) or (isinstance(given, float) and isfinite(given))):
            raise TypeError(f"{_name(hint)} has the value {given!r}; supported are only str, int, float, bool and None")
        if not any(json_equal(given, known) for known, _ in choices):
            choices.append((given, meant))
    return LiteralType(tuple(choices))


def _parse_class(hint: type, within: tuple[object, ...]) -> JsonType:
    if hint in within:
        raise TypeError(f"{_name(hint)} contains itself, which cannot be declared to every model")
    if isinstance(hint, EnumType):
        return _literal_type([(member.value, member) for member in cast("type[Enum]", hint)], hint)
    if hint in _COLLECTIONS:
        return _collection(hint, (), within)
    if is_pydantic_type(hint):
        return pydantic_type(hint)
    if path := path_type(hint):
        return path
    if is_typeddict(hint):
        return ObjectType(tuple(_typed_dict_properties(hint, (*within, hint))), dict)
    if not hasattr(hint, "__dataclass_fields__"):
        raise _unsupported(hint)
    members = tuple(_dataclass_properties(hint, (*within, hint)))
    is_hashable = getattr(hint, "__hash__", None) is not None and all(each.json_type.is_hashable for each in members)
    return ObjectType(members, partial(_construct, hint), is_hashable)


def _construct(cls: Callable[..., object], values: dict[str, object]) -> object:
    return cls(**values)


def _dataclass_properties(cls: type, within: tuple[object, ...]) -> Iterator[Property]:
    hints = class_hints(cls)
    if any(isinstance(hint, dataclasses.InitVar) for hint in hints.values()):
        raise TypeError(f"{_name(cls)} has an InitVar, which cannot be declared to a model")
    for field in dataclasses.fields(cls):
        if field.init:
            if is_field(field.default):
                raise TypeError(f"{_name(cls)}.{field.name}: write Field(...) inside of Annotated[...]")
            is_required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
            default = None if field.default is dataclasses.MISSING else declared_default(field.default)
            yield _property(cls, field.name, hints[field.name], within, is_required=is_required, default=default)


def _typed_dict_properties(cls: type, within: tuple[object, ...]) -> Iterator[Property]:
    required = cast("frozenset[str]", cls.__dict__["__required_keys__"])
    for name, hint in class_hints(cls).items():
        bare, mark = _strip_qualifiers(hint)
        # `__required_keys__` ignores qualifiers in hints written as strings.
        yield _property(cls, name, bare, within, is_required=name in required if mark is None else mark is Required)


def _strip_qualifiers(hint: object) -> tuple[object, object]:
    """The hint without Required, NotRequired and ReadOnly, and which of the first two it had."""
    origin = get_origin(hint)
    if origin is Annotated:
        inner, *notes = cast("tuple[object, ...]", get_args(hint))
        bare, mark = _strip_qualifiers(inner)
        return cast("Any", Annotated)[(bare, *notes)], mark
    if origin not in (Required, NotRequired, getattr(typing, "ReadOnly", Required)):
        return hint, None
    bare, mark = _strip_qualifiers(*get_args(hint))
    return bare, origin if origin in (Required, NotRequired) else mark


def class_hints(cls: type) -> dict[str, object]:
    """The resolved hints of a class. Raises TypeError for an unknown name."""
    try:
        return typing.get_type_hints(cls, include_extras=True)
    except NameError as error:
        raise TypeError(f"the type hint {error.name!r} in {_name(cls)} cannot be found") from None


def _property(
    cls: type, name: str, hint: object, within: tuple[object, ...], *, is_required: bool, default: JsonValue = None
) -> Property:
    try:
        json_type = json_type_of_hint(hint, within)
    except TypeError as error:
        raise TypeError(f"{_name(cls)}.{name}: {error}") from None
    documented = parse_docstring(cls.__dict__.get("__doc__") or "").parameters.get(name, "")
    is_described = isinstance(json_type, DescribedType) and json_type.description
    return Property(name, json_type, is_required, default, "" if is_described else documented)


def _parse_generic(hint: object, within: tuple[object, ...]) -> JsonType:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is tuple and Ellipsis not in arguments:
        if not arguments:
            raise TypeError("an empty tuple is not supported")
        return TupleType(tuple(_parse_hint(member, within) for member in arguments))
    if origin in _COLLECTIONS:
        return _collection(origin, tuple(each for each in arguments if each is not Ellipsis), within)
    raise _unsupported(hint)


def _collection(origin: object, arguments: tuple[object, ...], within: tuple[object, ...]) -> JsonType:
    build = _COLLECTIONS[origin]
    if build is dict:
        key, item = arguments or (str, Any)
        if key is not str:
            raise TypeError(f"the keys of a dict must be str, not {_name(key)}")
        return MapType(_parse_hint(item, within))
    (hint,) = arguments or (Any,)
    item = _parse_hint(hint, within)
    if build in (set, frozenset) and not item.is_hashable:
        raise TypeError(f"{_name(hint)} is not hashable and cannot be in a set")
    return ArrayType(item, build)


_COLLECTIONS: Mapping[object, Callable[[Any], object]] = {
    list: list,
    abc.Sequence: list,
    abc.MutableSequence: list,
    abc.Collection: list,
    abc.Iterable: list,
    tuple: tuple,
    set: set,
    abc.Set: set,
    abc.MutableSet: set,
    frozenset: frozenset,
    dict: dict,
    abc.Mapping: dict,
    abc.MutableMapping: dict,
}


def _limit(
    json_type: JsonType, change: Callable[[JsonType], JsonType | None], annotation: Annotation, meant_for: str
) -> JsonType:
    """Change the members of a type that can have a limit. Raises TypeError if there is none."""
    limited = _limit_members(json_type, change)
    if limited is None:
        raise TypeError(f"there is nothing to limit in {_name(annotation.hint)}: {meant_for}")
    return limited


def _limit_members(json_type: JsonType, change: Callable[[JsonType], JsonType | None]) -> JsonType | None:
    match json_type:
        case UnionType(members):
            limited = [_limit_members(member, change) for member in members]
            if not any(limited):
                return None
            return UnionType(tuple(new or old for new, old in zip(limited, members, strict=True)))
        case DescribedType() | CheckedType():
            inner = _limit_members(json_type.inner, change)
            return None if inner is None else replace(json_type, inner=inner)
        case _:
            return change(json_type)


def _with_bounds(bounds: Bounds, json_type: JsonType) -> JsonType | None:
    if isinstance(json_type, NumberType | DecimalType):
        return replace(json_type, bounds=json_type.bounds.merge(bounds))
    return None


def _with_times(bounds: TimeBounds, json_type: JsonType) -> JsonType | None:
    return json_type.limit(bounds) if isinstance(json_type, FormattedType) else None


def _with_lengths(lengths: Lengths, json_type: JsonType) -> JsonType | None:
    if isinstance(json_type, ArrayType | MapType) or (
        isinstance(json_type, ScalarType) and json_type.expected == "string"
    ):
        return replace(json_type, lengths=json_type.lengths.merge(lengths))
    return None


def _with_pattern(pattern: str, json_type: JsonType) -> JsonType | None:
    if isinstance(json_type, ScalarType) and json_type.expected == "string":
        if json_type.pattern not in (None, pattern):
            raise TypeError(f"a text can have one pattern only, not {json_type.pattern!r} and {pattern!r}")
        return replace(json_type, pattern=pattern)
    return None


def _with_item_length(minimum: int, json_type: JsonType) -> JsonType | None:
    if isinstance(json_type, ArrayType):
        item = _limit_members(json_type.item, partial(_with_lengths, Lengths(minimum)))
        return None if item is None else replace(json_type, item=item)
    return None


def _unsupported(hint: object) -> TypeError:
    return TypeError(
        f"{_name(hint)} is not supported as the type of a parameter; use a str, a number or a dataclass of them, "
        "and convert it in the function"
    )


def _name(hint: object) -> str:
    return hint.__name__ if isinstance(hint, type) and not get_args(hint) else str(hint)
