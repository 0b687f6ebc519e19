"""The JSON form of values: events, messages, results, questions.

It is what `Value.to_dict` returns, and what front ends in other processes get. Every value names its class, so nothing
has to be guessed when it is read: `{"$": "TextStreamed", "text": "Hi"}`. Enums are their values.
`core.messages.value_reader` reads all of it.
"""

import base64
from collections.abc import Mapping, Sequence, Set
from enum import Enum
from typing import TYPE_CHECKING, Any, cast

from tejat.core.frozen import fields_of, is_frozen
from tejat.core.i18n import LazyString, translate
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.core.messages.value_reader import (
    BYTES_MARK,
    CLASS_MARK,
    MARKS,
    OBJECT_MARK,
    SET_MARK,
    event_classes,
    value_from_json,
)

if TYPE_CHECKING:
    from tejat.core.agent.events import AgentEvent


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
            return {BYTES_MARK: base64.b64encode(value).decode("ascii")}
        case Mapping():
            plain = cast("dict[str, JsonValue]", _plain_json(cast("Mapping[str, object]", value)))
            return {OBJECT_MARK: plain} if MARKS & plain.keys() else plain
        case Set():
            return {SET_MARK: sorted(map(value_to_json, cast("Set[object]", value)), key=str)}
        case Sequence():
            return [value_to_json(each) for each in cast("Sequence[object]", value)]
        case _ if is_frozen(type(value)):
            return _frozen_to_json(value)
        case _:
            raise TypeError(f"{type(value).__name__} has no JSON form")


def event_from_dict(given: "Mapping[str, Any] | JsonValue") -> "AgentEvent":
    """Read an event of any class, as `to_dict` returned it. Raises InvalidValue."""
    return cast("AgentEvent", value_from_json(given, event_classes()))


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
    return {CLASS_MARK: cls.__name__, **fields}
