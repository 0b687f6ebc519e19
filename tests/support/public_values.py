"""Instances of every public value class, for properties that all of them have."""

from collections.abc import Mapping, Sequence
from enum import Enum
from functools import cache
from inspect import isfunction
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

import tejat
from tejat.core.agent import events
from tejat.core.frozen import Value, fields_of, is_frozen
from tejat.core.i18n import lazy
from tejat.core.messages.value_reader import readable_names

NOT_VALUES = {
    "Hook": "holds a function of the program",
    "IgnoreOptions": "describes a workspace in code",
    "Param": "describes a parameter in code",
    "ToolContext": "holds functions of a running call",
    "ToolEntry": "loads its tool in this process",
}
"""Public frozen classes without a JSON form, and why."""

texts = st.text(max_size=12)
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
json_objects = st.dictionaries(texts | st.sampled_from(["$", "$bytes", "$object", "$set"]), json_values, max_size=3)
SIMPLE: dict[Any, st.SearchStrategy[Any]] = {
    str: texts | texts.map(lazy),
    bool: st.booleans(),
    int: st.integers(),
    float: st.floats(allow_nan=False),
    bytes: st.binary(max_size=20),
    NoneType: st.none(),
    Any: json_values,
}

NAMES = {
    **readable_names(),
    "Sequence": Sequence,
    "Mapping": Mapping,
    "AgentEvent": events.TextStreamed,
    "RunEnded": events.RunEnded,
    "JsonValue": Any,
}


def public_classes() -> list[type]:
    """The classes among the public names."""
    found = [getattr(tejat, name) for name in tejat.__all__]
    return [each for each in found if isinstance(each, type)]


def value_classes() -> list[type[Value]]:
    """The public classes with a JSON form, and those of all events."""
    public = [each for each in public_classes() if is_frozen(each) and each.__name__ not in NOT_VALUES]
    return sorted({*public, *get_args(events.AgentEvent)}, key=lambda cls: cls.__name__)


@cache
def instances(cls: type) -> st.SearchStrategy[Any]:
    """Values of a class with any contents that its annotations allow, except what belongs to this process."""
    return st.deferred(lambda: st.builds(cls, **_fields(cls)))


@cache
def errors(cls: type[BaseException]) -> st.SearchStrategy[Any]:
    """Exceptions of a class, with any arguments that its constructor allows."""
    if not isfunction(cls.__init__):
        return st.builds(cls, texts)
    hints = get_type_hints(cls.__init__, localns=NAMES)
    chosen = {name: _of(hint) for name, hint in hints.items() if name != "return"}
    if "character" in chosen:
        chosen["character"] = st.characters()
    return st.builds(cls, **chosen)


def _fields(cls: type) -> dict[str, st.SearchStrategy[Any]]:
    hints = get_type_hints(cls, localns=NAMES)
    return {each.name: _of(hints[each.name]) for each in fields_of(cls) if each.init and not each.is_local}


def _of(hint: Any) -> st.SearchStrategy[Any]:
    if isinstance(hint, type) and is_frozen(hint):
        return instances(hint)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return st.sampled_from(list(hint))
    if isinstance(hint, type) and issubclass(hint, BaseException):
        return errors(hint)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return st.one_of(*map(_of, arguments))
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin is tuple:
        items = arguments[:1] if arguments[-1:] == (...,) else arguments
        if len(items) < len(arguments):
            return st.lists(_of(items[0]), max_size=2).map(tuple)
        return st.tuples(*map(_of, items))
    if origin is Sequence:
        return st.lists(_of(arguments[0]), max_size=2)
    if origin is frozenset:
        return st.frozensets(_of(arguments[0]), max_size=2)
    if origin is Mapping:
        return st.dictionaries(texts, texts, max_size=2) if arguments[1] is str else json_objects
    if hint in SIMPLE:
        return SIMPLE[hint]
    return st.builds(hint, **{name: _of(each) for name, each in get_type_hints(hint, localns=NAMES).items()})


def comparable(value: Any) -> Any:
    """The class and contents of a value. Messages compare by identity, and lazy strings are texts."""
    if is_frozen(type(value)):
        return type(value), [comparable(getattr(value, each.name)) for each in fields_of(type(value))]
    if type(value) is object:
        return object
    if isinstance(value, BaseException):
        return type(value), comparable(value.args), comparable(vars(value))
    if isinstance(value, list | tuple):
        return type(value), [comparable(each) for each in value]
    if isinstance(value, Mapping):
        return {key: comparable(each) for key, each in value.items()}
    return (type(value), value) if isinstance(value, Enum) or not isinstance(value, str) else str.__str__(value)
