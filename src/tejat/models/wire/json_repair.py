"""Parsing of tool call arguments in slightly broken JSON, where it has only one meaning."""

import re
from collections.abc import Iterator
from typing import cast

from tejat.core.json_text import InvalidJson, load_json

MAX_DEPTH = 100
"""Deeper arguments could be parsed, but perhaps not encoded again."""

_FENCE = "```"
# Not compiled: rarely needed, and compiling would slow down every start.
_STRING = r'"(?:[^"\\]|\\[\s\S])*"'
_STRING_OR_COMMA = rf"{_STRING}|,(?=\s*[}}\]])"
_RAW_CONTROL = r"[\x00-\x1f]"
_TAIL = r"[^{}\[\]\"]{1,200}"


def parse_arguments(text: str) -> dict[str, object] | None:
    """Parse the arguments of a call; None if they are ambiguous. Empty text means no arguments.

    Repaired are raw control characters in strings, trailing commas, a code fence around the text, an object encoded as
    a string, and a short tail after the object.
    """
    stripped = text.strip()
    if not stripped:
        return {}
    for candidate in _candidates(stripped):
        found = _parse_object(candidate)
        if found is not None:
            return found
    return None


def parse_arguments_strict(text: str) -> dict[str, object] | None:
    """Parse the arguments without repairs."""
    return _parse_object(text)


def _candidates(text: str) -> Iterator[str]:
    """Yield texts to parse, the next one only if the last was wrong: a mend of long arguments takes time."""
    yield text
    bare = _strip_fence(text)
    if bare is not text:
        yield bare
    mended = re.sub(_STRING_OR_COMMA, _drop_trailing_comma, re.sub(_STRING, _escape_control_characters, bare))
    yield mended
    yield from _strip_tail(mended)


def _strip_fence(text: str) -> str:
    first, line_end, rest = text.partition("\n")
    if not line_end or not first.startswith(_FENCE) or not rest.endswith(_FENCE):
        return text
    return rest.removesuffix(_FENCE).strip()


def _drop_trailing_comma(found: re.Match[str]) -> str:
    if found.group() != ",":
        return found.group()
    place = found.start() - 1
    while place >= 0 and found.string[place].isspace():
        place -= 1
    # Only a comma that follows a value is dropped.
    return "," if place < 0 or found.string[place] in "{[,:" else ""


def _escape_control_characters(found: re.Match[str]) -> str:
    return re.sub(_RAW_CONTROL, lambda raw: f"\\u{ord(raw.group()):04x}", found.group())


def _strip_tail(text: str) -> list[str]:
    """Cut a short tail after the last closing bracket."""
    end = text.rfind("}") + 1
    return [text[:end]] if 0 < end < len(text) and re.fullmatch(_TAIL, text[end:]) else []


def _parse_object(text: str) -> dict[str, object] | None:
    try:
        value = load_json(text)
        if isinstance(value, str):
            value = load_json(value)
    except InvalidJson:
        return None
    if value is None:
        return {}
    if not isinstance(value, dict):
        return None
    found = cast("dict[str, object]", value)
    return None if _is_too_deep(found, text) else found


def _is_too_deep(value: object, text: str) -> bool:
    if text.count("{") + text.count("[") <= MAX_DEPTH:
        return False
    level: list[object] = [value]
    for _ in range(MAX_DEPTH):
        level = [inner for outer in level for inner in _children(outer)]
    return bool(level)


def _children(value: object) -> list[object]:
    if isinstance(value, dict):
        return list(cast("dict[str, object]", value).values())
    return cast("list[object]", value) if isinstance(value, list) else []
