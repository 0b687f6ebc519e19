"""JSON in and out at the edges of the process: bounded coming in, always valid UTF-8 going out."""

import json
import re
from math import isinf
from typing import NoReturn

from tejat.core.types import JsonValue

MAX_BYTES = 256 * 2**20


class NotJson(ValueError):
    """The text is not JSON that we take; the message says why."""


def load_json(text: str | bytes, *, most_inner: int | None = None) -> object:
    """The value of a JSON text, which may be told to have no more than so many brackets. Raises NotJson."""
    if len(text) > MAX_BYTES:
        raise NotJson(f"it is longer than {MAX_BYTES // 2**20} MiB")
    if most_inner is not None and len(text) > most_inner and _brackets(text) > most_inner:
        raise NotJson(f"it has more than {most_inner:,} objects and lists in it")
    try:
        return json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)
    except UnicodeDecodeError as error:
        raise NotJson(f"it is not UTF-8: byte {error.start + 1} is wrong") from None
    except json.JSONDecodeError as error:
        raise NotJson(f"{error.msg} at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise NotJson("it is nested too deeply") from None
    except ValueError as error:
        # Python's own words tell programmers which limit to lift.
        is_long = str(error).startswith("Exceeds the limit")
        raise NotJson("a number in it has too many digits" if is_long else str(error)) from None


def _brackets(text: str | bytes) -> int:
    return text.count("{") + text.count("[") if isinstance(text, str) else text.count(b"{") + text.count(b"[")


def dump_json(value: JsonValue, *, indent: int | str | None = None) -> str:
    """One JSON text without half characters: what is not text becomes U+FFFD."""
    separators = (",", ":") if indent is None else None
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators)
    try:
        text.encode()
    except UnicodeEncodeError:
        return re.sub("[\ud800-\udfff]", "\ufffd", text)
    return text


def _finite(text: str) -> float:
    number = float(text)
    if isinf(number):
        raise ValueError(f"{text} is too large a number")
    return number


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")
