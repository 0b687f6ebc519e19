"""Values of JSON objects, checked against the annotations of their classes.

`core.value_json` describes the format. A reader is made once for each annotation. The path to a mistake is put together
while its exception passes the containers around it, so that correct values cost nothing for it.
"""

import base64
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import cache
from importlib import import_module
from types import NoneType, UnionType
from typing import Any, ForwardRef, Literal, NamedTuple, NoReturn, TypeAlias, TypeVar, Union, cast, get_args, get_origin

from tejat.core.frozen import MISSING, Value, fields_of, is_frozen
from tejat.core.messages.types import JsonValue

CLASS_MARK = "$"
BYTES_MARK = "$bytes"
OBJECT_MARK = "$object"
SET_MARK = "$set"
MARKS = frozenset({CLASS_MARK, BYTES_MARK, OBJECT_MARK, SET_MARK})
_MODULES = (
    *("agent.compaction", "agent.events", "agent.hooks", "agent.prices", "agent.questions"),
    *("agent.subagent_events", "agent.subagents"),
    *("approval.confirmation", "approval.plans", "approval.user_question"),
    *("errors", "messages.declaration", "messages.history", "messages.types", "model"),
    *("tools.base", "tools.call_events", "tools.display", "tools.todos"),
    *("ui.commands", "ui.prompter", "ui.report", "ui.status", "ui.theme_colours"),
    *("messages.prompt", "undo"),
)
"""The modules of `tejat.core` whose values can be read."""
_MAX_SHOWN = 40

_T = TypeVar("_T")
_Read: TypeAlias = Callable[[Any], object]


class InvalidValue(ValueError):
    """JSON that is not the expected value. The message has the path to the mistake: `call.args: expected an object`."""


def value_from_json(given: JsonValue, expected: type[_T] | tuple[type[_T], ...]) -> _T:
    """Read a value of this class, or of one of these. Raises InvalidValue."""
    try:
        return cast("_T", _expected_reader(expected)(given))
    except _Mistake as mistake:
        raise InvalidValue(mistake.text) from None
    except RecursionError:
        raise InvalidValue("nested too deeply") from None


@cache
def readable_classes() -> dict[str, type]:
    """The classes that can be read, by name. A name has one meaning in the whole package."""
    return {name: cls for name, cls in readable_names().items() if isinstance(cls, type) and is_frozen(cls)}


@cache
def readable_names() -> dict[str, object]:
    """The names in these modules. A module may import some of those in its annotations for type checkers only."""
    found = (vars(import_module(f"tejat.core.{module}")) for module in _MODULES)
    return {name: meaning for names in found for name, meaning in names.items() if not name.startswith("_")}


def annotation_names(cls: type) -> dict[str, object]:
    """The names that the annotations of a class may use, also those that its module imports for type checkers only."""
    own = vars(import_module(cls.__module__))
    return {**readable_names(), "AgentEvent": Union[event_classes()], **own}  # noqa: UP007 -- computed


@cache
def event_classes() -> tuple[type, ...]:
    """The classes of all events."""
    return get_args(vars(import_module("tejat.core.agent.events"))["AgentEvent"])


class _Mistake(Exception):
    """What is wrong, and the steps to it, the last one first."""

    def __init__(self, message: str, *steps: str | int) -> None:
        self._message = message
        self._steps: list[str | int] = list(steps)

    def within(self, step: str | int) -> "_Mistake":
        self._steps.append(step)
        return self

    @property
    def text(self) -> str:
        path = "".join(map(_format_step, reversed(self._steps))).removeprefix(".")
        return f"{path}: {self._message}" if path else self._message


def _format_step(step: str | int) -> str:
    return f".{step}" if isinstance(step, str) and step.isidentifier() else f"[{_shown(step)}]"


class _Reader(NamedTuple):
    """How one kind of JSON is read. `kinds` are those it accepts, `label` is their name in messages."""

    kinds: frozenset[str]
    label: str
    read: _Read


def _kind(given: object) -> str:
    match given:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int():
            return "an integer"
        case float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "an array"
        case Mapping():
            return "an object"
        case _:
            return f"the Python type {type(given).__name__}"


def _refuse(label: str, given: object) -> NoReturn:
    kind = _kind(given)
    if isinstance(given, Mapping) and isinstance(name := cast("Mapping[str, object]", given).get(CLASS_MARK), str):
        kind = name[:_MAX_SHOWN]
    raise _Mistake(f"expected {label}, got {kind}")


@cache
def _expected_reader(expected: type | tuple[type, ...]) -> _Read:
    if expected == event_classes():
        return _class_reader(event_classes(), "an event").read
    return _make_reader(Union[expected] if isinstance(expected, tuple) else expected).read  # noqa: UP007 -- computed


