"""From type hints to the shapes of what a model may give."""

import dataclasses
import types
import typing
from collections import abc
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum, EnumType
from functools import partial
from math import isfinite
from typing import Annotated, Any, Literal, NotRequired, Required, Union, cast, get_args, get_origin, is_typeddict

from tejat.core.docstring import read_docstring
from tejat.core.schema import Param
from tejat.core.shapes import (
    Anything,
    Choice,
    Either,
    Items,
    Keyed,
    Member,
    Noted,
    Number,
    Plain,
    Record,
    Row,
    Shape,
    same_json,
)
from tejat.core.types import JsonValue
from tejat.core.value import replace


def resolved_hints(annotations: Mapping[str, object], names: Mapping[str, object]) -> dict[str, object]:
    """The hints themselves where they are written as text. Raises TypeError for a name that cannot be found.

    `names` are those of the module that the hints stand in.
    """
    holder = types.SimpleNamespace(__annotations__=dict(annotations))
    try:
        return typing.get_type_hints(holder, dict(names), include_extras=True)
    except NameError as error:
        raise TypeError(
            f"the type hint {error.name!r} cannot be found; it must be defined or imported at the top of the module, "
            "for type checkers alone is not enough"
        ) from None


def split_note(hint: object) -> tuple[object, Param]:
    """A hint without its `Annotated`, and what that says: a text is a description.

    Raises TypeError for a Param that says what the hint has to say.
    """
    if get_origin(hint) is not Annotated:
        return hint, Param()
    inner, *notes = cast("tuple[object, ...]", get_args(hint))
    param = next((note for note in notes if isinstance(note, Param)), Param())
    if param.json_type is not None:
        raise TypeError("Param(json_type=...) has no meaning here: the type hint says what is taken")
    said = next((note for note in notes if isinstance(note, str)), "")
    return inner, param if param.description else replace(param, description=said)


def shape_of(hint: object, param: Param = Param(), within: tuple[object, ...] = ()) -> Shape:  # noqa: B008 -- a value
    """The shape of what is hinted, within the limits of `param`; its description is left to the caller.

    `within` are the classes that it is part of. Raises TypeError for what a model cannot give.
    """
    shape = _shape(hint, within)
    if param.minimum is None and param.min_items is None and param.min_item_length is None:
        return shape
    limited = _limited(shape, param)
    if limited == shape:
        raise TypeError(f"there is nothing to limit in {_name(hint)}: a minimum is for numbers, the others for lists")
    return limited


def default_told(default: object) -> JsonValue:
    """A default as the model is told of it, None where there is nothing to tell."""
    match default:
        case Enum():
            return default_told(default.value)
        case bool() | int() | str():
            return default
        case float():
            return default if isfinite(default) else None
        case _:
            return None


def _shape(hint: object, within: tuple[object, ...]) -> Shape:
    if get_origin(hint) is Annotated:
        shape, said = _noted_shape(hint, within)
        return Noted(shape, said) if said else shape
    if hint in _PLAIN:
        return _PLAIN[hint]
    if isinstance(hint, typing.NewType):
        return _shape(hint.__supertype__, within)
    if type(hint).__name__ == "TypeAliasType":
        return _shape(cast("Any", hint).__value__, within)
    if get_origin(hint) in (Union, types.UnionType):
        return _either([_shape(member, within) for member in get_args(hint)])
    if get_origin(hint) is Literal:
        return _choice([_literal(member) for member in get_args(hint)], hint)
    if isinstance(hint, type) and not isinstance(hint, types.GenericAlias):
        return _class_shape(hint, within)
    return _generic_shape(hint, within)


def _noted_shape(hint: object, within: tuple[object, ...]) -> tuple[Shape, str]:
    inner, param = split_note(hint)
    if param.aliases or not param.declared or param.asked_for:
        raise TypeError("only a parameter itself can have aliases, be undeclared or asked for")
    return shape_of(inner, param, within), param.description


_PLAIN: Mapping[object, Shape] = {
    str: Plain("string"),
    bool: Plain("boolean"),
    int: Number("integer"),
    float: Number("number"),
    None: Plain("null"),
    types.NoneType: Plain("null"),
    Any: Anything(),
    object: Anything(),
}


def _either(members: Sequence[Shape]) -> Shape:
    flat = [inner for member in members for inner in (member.members if isinstance(member, Either) else (member,))]
    return Either(tuple(flat))


def _literal(member: object) -> tuple[object, object]:
    return (member.value, member) if isinstance(member, Enum) else (member, member)


def _choice(pairs: Sequence[tuple[object, object]], hint: object) -> Shape:
    if not pairs:
        raise TypeError(f"{_name(hint)} has no members to choose from")
    choices: list[tuple[JsonValue, object]] = []
    for written, meant in pairs:
        if not (
            written is None or isinstance(written, str | int) or (isinstance(written, float) and isfinite(written))
        ):
            raise TypeError(
                f"{_name(hint)} has the value {written!r}, and a model can give only texts, numbers and truths"
            )
        if not any(same_json(written, known) for known, _ in choices):
            choices.append((written, meant))
    return Choice(tuple(choices))


