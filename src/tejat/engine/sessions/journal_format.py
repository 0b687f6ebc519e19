"""The format of journal records: JSON objects, one per line.

A record has a version (`v`), a kind and the fields of that kind. Readers ignore unknown kinds and fields, so that later
versions can add some; an incompatible change raises the version.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from tejat.core.json_text import load_json
from tejat.core.messages.types import JsonObject
from tejat.core.text.str_enum import StrEnum

if TYPE_CHECKING:
    from tejat.core.messages.json_fields import JsonFields

FORMAT_VERSION = 1
MAX_LINE_BYTES = 128 << 20


class RecordKind(StrEnum):
    """The kind of a record."""

    SESSION = "session"
    OPENING = "opening"
    PROMPT = "prompt"
    ANSWER = "answer"
    RESPONSE = "response"
    WITHDRAWN = "withdrawn"
    COMPRESSED = "compressed"
    REWOUND = "rewound"
    ENDED = "ended"
    RESUMED = "resumed"
    STATE = "state"
    AGENT = "agent"
    CALL = "call"
    RUN = "run"


def encode_record(record: JsonObject) -> bytes:
    """Encode a record with its version and newline. Raises ValueError if it is too long or no valid JSON."""
    versioned = {"v": FORMAT_VERSION, **record}
    try:
        line = _ENCODER.encode(versioned).encode()
    except UnicodeEncodeError:
        # Surrogates, from file names that are not text, survive only if they are escaped.
        line = _ASCII_ENCODER.encode(versioned).encode()
    except (TypeError, RecursionError) as error:
        raise ValueError(f"A record cannot be written as JSON: {error}") from None
    if len(line) >= MAX_LINE_BYTES:
        raise ValueError(f"A record of {len(line) >> 20} MiB is too long")
    return line + b"\n"


def decode_record(line: bytes) -> JsonFields:
    """Decode a line of any version; `v` and `kind` are checked. Raises ValueError."""
    return _checked(load_json(line))


def decode_records(lines: Sequence[bytes]) -> list[JsonFields | None]:
    """Decode many lines as `decode_record` does, None for each damaged one.

    Together they are parsed in a third of the time. A text that is not valid for each line is not valid for all of
    them either: a line that was cut off leaves a bracket or a string open.
    """
    try:
        found = load_json(b"[%s]" % b",".join(lines))
        records = cast("list[object]", found) if isinstance(found, list) else []
        if len(records) == len(lines):
            return [_checked(record) for record in records]
    except ValueError:
        pass
    return [_decode_or_none(line) for line in lines]


def _decode_or_none(line: bytes) -> JsonFields | None:
    try:
        return decode_record(line)
    except ValueError:
        return None


def _checked(value: object) -> JsonFields:
    from tejat.core.messages.json_fields import JsonFields

    record = JsonFields(value)
    if type(record.value("v")) is not int or type(record.value("kind")) is not str:
        raise ValueError("There is a record without a version or a kind.")
    return record


def _to_container(value: object) -> object:
    """Convert other mappings and sequences, which arguments and responses may contain."""
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, object]", value))
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return list(cast("Sequence[object]", value))
    raise TypeError(f"a {type(value).__name__} is no JSON value")


_ENCODER, _ASCII_ENCODER = (
    json.JSONEncoder(ensure_ascii=is_ascii, allow_nan=False, separators=(",", ":"), default=_to_container)
    for is_ascii in (False, True)
)