def _make_reader(hint: Any) -> _Reader:
    """Raises TypeError for an annotation that has no JSON form."""
    if (simple := _SIMPLE.get(hint)) is not None:
        return simple
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return _union_reader(arguments)
    if origin is Literal:
        return _choice_reader({word: word for word in arguments})
    if origin is Mapping:
        return _mapping_reader(arguments[1])
    if origin in (tuple, Sequence, frozenset):
        return _collection_reader(origin, arguments)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _choice_reader({str(member.value): member for member in hint})
    if isinstance(hint, type) and (hint is Value or is_frozen(hint)):
        return _class_reader((hint,), "a value" if hint is Value else hint.__name__)
    raise TypeError(f"{hint!r} has no JSON form")


def _plain_reader(label: str, *kinds: str) -> _Reader:
    accepted = frozenset(kinds or (label,))

    def read(given: object) -> object:
        return given if _kind(given) in accepted else _refuse(label, given)

    return _Reader(accepted, label, read)


def _read_bytes(given: Any) -> bytes:
    text = _require_mark(BYTES_MARK, 'bytes as {"$bytes": "..."}', given)
    try:
        found = base64.b64decode(cast("str", text), validate=True)
    except (TypeError, ValueError):
        raise _Mistake("expected base64", BYTES_MARK) from None
    if base64.b64encode(found).decode("ascii") != text:
        raise _Mistake("expected base64", BYTES_MARK)
    return found


def _require_mark(mark: str, label: str, given: object) -> object:
    """The only member of an object."""
    members: Mapping[str, object] = cast("Any", given) if isinstance(given, Mapping) else {}
    return members[mark] if set(members) == {mark} else _refuse(label, cast("object", given))


_SIMPLE: Mapping[object, _Reader] = {
    str: _plain_reader("a string"),
    bool: _plain_reader("a boolean"),
    int: _plain_reader("an integer"),
    float: _plain_reader("a number", "a number", "an integer"),
    NoneType: _plain_reader("null"),
    bytes: _Reader(frozenset({"an object"}), "bytes", _read_bytes),
}


def _choice_reader(choices: Mapping[str, object]) -> _Reader:
    label = f"one of {', '.join(map(repr, choices))}"

    def read(given: object) -> object:
        if not isinstance(given, str):
            _refuse(label, given)
        if given not in choices:
            raise _Mistake(f"expected {label}, got {_shown(given)}")
        return choices[given]

    return _Reader(frozenset({"a string"}), label, read)


def _union_reader(members: Sequence[Any]) -> _Reader:
    """The reader of the member for the kind of JSON. At most one accepts each kind; classes are told by their names."""
    classes = tuple(each for each in members if isinstance(each, type) and (each is Value or is_frozen(each)))
    readers = [_make_reader(each) for each in members if each not in classes]
    if classes:
        names = "an event" if classes == event_classes() else " or ".join(each.__name__ for each in classes)
        readers.append(_class_reader(classes, names))
    readers.sort(key=lambda each: each.label == "null")
    by_kind: dict[str, _Read] = {}
    for each in readers:
        if not by_kind.keys().isdisjoint(each.kinds - {"an integer"}):
            raise TypeError(f"{members!r} cannot be told apart in JSON")
        by_kind |= dict.fromkeys(each.kinds, each.read)
    label = " or ".join(each.label for each in readers)

    def read(given: object) -> object:
        chosen = by_kind.get(_kind(given))
        return chosen(given) if chosen is not None else _refuse(label, given)

    return _Reader(frozenset(by_kind), label, read)


def _mapping_reader(hint: Any) -> _Reader:
    read_item = _copy_json if _is_any_json(hint) else _read_mapping if get_origin(hint) is Mapping else None
    read_member = _make_reader(hint).read if read_item is None else read_item

    def read(given: object) -> object:
        members = _require_mapping(given)
        if OBJECT_MARK in members and len(members) == 1:
            members = _at(OBJECT_MARK, _require_mapping, members[OBJECT_MARK])
            if not MARKS & members.keys():
                raise _Mistake("expected a key such as `$` in it", OBJECT_MARK)
        elif MARKS & members.keys():
            _refuse("a plain object", given)
        return {_require_key(key): _at(key, read_member, each) for key, each in members.items()}

    return _Reader(frozenset({"an object"}), "an object", read)


def _is_any_json(hint: object) -> bool:
    return hint is object or hint is Any or isinstance(hint, str | ForwardRef)


