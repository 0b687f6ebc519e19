"""The check of values that a program made: every field has the type of its annotation, all the way down.

Values are not checked when they are made, because most are made by Tejat itself, thousands in a run. They are where a
program hands them in, so that its mistake is named there, and does not surface later as an AttributeError.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import Enum
from functools import cache
from importlib import import_module
from types import NoneType, UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin

from tejat.core.frozen import FrozenField, fields_of, is_frozen

_WORDS: Mapping[object, str] = {
    str: "a string",
    bool: "True or False",
    int: "a whole number",
    float: "a number",
    bytes: "bytes",
    NoneType: "None",
}


def check_value(value: object) -> None:
    """Raises TypeError for the first field with a value that its annotation excludes, here or in a value within."""
    cls = type(value)
    for name, hint in _hints(cls):
        given = getattr(value, name)
        if not _fits(hint, given):
            from tejat.core.agent.settings import describe_value

            raise TypeError(f"{cls.__name__}.{name} must be {_describe(hint)}, not {describe_value(given)}.")


@cache
def _hints(cls: type) -> tuple[tuple[str, Any], ...]:
    """The fields that a caller can set, with their types."""
    return tuple((each.name, _hint(cls, each)) for each in fields_of(cls) if each.init and not each.is_local)


def _hint(cls: type, field: FrozenField) -> Any:
    if not isinstance(field.annotation, str):
        return field.annotation
    try:
        return eval(field.annotation, vars(import_module(cls.__module__)))
    except NameError:  # the module imports the name for type checkers only
        from tejat.core.messages.value_reader import annotation_names

        return eval(field.annotation, annotation_names(cls))


def _fits(hint: Any, given: object) -> bool:
    """Whether a value has a type. Raises TypeError for a value of the right class with a wrong field."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(_fits(each, given) for each in arguments)
    if origin is Literal:
        return given in arguments
    if origin is Mapping:
        return isinstance(given, Mapping) and _is_json(cast("object", given))
    if origin is tuple and arguments[-1:] != (...,):
        return isinstance(given, tuple) and _fit_all(arguments, cast("tuple[object, ...]", given))
    if origin in (tuple, Sequence):
        return isinstance(given, list | tuple) and all(
            _fits(arguments[0], each) for each in cast("Sequence[object]", given)
        )
    if origin is frozenset:
        return isinstance(given, AbstractSet) and all(
            _fits(arguments[0], each) for each in cast("AbstractSet[object]", given)
        )
    return _is_instance(hint, given) if isinstance(hint, type) else True


def _fit_all(hints: Sequence[Any], given: tuple[object, ...]) -> bool:
    return len(given) == len(hints) and all(map(_fits, hints, given))


def _is_instance(cls: type, given: object) -> bool:
    if cls in (int, float):
        return isinstance(given, int | cls) and not isinstance(given, bool) and given == given
    if not isinstance(given, cls):
        return False
    if is_frozen(cls):
        check_value(given)
    return True


def _is_json(given: object) -> bool:
    match given:
        case None | bool() | int() | float() | str():
            return True
        case Mapping():
            members = cast("Mapping[object, object]", given)
            return all(isinstance(key, str) and _is_json(each) for key, each in members.items())
        case list() | tuple():
            return all(map(_is_json, cast("Sequence[object]", given)))
        case _:
            return False


def _describe(hint: Any) -> str:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return " or ".join(map(_describe, arguments))
    if origin is Literal:
        return " or ".join(map(repr, arguments))
    if origin is Mapping:
        return "a JSON object"
    if origin is tuple and arguments[-1:] != (...,):
        return f"a tuple of {len(arguments)}"
    if origin in (tuple, Sequence, frozenset):
        return f"a {'set' if origin is frozenset else 'sequence'} in which each item is {_describe(arguments[0])}"
    if word := _WORDS.get(hint):
        return word
    name = hint.__name__
    kind = f"{name} member" if issubclass(hint, Enum) else name
    # A Usage, a UserQuestion.
    return f"{'an' if name[0] in 'AEIO' else 'a'} {kind}"
