"""Checked parameters of requests of the client."""

import os
from collections.abc import Mapping
from typing import cast

from tejat.core.messages.types import JsonObject, JsonValue
from tejat.mcp.protocol import INVALID_PARAMS
from tejat.ui.jsonrpc.peer import RequestError


def invalid_params(message: str) -> RequestError:
    return RequestError(INVALID_PARAMS, message)


def string_param(params: JsonObject, name: str) -> str:
    """Raises RequestError if it is missing or not a text."""
    value = params.get(name)
    if not isinstance(value, str) or not value:
        raise invalid_params(f"{name} must be a non-empty string.")
    return value


def optional_string(params: JsonObject, name: str) -> str | None:
    """Raises RequestError if it is there and not a text."""
    return None if params.get(name) is None else string_param(params, name)


def directory_param(params: JsonObject, name: str) -> str:
    """An absolute path of a directory. Raises RequestError."""
    return _check_directory(string_param(params, name), name)


def directory_list(params: JsonObject, name: str) -> tuple[str, ...]:
    """Absolute paths of directories, none if the parameter is missing. Raises RequestError."""
    value = params.get(name)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise invalid_params(f"{name} must be a list of strings.")
    return tuple(_check_directory(each, name) for each in cast("list[str]", value))


def meta_of(params: JsonObject) -> Mapping[str, JsonValue]:
    """The extensions in `_meta`."""
    value = params.get("_meta")
    return value if isinstance(value, Mapping) else {}


def _check_directory(path: str, name: str) -> str:
    if not os.path.isabs(path) or "\0" in path:
        raise invalid_params(f"{name} must be an absolute path: {path!r}.")
    if not os.path.isdir(path):
        raise invalid_params(f"{name} is not a directory: {path!r}.")
    return path
