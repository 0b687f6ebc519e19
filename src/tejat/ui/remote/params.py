"""Members of messages, checked."""

from typing import TypeVar

from tejat.core.messages.types import JsonObject
from tejat.core.messages.value_reader import InvalidValue, value_from_json
from tejat.mcp.protocol import INVALID_PARAMS
from tejat.ui.jsonrpc.peer import RequestError

_T = TypeVar("_T")


def read_param(params: JsonObject, name: str, expected: type[_T] | tuple[type[_T], ...]) -> _T:
    """Return a value of this class, or of one of these. Raises RequestError."""
    try:
        return value_from_json(params.get(name), expected)
    except InvalidValue as error:
        raise RequestError(INVALID_PARAMS, f"{name} is invalid: {error}.") from error


def read_items(params: JsonObject, name: str, expected: type[_T] | tuple[type[_T], ...]) -> tuple[_T, ...]:
    """Return a tuple of values of this class, or of these. Raises RequestError."""
    items = params.get(name)
    if not isinstance(items, list):
        raise RequestError(INVALID_PARAMS, f"{name} must be an array.")
    return tuple(read_param({name: each}, name, expected) for each in items)
