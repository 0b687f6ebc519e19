"""What the wires of several services have in common: names and ids that all of them take, and answers in words."""

import re
from base64 import b64encode
from collections.abc import Mapping
from zlib import crc32

from tejat.core.json_text import dump_json
from tejat.core.tool import FunctionDeclaration
from tejat.core.types import FileData, InlineData, JsonObject

UNNAMED_CALL = "undefined_tool_name"
"""The name of a call that came without one: no tool has it, so the model is told."""

_NAME = r"[a-zA-Z0-9_-]{1,64}"
_ID = r"[a-zA-Z0-9_-]{1,40}"
_FOREIGN = r"[^a-zA-Z0-9_-]"


def wire_name(name: str) -> str:
    """The name of a function as every service takes it; one that fits stays as it is."""
    return name if re.fullmatch(_NAME, name) else f"{re.sub(_FOREIGN, '_', name)[:47]}_{_fingerprint(name)}"


def names_by_wire(tools: tuple[FunctionDeclaration, ...]) -> Mapping[str, str]:
    """The tools' own names by those that a model knows them by."""
    return {wire_name(tool.name): tool.name for tool in tools}


def object_schema(schema: JsonObject) -> JsonObject:
    """The schema of a function's parameters as every service takes it: an object's, with no choice at its top."""
    if schema.get("type") == "object" and not _TOP_CHOICES & schema.keys():
        return schema
    kept = {key: value for key, value in schema.items() if key not in _TOP_CHOICES}
    return {"properties": {}, **kept, "type": "object"}


_TOP_CHOICES = frozenset({"oneOf", "anyOf", "allOf", "enum", "not"})


def wire_id(call_id: str | None, position: int) -> str:
    """The id of a call as every service takes it; `position` among the calls of its message stands in for none."""
    if call_id is None:
        return f"call_{position}"
    return call_id if re.fullmatch(_ID, call_id) else f"call_{_fingerprint(call_id)}"


def _fingerprint(text: str) -> str:
    raw = text.encode("utf-8", "surrogatepass")
    return f"{crc32(raw):08x}{crc32(raw[::-1]):08x}"


def response_text(response: JsonObject) -> str:
    """What a tool answered, as plain as it can be said."""
    match response:
        case {"output": str(text)} if len(response) == 1:
            return text
        case _:
            return dump_json(response)


def in_words(media: InlineData | FileData, why: str = "this service does not take it") -> str:
    """What stands in the place of media that cannot be sent."""
    if isinstance(media, FileData):
        return f"[{media.mime_type or 'A file'} at {media.file_uri} was left out: {why}.]"
    return f"[{media.mime_type or 'Media'} of {len(media.data)} bytes was left out: {why}.]"


def in_base64(media: InlineData) -> str:
    return b64encode(media.data).decode("ascii")


def data_url(media: InlineData) -> str:
    return f"data:{media.mime_type};base64,{in_base64(media)}"
