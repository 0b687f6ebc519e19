"""The JSON form of values: events, messages, results, questions.

It is what `Value.to_dict` returns, and what front ends in other processes get. Every value names its class, so nothing
has to be guessed when it is read: `{"$": "TextStreamed", "text": "Hi"}`. Enums are their values, which the field of a
class knows how to read. Only the classes of a few modules can be read.
"""

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence, Set
from enum import Enum
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar, cast, get_args, get_origin

from tejat.core.frozen import fields_of, is_frozen
from tejat.core.i18n import LazyString, translate
from tejat.core.messages.types import JsonObject, JsonValue

if TYPE_CHECKING:
    from tejat.core.agent.events import AgentEvent

_CLASS = "$"
_BYTES = "$bytes"
_OBJECT = "$object"
_SET = "$set"
_MARKS = frozenset({_CLASS, _BYTES, _OBJECT, _SET})
_MODULES = (
    *("agent.compaction", "agent.events", "agent.hooks", "agent.prices", "agent.questions"),
    *("agent.subagent_events", "agent.subagents"),
    *("approval.confirmation", "approval.plans", "approval.user_question"),
    *("errors", "messages.history", "messages.types", "model"),
    *("tools.base", "tools.call_events", "tools.display", "tools.todos"),
    *("ui.commands", "ui.prompter", "ui.report", "ui.status", "ui.theme_colours"),
    *("messages.prompt", "undo"),
)
"""The modules of `tejat.core` whose values can be read."""

_T = TypeVar("_T")


class InvalidValue(ValueError):
    """JSON that is no such value. The message says why."""


def value_to_json(value: object) -> JsonValue:
    """Serialize a value. Texts for the user are translated, and what belongs to this process is left out.

    Raises TypeError for contents that are not JSON.
    """
    match value:
        case LazyString():
            return translate(value)
        case Enum():
            return str(value.value)
        case None | bool() | int() | float() | str():
            return value
        case bytes():
            return {_BYTES: base64.b64encode(value).decode("ascii")}
        case Mapping():
            plain = cast("dict[str, JsonValue]", _plain_json(cast("Mapping[str, object]", value)))
            return {_OBJECT: plain} if _MARKS & plain.keys() else plain
        case Set():
            return {_SET: [value_to_json(each) for each in cast("Set[object]", value)]}
        case Sequence():
            return [value_to_json(each) for each in cast("Sequence[object]", value)]
        case _ if is_frozen(type(value)):
            return _frozen_to_json(value)
        case _:
            raise TypeError(f"{type(value).__name__} has no JSON form")


def value_from_json(given: JsonValue, expected: type[_T] | tuple[type[_T], ...]) -> _T:
    """Read a value of this class, or of one of these. Raises InvalidValue."""
    try:
        value = _from_json(given)
    except RecursionError:
        raise InvalidValue("nested too deeply") from None
    if not isinstance(value, expected):
        raise InvalidValue(f"{type(value).__name__} is not expected here")
    return value


def event_from_dict(given: "Mapping[str, Any] | JsonValue") -> "AgentEvent":
    """Read an event of any class, as `to_dict` returned it. Raises InvalidValue."""
    from tejat.core.agent import events

    return cast("AgentEvent", value_from_json(given, get_args(events.AgentEvent)))


def _plain_json(value: object) -> JsonValue:
    """A copy of JSON in dicts and lists. Raises TypeError for anything else."""
    match value:
        case Mapping():
            members = cast("Mapping[object, object]", value)
            return {_plain_key(key): _plain_json(each) for key, each in members.items()}
        case LazyString() | Enum() | None | bool() | int() | float() | str():
            return value_to_json(value)
        case Sequence() if not isinstance(value, bytes | bytearray | memoryview):
            return [_plain_json(each) for each in cast("Sequence[object]", value)]
        case _:
            raise TypeError(f"{type(value).__name__} has no JSON form")


def _plain_key(key: object) -> str:
    if not isinstance(key, str):
        raise TypeError(f"the key {key!r} is not a string, as JSON requires")
    return key


def _frozen_to_json(value: object) -> JsonObject:
    cls = type(value)
    fields = {
        each.name: value_to_json(getattr(value, each.name))
        for each in fields_of(cls)
        if each.init and not each.is_local
    }
    return {_CLASS: cls.__name__, **fields}


def _from_json(given: JsonValue) -> object:
    if isinstance(given, list):
        return tuple(_from_json(each) for each in given)
    if not isinstance(given, Mapping):
        return given
    if _BYTES in given:
        return _bytes_from_json(given[_BYTES])
    if _OBJECT in given:
        return given[_OBJECT]
    if isinstance(members := given.get(_SET), list):
        return frozenset(map(_from_json, members))
    if _CLASS not in given:
        return given
    name = given[_CLASS]
    cls = _classes().get(name) if isinstance(name, str) else None
    if cls is None:
        raise InvalidValue(f"unknown class {name!r}")
    converters = _converters(cls)
    try:
        return cls(
            **{key: converters.get(key, _same)(_from_json(each)) for key, each in given.items() if key != _CLASS}
        )
    except (TypeError, ValueError) as error:
        if isinstance(error, InvalidValue):
            raise
        raise InvalidValue(f"not a {name}: {error}") from None


def _bytes_from_json(given: JsonValue) -> bytes:
    try:
        return base64.b64decode(cast("str", given), validate=True)
    except (TypeError, ValueError, binascii.Error):
        raise InvalidValue("bytes that are not in base64") from None


@cache
def _classes() -> dict[str, type]:
    """The classes that can be read, by name. A name has one meaning in the whole package."""
    return {
        name: cls
        for module in _MODULES
        for name, cls in vars(import_module(f"tejat.core.{module}")).items()
        if isinstance(cls, type) and is_frozen(cls)
    }


_Convert = Callable[[object], object]


@cache
def _converters(cls: type) -> dict[str, _Convert]:
    """What JSON does not tell, by field: the enum of a string, and that an array is a list."""
    names = vars(import_module(cls.__module__))
    found: dict[str, _Convert] = {}
    for each in fields_of(cls):
        hint = names.get(each.annotation) if isinstance(each.annotation, str) else each.annotation
        if (enum := _enum_in(hint)) is not None:
            found[each.name] = _enum_reader(enum)
        elif any(get_origin(member) is Sequence for member in (hint, *get_args(hint))):
            found[each.name] = _as_list
    return found


def _enum_in(hint: object) -> type[Enum] | None:
    """The enum that a hint names, by itself, in a union or as the items of a collection."""
    if isinstance(hint, type) and issubclass(hint, Enum):
        return hint
    return next(filter(None, map(_enum_in, get_args(hint))), None)


def _enum_reader(enum: type[Enum]) -> _Convert:
    def read(value: object) -> object:
        if isinstance(value, tuple | frozenset):
            members = cast("tuple[object, ...] | frozenset[object]", value)
            return type(members)(map(read, members))
        return value if value is None else enum(value)

    return read


def _as_list(value: object) -> object:
    return list(cast("tuple[object, ...]", value)) if isinstance(value, tuple) else value


def _same(value: object) -> object:
    return value
