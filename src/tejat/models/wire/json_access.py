"""Tolerant access to JSON values: a value of another type counts as absent."""

from collections.abc import Mapping, Sequence
from typing import cast

from tejat.core.i18n import lazy
from tejat.core.json_text import InvalidJson, load_json

_EMPTY: Mapping[str, object] = {}
_MAX_COUNT = 10**12
_MAX_WRAPPINGS = 5


def parse_object(text: str | bytes) -> Mapping[str, object]:
    """Parse a JSON object. Raises InvalidJson."""
    value = load_json(text)
    if not isinstance(value, dict):
        raise InvalidJson(lazy("not an object"))
    return cast("dict[str, object]", value)


def parse_json_or_text(body: bytes) -> object:
    """Parse a body as JSON, or else decode it as text."""
    try:
        return load_json(body)
    except InvalidJson:
        return body.decode("utf-8", "replace")


def unwrap_error(error: Mapping[str, object]) -> Mapping[str, object]:
    """Return the error inside an error whose message is or ends with a JSON error again, as gateways send it.

    Fields that the inner one lacks are those of the outer one.
    """
    for _ in range(_MAX_WRAPPINGS):
        text = as_str(error.get("message")).strip()
        json_text = text if text.startswith("[") else text[max(text.find("{"), 0) :]
        inner = parse_json_or_text(json_text.encode("utf-8", "replace")) if json_text.endswith(("}", "]")) else None
        fields = as_object(next(iter(as_list(inner)), inner))
        fields = as_object(fields.get("error")) or fields
        if not as_str(fields.get("message")):
            break
        error = {**error, **fields}
    return error


def as_object(value: object) -> Mapping[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else _EMPTY


def as_list(value: object) -> Sequence[object]:
    return cast("list[object]", value) if isinstance(value, list) else ()


def as_str(value: object) -> str:
    return value if isinstance(value, str) else ""


def as_count(value: object) -> int:
    """Return a count; negative, implausible and other values are 0."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MAX_COUNT:
        return 0
    return int(value)
