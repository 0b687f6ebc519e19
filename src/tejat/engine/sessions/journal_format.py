"""One line of a session's journal: a record as JSON, to bytes and back.

A record is an object with its version (`v`), its kind and what that kind holds. Readers pass over kinds and fields that
they do not know, so that later versions can add some; what they would get wrong raises the version.
"""

import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import cast

from tejat.core.json_fields import JsonFields
from tejat.core.json_text import load_json
from tejat.core.messages.types import JsonObject

FORMAT_VERSION = 1
MAX_LINE_BYTES = 128 << 20


class RecordKind(StrEnum):
    """What a record tells."""

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


def encode_record(record: JsonObject) -> bytes:
    """The record in its version, with the newline. Raises ValueError for what JSON cannot hold, or not in one line."""
    versioned = {"v": FORMAT_VERSION, **record}
    try:
        line = _dump(versioned, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        # Bytes of file names that are not text come back as they were only if they are escaped.
        line = _dump(versioned, ensure_ascii=True).encode()
    except (TypeError, RecursionError) as error:
        raise ValueError(f"A record cannot be written as JSON: {error}") from None
    if len(line) >= MAX_LINE_BYTES:
        raise ValueError(f"A record of {len(line) >> 20} MiB is too long")
    return line + b"\n"


def decode_record(line: bytes) -> JsonFields:
    """The record in a line, of any version: it has a `v` and a `kind`. Raises ValueError."""
    record = JsonFields(load_json(line))
    record.integer("v")
    record.string("kind")
    return record


def _dump(record: JsonObject, *, ensure_ascii: bool) -> str:
    return json.dumps(
        record, ensure_ascii=ensure_ascii, allow_nan=False, separators=(",", ":"), default=_to_json_container
    )


def _to_json_container(value: object) -> object:
    """Arguments and responses may be any mapping and sequence; JSON knows only its own."""
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, object]", value))
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return list(cast("Sequence[object]", value))
    raise TypeError(f"a {type(value).__name__} is no JSON value")
