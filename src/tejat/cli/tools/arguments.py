"""Parser for typed tool arguments: one JSON object, or `key=value` words."""

from collections.abc import Callable, Sequence
from typing import cast

from tejat.core.errors import UsageError
from tejat.core.i18n import _
from tejat.core.json_text import InvalidJson, load_json
from tejat.core.messages.types import Params


def parse_arguments(words: Sequence[str], type_of: Callable[[str], str | None]) -> Params:
    """Parse arguments. `type_of` returns the JSON type of a parameter, None if there is no such parameter.

    Raises UsageError that names the wrong word.
    """
    if len(words) == 1 and words[0].lstrip().startswith(("{", "[", '"')):
        return _parse_object(words[0])
    arguments: dict[str, object] = {}
    lists: dict[str, list[object]] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise UsageError(_("Invalid argument {word!r}. Use one JSON object, or key=value words.", word=word))
        if type_of(key) == "array":
            lists.setdefault(key, []).extend(_parse_array(value))
        else:
            arguments[key] = _parse_value(key, value, type_of(key))
    return arguments | lists


def _parse_object(text: str) -> Params:
    try:
        value = load_json(text)
    except InvalidJson as error:
        raise UsageError(_("The arguments are not valid JSON: {error}", error=error)) from None
    if not isinstance(value, dict):
        raise UsageError(_('The arguments must be one JSON object, for example \'{"path": "README.md"}\''))
    return cast("dict[str, object]", value)


def _parse_array(text: str) -> list[object]:
    """Parse one value, or a JSON array: `key=a key=b` and `key=["a","b"]` mean the same."""
    if text.startswith("["):
        try:
            value = load_json(text)
        except InvalidJson as error:
            raise UsageError(_("{text!r} is not a JSON array: {error}", text=text, error=error)) from None
        if isinstance(value, list):
            return cast("list[object]", value)
    return [text]


def _parse_value(key: str, text: str, json_type: str | None) -> object:
    if json_type in (None, "string"):
        return text
    try:
        return load_json(text)
    except InvalidJson:
        raise UsageError(_("{key} must be {type}, not {text!r}", key=key, type=json_type, text=text)) from None