def _class_shape(hint: type, within: tuple[object, ...]) -> Shape:
    if hint in within:
        raise TypeError(f"{_name(hint)} contains itself, which cannot be told to every model")
    if isinstance(hint, EnumType):
        return _choice([(member.value, member) for member in cast("type[Enum]", hint)], hint)
    if hint in _COLLECTIONS:
        return _collection(hint, (), within)
    if is_typeddict(hint):
        return Record(tuple(_typed_dict_members(hint, (*within, hint))), dict)
    if not hasattr(hint, "__dataclass_fields__"):
        raise _not_json(hint)
    members = tuple(_dataclass_members(hint, (*within, hint)))
    is_hashable = getattr(hint, "__hash__", None) is not None and all(member.shape.is_hashable for member in members)
    return Record(members, partial(_construct, hint), is_hashable)


def _construct(cls: Callable[..., object], values: dict[str, object]) -> object:
    return cls(**values)


def _dataclass_members(cls: type, within: tuple[object, ...]) -> Iterator[Member]:
    hints = _hints_of_class(cls)
    if any(isinstance(hint, dataclasses.InitVar) for hint in hints.values()):
        raise TypeError(f"{_name(cls)} has an InitVar, which cannot be told to a model")
    for field in dataclasses.fields(cls):
        if field.init:
            is_required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
            default = None if field.default is dataclasses.MISSING else default_told(field.default)
            yield _member(cls, field.name, hints[field.name], within, is_required=is_required, default=default)


def _typed_dict_members(cls: type, within: tuple[object, ...]) -> Iterator[Member]:
    required = cast("frozenset[str]", cls.__dict__["__required_keys__"])
    for name, hint in _hints_of_class(cls).items():
        bare, mark = _unmarked(hint)
        # Python has not counted the marks where hints are written as text.
        yield _member(cls, name, bare, within, is_required=name in required if mark is None else mark is Required)


def _unmarked(hint: object) -> tuple[object, object]:
    """A hint without Required, NotRequired and ReadOnly, and which of the first two it had."""
    origin = get_origin(hint)
    if origin is Annotated:
        inner, *notes = cast("tuple[object, ...]", get_args(hint))
        bare, mark = _unmarked(inner)
        return cast("Any", Annotated)[(bare, *notes)], mark
    if origin not in (Required, NotRequired, getattr(typing, "ReadOnly", Required)):
        return hint, None
    bare, mark = _unmarked(*get_args(hint))
    return bare, origin if origin in (Required, NotRequired) else mark


def _hints_of_class(cls: type) -> dict[str, object]:
    try:
        return typing.get_type_hints(cls, include_extras=True)
    except NameError as error:
        raise TypeError(f"the type hint {error.name!r} in {_name(cls)} cannot be found") from None


def _member(
    cls: type, name: str, hint: object, within: tuple[object, ...], *, is_required: bool, default: JsonValue = None
) -> Member:
    try:
        shape, said = _noted_shape(hint, within)
    except TypeError as error:
        raise TypeError(f"{_name(cls)}.{name}: {error}") from None
    said = said or read_docstring(cls.__dict__.get("__doc__") or "").parameters.get(name, "")
    return Member(name, shape, is_required, default, said)


def _generic_shape(hint: object, within: tuple[object, ...]) -> Shape:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is tuple and Ellipsis not in arguments:
        if not arguments:
            raise TypeError("an empty tuple holds nothing to give")
        return Row(tuple(_shape(member, within) for member in arguments))
    if origin in _COLLECTIONS:
        return _collection(origin, tuple(each for each in arguments if each is not Ellipsis), within)
    raise _not_json(hint)


def _collection(origin: object, arguments: tuple[object, ...], within: tuple[object, ...]) -> Shape:
    build = _COLLECTIONS[origin]
    if build is dict:
        key, item = arguments or (str, Any)
        if key is not str:
            raise TypeError(f"the keys of a dict that a model gives are str, not {_name(key)}")
        return Keyed(_shape(item, within))
    (hint,) = arguments or (Any,)
    item = _shape(hint, within)
    if build in (set, frozenset) and not item.is_hashable:
        raise TypeError(f"{_name(hint)} cannot stand in a set")
    return Items(item, build)


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


def _limited(shape: Shape, param: Param) -> Shape:
    match shape:
        case Either(members):
            return Either(tuple(_limited(member, param) for member in members))
        case Noted(inner, note):
            return Noted(_limited(inner, param), note)
        case Number():
            return shape if param.minimum is None else replace(shape, minimum=param.minimum)
        case Items(Plain("string") as item) if param.min_item_length is not None:
            return replace(shape, item=replace(item, minimum_length=param.min_item_length), minimum=param.min_items)
        case Items():
            return shape if param.min_items is None else replace(shape, minimum=param.min_items)
        case _:
            return shape


def _not_json(hint: object) -> TypeError:
    return TypeError(
        f"{_name(hint)} is nothing that a model can give; take a str, a number or a dataclass of them "
        "and convert it in the function"
    )


def _name(hint: object) -> str:
    return hint.__name__ if isinstance(hint, type) and not get_args(hint) else str(hint)
