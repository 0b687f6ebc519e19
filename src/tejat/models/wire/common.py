"""What the wires of several services have in common: names and ids that all of them take, and answers in words."""

import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import cast

from tejat.core.json_text import dump_json
from tejat.core.messages.types import FileData, InlineData, JsonObject, JsonValue, Params
from tejat.core.tools.base import FunctionDeclaration

UNNAMED_CALL = "undefined_tool_name"
"""The name of a call that came without one: no tool has it, so the model is told."""

NAME_PATTERN = r"[a-zA-Z0-9_-]{1,64}"
"""The names of functions that every service takes."""

_KEY_PATTERN = r"[a-zA-Z0-9_.-]{1,64}"
_ID_PATTERN = r"[a-zA-Z0-9_-]{1,40}"
_INVALID_CHARACTER = r"[^a-zA-Z0-9_-]"
_DIGEST_LENGTH = 16
_MAX_NAME_PREFIX = 64 - 1 - _DIGEST_LENGTH
_HASHED_NAME = rf".*_[0-9a-f]{{{_DIGEST_LENGTH}}}"


def wire_name(name: str, pattern: str = NAME_PATTERN) -> str:
    """The name of a function as a service takes it: `fitting` ones stay as they are, others have a stand-in.

    No two names become the same: one that looks like a stand-in has one of its own.
    """
    if re.fullmatch(pattern, name) and not re.fullmatch(_HASHED_NAME, name):
        return name
    plain = re.sub(_INVALID_CHARACTER, "_", name)
    begun = plain if re.match("[a-zA-Z_]", plain) else f"_{plain}"
    return f"{begun[:_MAX_NAME_PREFIX]}_{_digest(name)}"


def tool_names_by_wire_name(tools: tuple[FunctionDeclaration, ...], pattern: str = NAME_PATTERN) -> Mapping[str, str]:
    """The tools' own names by those that a model knows them by."""
    return {wire_name(tool.name, pattern): tool.name for tool in tools}


def wire_properties(schema: JsonObject) -> JsonObject:
    """The schema of a function's parameters with names of parameters that every service takes.

    A stand-in is described by what it stands for: of many a name nothing is left in it.
    """
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, Mapping) or all(_wire_key(key) == key for key in properties):
        return schema
    renamed = {
        _wire_key(key): declared if _wire_key(key) == key else _describe_key(key, declared)
        for key, declared in properties.items()
    }
    if not isinstance(required, Sequence) or isinstance(required, str):
        return {**schema, "properties": renamed}
    wanted = [_wire_key(key) if isinstance(key, str) else key for key in required]
    return {**schema, "properties": renamed, "required": wanted}


def _wire_key(key: str) -> str:
    return wire_name(key, _KEY_PATTERN)


def _describe_key(key: str, declared: JsonValue) -> JsonValue:
    if not isinstance(declared, Mapping):
        return declared
    description = declared.get("description")
    return {**declared, "description": f'"{key}": {description}' if isinstance(description, str) else f'"{key}"'}


def wire_arguments(arguments: Params) -> JsonObject:
    """The arguments of a call under the names that `wire_properties` gives them."""
    return cast("JsonObject", {_wire_key(key): value for key, value in arguments.items()})


def restore_arguments(arguments: Params, tool: FunctionDeclaration | None) -> Params:
    """The way back from `wire_arguments`, for a tool that the model was told of. Names that stand for none stay."""
    properties = None if tool is None else tool.parameters_json_schema.get("properties")
    if not isinstance(properties, Mapping):
        return arguments
    own = {_wire_key(key): key for key in properties}
    return {own.get(key, key): value for key, value in arguments.items()}


def object_schema(schema: JsonObject) -> JsonObject:
    """The schema of a function's parameters as every service takes it: an object's, with no choice at its top."""
    if schema.get("type") == "object" and not _COMPOSITION_KEYWORDS & schema.keys():
        return schema
    kept = {key: value for key, value in schema.items() if key not in _COMPOSITION_KEYWORDS}
    return {"properties": {}, **kept, "type": "object"}


_COMPOSITION_KEYWORDS = frozenset({"oneOf", "anyOf", "allOf", "enum", "not"})


def wire_id(call_id: str | None, position: int) -> str:
    """The id of a call as every service takes it; `position` among the calls of its message stands in for none."""
    if call_id is None:
        return f"call_{position}"
    return call_id if re.fullmatch(_ID_PATTERN, call_id) else f"call_{_digest(call_id)}"


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_LENGTH]


def response_text(response: JsonObject) -> str:
    """What a tool answered, as plain as it can be said."""
    match response:
        case {"output": str(text)} if len(response) == 1:
            return text
        case _:
            return dump_json(response)


def media_placeholder(media: InlineData | FileData, reason: str = "this service does not take it") -> str:
    """What stands in the place of media that cannot be sent."""
    if isinstance(media, FileData):
        return f"[{media.mime_type or 'A file'} at {media.file_uri} was left out: {reason}.]"
    return f"[{media.mime_type or 'Media'} of {len(media.data)} bytes was left out: {reason}.]"


def encode_base64(media: InlineData) -> str:
    return b64encode(media.data).decode("ascii")


def data_url(media: InlineData) -> str:
    return f"data:{media.mime_type};base64,{encode_base64(media)}"
