"""Encodings that several services share: names, ids, schemas and media."""

import base64
import re
from collections.abc import Mapping, Sequence
from typing import cast

from tejat.core.json_text import dump_json
from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.types import FileData, InlineData, JsonObject, JsonValue, Params
from tejat.core.text.digest import sha256

UNNAMED_CALL = "undefined_tool_name"
"""The name of a call that came without one. No tool has it, so the model gets an error."""

NAME_PATTERN = r"[a-zA-Z0-9_-]{1,64}"
"""Function names that every service accepts."""

_KEY_PATTERN = r"[a-zA-Z0-9_.-]{1,64}"
_ID_PATTERN = r"[a-zA-Z0-9_-]{1,40}"
_INVALID_CHARACTER = r"[^a-zA-Z0-9_-]"
_DIGEST_LENGTH = 16
_MAX_NAME_PREFIX = 64 - 1 - _DIGEST_LENGTH
_HASHED_NAME = rf".*_[0-9a-f]{{{_DIGEST_LENGTH}}}"


def wire_name(name: str, pattern: str = NAME_PATTERN) -> str:
    """Return a function name that the service accepts: unchanged if it matches `pattern`, else with a hash.

    Different names stay different: a name that looks hashed is hashed, too.
    """
    if re.fullmatch(pattern, name) and not re.fullmatch(_HASHED_NAME, name):
        return name
    plain = re.sub(_INVALID_CHARACTER, "_", name)
    begun = plain if re.match("[a-zA-Z_]", plain) else f"_{plain}"
    return f"{begun[:_MAX_NAME_PREFIX]}_{_digest(name)}"


def tool_names_by_wire_name(tools: tuple[FunctionDeclaration, ...], pattern: str = NAME_PATTERN) -> Mapping[str, str]:
    """Map the wire names of tools to their names."""
    return {wire_name(tool.name, pattern): tool.name for tool in tools}


def wire_properties(schema: JsonObject) -> JsonObject:
    """Return a parameter schema with property names that every service accepts.

    The description of a renamed property starts with its original name.
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
    required_keys = [_wire_key(key) if isinstance(key, str) else key for key in required]
    return {**schema, "properties": renamed, "required": required_keys}


def _wire_key(key: str) -> str:
    return wire_name(key, _KEY_PATTERN)


def _describe_key(key: str, declared: JsonValue) -> JsonValue:
    if not isinstance(declared, Mapping):
        return declared
    description = declared.get("description")
    return {**declared, "description": f'"{key}": {description}' if isinstance(description, str) else f'"{key}"'}


def wire_arguments(arguments: Params) -> JsonObject:
    """Rename the arguments of a call as `wire_properties` does."""
    return cast("JsonObject", {_wire_key(key): value for key, value in arguments.items()})


def restore_arguments(arguments: Params, tool: FunctionDeclaration | None) -> Params:
    """Undo `wire_arguments` for a declared tool. Unknown names stay."""
    properties = None if tool is None else tool.parameters_json_schema.get("properties")
    if not isinstance(properties, Mapping):
        return arguments
    own = {_wire_key(key): key for key in properties}
    return {own.get(key, key): value for key, value in arguments.items()}


def object_schema(schema: JsonObject) -> JsonObject:
    """Return a parameter schema as every service accepts it: an object, without alternatives at the top level."""
    if schema.get("type") == "object" and not _COMPOSITION_KEYWORDS & schema.keys():
        return schema
    kept = {key: value for key, value in schema.items() if key not in _COMPOSITION_KEYWORDS}
    return {"properties": {}, **kept, "type": "object"}


_COMPOSITION_KEYWORDS = frozenset({"oneOf", "anyOf", "allOf", "enum", "not"})


def json_prompt(system: str, schema: JsonObject) -> str:
    """Return a system prompt that demands a JSON response, for servers without another way to request it."""
    instruction = f"Answer with JSON and nothing else. It must fit this JSON schema:\n{dump_json(schema)}"
    return f"{system}\n\n{instruction}" if system else instruction


def wire_id(call_id: str | None, position: int, *, keep: bool = False) -> str:
    """Return a call id that every service accepts; without one, it is made from the position in the message.

    With `keep` it is the service's own id, which is returned as it is.
    """
    if call_id is None:
        return f"call_{position}"
    return call_id if keep or re.fullmatch(_ID_PATTERN, call_id) else f"call_{_digest(call_id)}"


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_LENGTH]


def response_text(response: JsonObject) -> str:
    """Return a tool response as text, JSON only where needed."""
    match response:
        case {"output": str(text)} if len(response) == 1:
            return text
        case _:
            return dump_json(response)


def media_placeholder(media: InlineData | FileData, reason: str = "this service does not take it") -> str:
    """Return the text that replaces media which cannot be sent."""
    if isinstance(media, FileData):
        return f"[{media.mime_type or 'A file'} at {media.file_uri} was left out: {reason}.]"
    advice = " `read_file` with `offset` and `limit` gives its text." if media.mime_type == "application/pdf" else ""
    return f"[{media.mime_type or 'Media'} of {len(media.data)} bytes was left out: {reason}.{advice}]"


def image_problem(media: InlineData) -> str | None:
    """Return why services would reject a picture, None for a usable one and for other media.

    Pictures of files were checked when they were read; those of MCP servers and of the web were not. A service rejects
    every later request of a conversation that holds such a picture.
    """
    if not media.mime_type.startswith("image/"):
        return None
    # Imported late: few conversations have pictures.
    from tejat.workspace.files.media.image import MAX_SIDE, DamagedImage, read_image_size

    try:
        size = read_image_size(media.data, media.mime_type)
    except DamagedImage:
        return "it is damaged"
    if size is None or max(size.width, size.height) <= MAX_SIDE:
        return None
    return f"it has more than {MAX_SIDE} pixels on a side"


def encode_base64(media: InlineData) -> str:
    return base64.b64encode(media.data).decode("ascii")


def data_url(media: InlineData) -> str:
    return f"data:{media.mime_type};base64,{encode_base64(media)}"
