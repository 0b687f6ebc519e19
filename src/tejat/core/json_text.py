"""JSON input with limits, and JSON output that is valid UTF-8."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from math import isinf
from typing import NoReturn

from tejat.core.messages.types import JsonObject, JsonValue

MAX_BYTES = 256 * 2**20


class InvalidJson(ValueError):
    """The text is not acceptable JSON. The message says why."""


def load_json(text: str | bytes, *, max_containers: int | None = None, unique_keys: bool = False) -> object:
    """Parse JSON, optionally with a limit on the number of objects and arrays. Raises InvalidJson.

    With `unique_keys` an object that has a key twice is not acceptable.
    """
    if len(text) > MAX_BYTES:
        raise InvalidJson(f"larger than {MAX_BYTES // 2**20} MiB")
    if max_containers is not None and len(text) > max_containers and _count_containers(text) > max_containers:
        raise InvalidJson(f"it has more than {max_containers:,} objects and lists in it")
    try:
        return _decode_json(text, _STRICT_DECODER if unique_keys else _DECODER)
    except UnicodeDecodeError as error:
        raise InvalidJson(f"not UTF-8: invalid byte {error.start + 1}") from None
    except json.JSONDecodeError as error:
        raise InvalidJson(f"{error.msg} at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise InvalidJson("nested too deeply") from None
    except ValueError as error:
        # Python's message is about raising its limit, which is no help to users.
        is_long = str(error).startswith("Exceeds the limit")
        raise InvalidJson("a number in it has too many digits" if is_long else str(error)) from None


def _decode_json(text: str | bytes, decoder: json.JSONDecoder) -> object:
    """Like `json.loads`, which would build a decoder for each text."""
    if isinstance(text, bytes):
        is_utf8 = text[:1] in b"{[" and text[1:2] != b"\0"
        text = text.decode("utf-8" if is_utf8 else json.detect_encoding(text), "surrogatepass")
    elif text.startswith("\ufeff"):
        raise json.JSONDecodeError("Unexpected UTF-8 BOM (decode using utf-8-sig)", text, 0)
    if text[:1] not in "{[":
        return decoder.decode(text)
    value, end = decoder.raw_decode(text)
    # The rest is white space, or `decode` says what is wrong with it.
    return decoder.decode(text) if text[end:].strip(" \t\n\r") else value


def _count_containers(text: str | bytes) -> int:
    return text.count("{") + text.count("[") if isinstance(text, str) else text.count(b"{") + text.count(b"[")


def dump_json(value: JsonValue, *, indent: int | str | None = None) -> str:
    """Serialize to JSON. Surrogates become U+FFFD.

    Every control character and line separator is escaped, so that a terminal shows the text as it is, and a text
    without `indent` is one line whoever splits it.
    """
    encoder = _ENCODER if indent is None else json.JSONEncoder(ensure_ascii=False, allow_nan=False, indent=indent)
    return _make_safe(encoder.encode(value))


def show_json(value: object) -> str:
    """Write a value as indented JSON for people to read. What is no JSON is written as Python shows it."""
    return _make_safe(json.dumps(value, ensure_ascii=False, indent=2, default=repr, skipkeys=True))


def _make_safe(text: str) -> str:
    if (text.isascii() and "\x7f" not in text) or text.isprintable():
        return text
    return re.sub(_UNSAFE, _escape, text)


# `json.dumps` would build an encoder for each value.
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_UNSAFE = "[\x7f-\x9f\u2028\u2029\ud800-\udfff]"


def _escape(found: re.Match[str]) -> str:
    return "\ufffd" if "\ud800" <= found[0] <= "\udfff" else f"\\u{ord(found[0]):04x}"


def _parse_finite_float(text: str) -> float:
    number = float(text)
    if isinf(number):
        raise ValueError(f"{text} is too large a number")
    return number


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _refuse_repeated_keys(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(key for key, _value in pairs)
        raise ValueError(f"the key {dump_json(counts.most_common(1)[0][0][:80])} occurs twice")
    return found


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_parse_finite_float)
_STRICT_DECODER = json.JSONDecoder(
    parse_constant=_refuse_constant, parse_float=_parse_finite_float, object_pairs_hook=_refuse_repeated_keys
)


def merge_objects(below: JsonObject, above: JsonObject) -> JsonObject:
    """Merge objects deeply; other values of `above` replace those of `below`."""
    merged: dict[str, JsonValue] = dict(below)
    for name, new in above.items():
        old = merged.get(name)
        merged[name] = merge_objects(old, new) if isinstance(old, Mapping) and isinstance(new, Mapping) else new
    return merged
