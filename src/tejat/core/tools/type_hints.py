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
from tejat.core.tools.docstring import parse_docstring
from tejat.core.tools.json_types import (
    AnyType,
    ArrayType,
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
from tejat.core.tools.schema import Param


def resolve_hints(annotations: Mapping[str, object], names: Mapping[str, object]) -> dict[str, object]:
    """Resolve hints written as strings. Raises TypeError for an unknown name.

    `names` are those of the module that contains the hints.
    """
    holder = types.SimpleNamespace(__annotations__=dict(annotations))
    try:
        return typing.get_type_hints(holder, dict(names), include_extras=True)
    except NameError as error:
        raise TypeError(
            f"the type hint {error.name!r} cannot be found; it must be defined or imported at the top of the module, "
            "for type checkers alone is not enough"
        ) from None


def split_annotated(hint: object) -> tuple[object, Param]:
    """Split `Annotated` into the hint and its Param; a string is a description.

    Raises TypeError for a Param that repeats what the hint says.
    """
    if get_origin(hint) is not Annotated:
        return hint, Param()
    inner, *notes = cast("tuple[object, ...]", get_args(hint))
    param = next((note for note in notes if isinstance(note, Param)), Param())
    if param.json_type is not None:
        raise TypeError("Param(json_type=...) has no meaning here: the type hint says what is taken")
    description = next((note for note in notes if isinstance(note, str)), "")
    return inner, param if param.description else replace(param, description=description)


def json_type_of_hint(hint: object, param: Param = Param(), within: tuple[object, ...] = ()) -> JsonType:  # noqa: B008 -- a value
    """The JSON type of a hint, with the limits of `param`. Its description is left to the caller.

    `within` are the classes that contain it. Raises TypeError for a type that a model cannot give.
    """
    json_type = _parse_hint(hint, within)
    if param.minimum is None and param.min_items is None and param.min_item_length is None:
        return json_type
    limited = _apply_limits(json_type, param)
    if limited == json_type:
        raise TypeError(f"there is nothing to limit in {_name(hint)}: a minimum is for numbers, the others for lists")
    return limited


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
            return None


def _parse_hint(hint: object, within: tuple[object, ...]) -> JsonType:
    if get_origin(hint) is Annotated:
        json_type, description = _parse_annotated(hint, within)
        return DescribedType(json_type, description) if description else json_type
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


def _parse_annotated(hint: object, within: tuple[object, ...]) -> tuple[JsonType, str]:
    inner, param = split_annotated(hint)
    if param.aliases or not param.declared or param.listed_as_required:
        raise TypeError("only a parameter itself can have aliases, be undeclared or asked for")
    return json_type_of_hint(inner, param, within), param.description


_SCALARS: Mapping[object, JsonType] = {
    str: ScalarType("string"),
    bool: ScalarType("boolean"),
    int: NumberType("integer"),
    float: NumberType("number"),
    None: ScalarType("null"),
    types.NoneType: ScalarType("null"),
    Any: AnyType(),
    object: AnyType(),
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
            raise TypeError(
                f"{_name(hint)} has the value {given!r}, and a model can give only texts, numbers and truths"
            )
        if not any(json_equal(given, known) for known, _ in choices):
            choices.append((given, meant))
    return LiteralType(tuple(choices))


def _parse_class(hint: type, within: tuple[object, ...]) -> JsonType:
    if hint in within:
        raise TypeError(f"{_name(hint)} contains itself, which cannot be told to every model")
    if isinstance(hint, EnumType):
        return _literal_type([(member.value, member) for member in cast("type[Enum]", hint)], hint)
    if hint in _COLLECTIONS:
        return _collection(hint, (), within)
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
    hints = _class_hints(cls)
    if any(isinstance(hint, dataclasses.InitVar) for hint in hints.values()):
        raise TypeError(f"{_name(cls)} has an InitVar, which cannot be told to a model")
    for field in dataclasses.fields(cls):
        if field.init:
            is_required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
            default = None if field.default is dataclasses.MISSING else declared_default(field.default)
            yield _property(cls, field.name, hints[field.name], within, is_required=is_required, default=default)


def _typed_dict_properties(cls: type, within: tuple[object, ...]) -> Iterator[Property]:
    required = cast("frozenset[str]", cls.__dict__["__required_keys__"])
    for name, hint in _class_hints(cls).items():
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


def _class_hints(cls: type) -> dict[str, object]:
    try:
        return typing.get_type_hints(cls, include_extras=True)
    except NameError as error:
        raise TypeError(f"the type hint {error.name!r} in {_name(cls)} cannot be found") from None


def _property(
    cls: type, name: str, hint: object, within: tuple[object, ...], *, is_required: bool, default: JsonValue = None
) -> Property:
    try:
        json_type, description = _parse_annotated(hint, within)
    except TypeError as error:
        raise TypeError(f"{_name(cls)}.{name}: {error}") from None
    description = description or parse_docstring(cls.__dict__.get("__doc__") or "").parameters.get(name, "")
    return Property(name, json_type, is_required, default, description)


def _parse_generic(hint: object, within: tuple[object, ...]) -> JsonType:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is tuple and Ellipsis not in arguments:
        if not arguments:
            raise TypeError("an empty tuple holds nothing to give")
        return TupleType(tuple(_parse_hint(member, within) for member in arguments))
    if origin in _COLLECTIONS:
        return _collection(origin, tuple(each for each in arguments if each is not Ellipsis), within)
    raise _unsupported(hint)


def _collection(origin: object, arguments: tuple[object, ...], within: tuple[object, ...]) -> JsonType:
    build = _COLLECTIONS[origin]
    if build is dict:
        key, item = arguments or (str, Any)
        if key is not str:
            raise TypeError(f"the keys of a dict that a model gives are str, not {_name(key)}")
        return MapType(_parse_hint(item, within))
    (hint,) = arguments or (Any,)
    item = _parse_hint(hint, within)
    if build in (set, frozenset) and not item.is_hashable:
        raise TypeError(f"{_name(hint)} cannot stand in a set")
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


def _apply_limits(json_type: JsonType, param: Param) -> JsonType:
    match json_type:
        case UnionType(members):
            return UnionType(tuple(_apply_limits(member, param) for member in members))
        case DescribedType(inner, note):
            return DescribedType(_apply_limits(inner, param), note)
        case NumberType():
            return json_type if param.minimum is None else replace(json_type, minimum=param.minimum)
        case ArrayType(ScalarType("string") as item) if param.min_item_length is not None:
            return replace(json_type, item=replace(item, minimum_length=param.min_item_length), minimum=param.min_items)
        case ArrayType():
            return json_type if param.min_items is None else replace(json_type, minimum=param.min_items)
        case _:
            return json_type


def _unsupported(hint: object) -> TypeError:
    return TypeError(
        f"{_name(hint)} is nothing that a model can give; take a str, a number or a dataclass of them "
        "and convert it in the function"
    )


def _name(hint: object) -> str:
    return hint.__name__ if isinstance(hint, type) and not get_args(hint) else str(hint)
