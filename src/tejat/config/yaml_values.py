"""A safe subset of YAML, read into JSON values."""

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol

from tejat.core.i18n import lazy
from tejat.core.messages.types import JsonValue
from tejat.core.sanitize import sanitize_summary

if TYPE_CHECKING:
    from yaml.events import Event, ScalarEvent

MAX_DEPTH = 16
"""Levels of lists and mappings."""

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
# A number that JSON can hold: no leading zeros, which belong to codes and names.
_INTEGER = r"[-+]?(?:0|[1-9][0-9]{0,17})"
_FLOAT = r"[-+]?(?:[0-9]{1,17}\.[0-9]{0,17}|\.[0-9]{1,17})(?:[eE][-+]?[0-9]{1,2})?"


class YamlError(ValueError):
    """YAML that cannot be read. The message ends with the line."""

    def __init__(self, problem: str, *, line: int) -> None:
        super().__init__(lazy("{why} (line {line})", why=problem, line=line))


class UnsupportedYaml(YamlError):
    """Valid YAML with a feature that is refused: anchors, aliases, tags, merge keys, duplicate keys, deep nesting."""


def parse_yaml(text: str, *, first_line: int = 1) -> JsonValue:
    """Parse one document. `first_line` is the line of the file at which the text begins.

    Only true and false are booleans; yes, no, on, off and dates are texts. Raises YamlError.
    """
    import yaml

    # The C version where there is one.
    loader: Callable[[str], _EventParser] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return _Reader(_parse_events(loader(text)), first_line).read_document()
    except yaml.MarkedYAMLError as error:
        line = first_line + (error.problem_mark.line if error.problem_mark else 0)
        raise YamlError(sanitize_summary(error.problem or error.context or "invalid YAML"), line=line) from None
    except (yaml.YAMLError, UnicodeError):
        raise YamlError(lazy("a character that YAML does not allow"), line=first_line) from None


class _EventParser(Protocol):
    """The part of a loader that is used, which has no types of its own."""

    def get_event(self) -> "Event | None": ...

    def dispose(self) -> None: ...


def _parse_events(parser: _EventParser) -> "Iterator[Event]":
    try:
        while (event := parser.get_event()) is not None:
            yield event
    finally:
        parser.dispose()


class _Reader:
    """Builds values from the events of the parser, so that nothing is constructed that is not wanted."""

    def __init__(self, events: "Iterator[Event]", first_line: int) -> None:
        self._events = events
        self._first_line = first_line

    def read_document(self) -> JsonValue:
        from yaml.events import DocumentEndEvent, DocumentStartEvent, StreamEndEvent, StreamStartEvent

        value: JsonValue = None
        documents = 0
        for event in self._events:
            match event:
                case StreamStartEvent() | StreamEndEvent() | DocumentEndEvent():
                    continue
                case DocumentStartEvent():
                    documents += 1
                    if documents > 1:
                        raise self._refused(event, lazy("a second document is not supported"))
                    if event.tags or event.version:
                        raise self._refused(event, lazy("directives are not supported"))
                case _:
                    value = self._read_value(event, 0)
        return value

    def _read_value(self, event: "Event", depth: int) -> JsonValue:
        from yaml.events import MappingStartEvent, ScalarEvent, SequenceStartEvent

        self._refuse_references(event)
        if isinstance(event, ScalarEvent):
            return _resolve(event)
        if depth == MAX_DEPTH:
            raise self._refused(event, lazy("nested too deeply"))
        if isinstance(event, MappingStartEvent):
            return self._read_mapping(depth + 1)
        if isinstance(event, SequenceStartEvent):
            return self._read_sequence(depth + 1)
        raise self._refused(event, lazy("unexpected content"))

    def _read_sequence(self, depth: int) -> list[JsonValue]:
        from yaml.events import SequenceEndEvent

        items: list[JsonValue] = []
        while not isinstance(event := next(self._events), SequenceEndEvent):
            items.append(self._read_value(event, depth))
        return items

    def _read_mapping(self, depth: int) -> dict[str, JsonValue]:
        from yaml.events import MappingEndEvent, ScalarEvent

        members: dict[str, JsonValue] = {}
        while not isinstance(event := next(self._events), MappingEndEvent):
            self._refuse_references(event)
            if not isinstance(event, ScalarEvent):
                raise self._refused(event, lazy("a key that is not a text is not supported"))
            key: str = event.value
            if key == "<<" and event.implicit[0]:
                raise self._refused(event, lazy("merge keys (<<) are not supported"))
            if key in members:
                raise self._refused(event, lazy("the key '{key}' is defined twice", key=sanitize_summary(key)))
            members[key] = self._read_value(next(self._events), depth)
        return members

    def _refuse_references(self, event: "Event") -> None:
        from yaml.events import AliasEvent, NodeEvent

        if isinstance(event, AliasEvent):
            raise self._refused(event, lazy("aliases (*name) are not supported"))
        if isinstance(event, NodeEvent) and event.anchor is not None:
            raise self._refused(event, lazy("anchors (&name) are not supported"))
        if getattr(event, "tag", None) is not None:
            raise self._refused(event, lazy("tags (!name) are not supported"))

    def _refused(self, event: "Event", problem: str) -> UnsupportedYaml:
        return UnsupportedYaml(problem, line=self._first_line + (event.start_mark.line if event.start_mark else 0))


def _resolve(event: "ScalarEvent") -> JsonValue:
    """The value of a scalar by the core schema of YAML 1.2, in which quoted scalars are texts."""
    text: str = event.value
    if not event.implicit[0]:
        return text
    if text in _NULLS:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if re.fullmatch(_INTEGER, text):
        return int(text)
    return float(text) if re.fullmatch(_FLOAT, text) else text