def _require_mapping(given: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", given) if isinstance(given, Mapping) else _refuse("an object", given)


def _require_key(key: object) -> str:
    if not isinstance(key, str):
        raise _Mistake(f"the key {_shown(key)} is not a string")
    return key


def _read_mapping(given: object) -> dict[str, object]:
    return {_require_key(key): _at(key, _copy_json, each) for key, each in _require_mapping(given).items()}


def _copy_json(given: object) -> object:
    """A copy of any JSON."""
    match _kind(given):
        case "an object":
            return _read_mapping(given)
        case "an array":
            return [_at(place, _copy_json, each) for place, each in enumerate(cast("list[object]", given))]
        case "null" | "a boolean" | "an integer" | "a number" | "a string":
            return given
        case kind:
            raise _Mistake(f"expected JSON, got {kind}")


def _collection_reader(origin: Any, arguments: Sequence[Any]) -> _Reader:
    if origin is tuple and arguments[-1:] != (...,):
        return _fixed_reader([_make_reader(each).read for each in arguments])
    read_item = _make_reader(arguments[0]).read

    def read_items(given: object) -> list[object]:
        if not isinstance(given, list):
            _refuse("an array", given)
        return [_at(place, read_item, each) for place, each in enumerate(cast("list[object]", given))]

    if origin is frozenset:
        return _set_reader(read_items)

    def read(given: object) -> object:
        items = read_items(given)
        return tuple(items) if origin is tuple else items

    return _Reader(frozenset({"an array"}), "an array", read)


def _fixed_reader(items: Sequence[_Read]) -> _Reader:
    label = f"an array of {len(items)} items"

    def read(given: object) -> object:
        if not isinstance(given, list):
            _refuse(label, given)
        found = cast("list[object]", given)
        if len(found) != len(items):
            raise _Mistake(f"expected {label}, got {len(found)}")
        return tuple(_at(place, items[place], each) for place, each in enumerate(found))

    return _Reader(frozenset({"an array"}), label, read)


def _set_reader(read_items: Callable[[object], list[object]]) -> _Reader:
    def read(given: object) -> object:
        items = _at(SET_MARK, read_items, _require_mark(SET_MARK, 'a set as {"$set": [...]}', given))
        if len(found := frozenset(items)) != len(items):
            raise _Mistake("the same item twice", SET_MARK)
        return found

    return _Reader(frozenset({"an object"}), "a set", read)


def _class_reader(classes: tuple[type, ...], label: str) -> _Reader:
    def read(given: object) -> object:
        if not isinstance(given, Mapping) or CLASS_MARK not in given:
            _refuse(f"{label} as an object with `$`" if isinstance(given, Mapping) else label, cast("object", given))
        members = cast("Mapping[str, object]", given)
        name = members[CLASS_MARK]
        cls = readable_classes().get(name) if isinstance(name, str) else None
        if cls is None:
            raise _Mistake(f"unknown class {_shown(name)}")
        return _read_members(cls, members) if issubclass(cls, classes) else _refuse(label, members)

    return _Reader(frozenset({"an object"}), label, read)


class _Fields(NamedTuple):
    """The readers of a class, by field, and the fields that have no default."""

    readers: dict[str, _Read]
    required: tuple[str, ...]


@cache
def _fields(cls: type) -> _Fields:
    """Raises TypeError for a class that has no JSON form."""
    names = annotation_names(cls)
    written = [each for each in fields_of(cls) if each.init and not each.is_local]
    hints = {
        each.name: eval(each.annotation, names) if isinstance(each.annotation, str) else each.annotation
        for each in written
    }
    return _Fields(
        {name: _make_reader(hint).read for name, hint in hints.items()},
        tuple(each.name for each in written if each.default is MISSING and each.factory is MISSING),
    )


def _read_members(cls: type, members: Mapping[str, object]) -> object:
    fields = _fields(cls)
    values: dict[str, object] = {}
    for key, each in members.items():
        if key == CLASS_MARK:
            continue
        read = fields.readers.get(key)
        if read is None:
            raise _Mistake(f"unknown field of {cls.__name__}", key)
        values[key] = _at(key, read, each)
    for name in fields.required:
        if name not in values:
            raise _Mistake(f"missing, and {cls.__name__} needs it", name)
    try:
        return cls(**values)
    except (TypeError, ValueError) as error:
        raise _Mistake(str(error)) from None


def _at(step: str | int, read: Callable[[Any], _T], given: object) -> _T:
    """Read what is at one step below a container."""
    try:
        return read(given)
    except _Mistake as mistake:
        raise mistake.within(step) from None


def _shown(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= _MAX_SHOWN else f"{shown[:_MAX_SHOWN]}..."
