"""What is found in JSON that somebody else wrote: what has not the shape it should have counts as absent."""

from collections.abc import Mapping, Sequence
from typing import cast

from tejat.core.json_text import NotJson, load_json
from tejat.core.words import phrase

_NOTHING: Mapping[str, object] = {}
_MOST = 10**12


def read_object(text: str | bytes) -> Mapping[str, object]:
    """The JSON object in the text. Raises NotJson."""
    value = load_json(text)
    if not isinstance(value, dict):
        raise NotJson(phrase("it is not an object"))
    return cast("dict[str, object]", value)


def json_or_text(body: bytes) -> object:
    """What a body says: JSON, or else text."""
    try:
        return load_json(body)
    except NotJson:
        return body.decode("utf-8", "replace")


def object_of(value: object) -> Mapping[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else _NOTHING


def items_of(value: object) -> Sequence[object]:
    return cast("list[object]", value) if isinstance(value, list) else ()


def text_of(value: object) -> str:
    return value if isinstance(value, str) else ""


def count_of(value: object) -> int:
    """A number of things, never negative; one that nobody could have counted to is absent."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MOST:
        return 0
    return int(value)
