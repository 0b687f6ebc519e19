"""Messages between a copy and its client. Results from a copy are not trusted: they are checked field by field."""

import json
from collections.abc import Mapping

from tejat.core.errors import ErrorType
from tejat.core.messages.json_fields import JsonFields
from tejat.core.messages.message_json import message_part_from_json
from tejat.core.messages.types import FileData, InlineData, JsonObject, JsonValue, Part, PartListUnion, Text
from tejat.core.tools.base import ToolError, ToolResult
from tejat.core.tools.display import DiffStat, Display, FileDiff

MAX_LINE_BYTES = 256 << 20


def encode_line(message: Mapping[str, object]) -> bytes:
    """One message as a line. Escapes keep lone surrogates, which stand for undecodable bytes in names."""
    return json.dumps(message, ensure_ascii=True, separators=(",", ":")).encode("ascii") + b"\n"


def result_to_json(result: ToolResult) -> JsonObject:
    """The result as JSON, with the exit code of a command."""
    return {**result.to_json(), "exitCode": result.exit_code}


def result_from_json(value: object) -> ToolResult:
    """Raises ValueError."""
    fields = JsonFields(value)
    error = fields.nested("error") if fields.value("error") is not None else None
    return ToolResult(
        _content_from_json(fields.value("llmContent")),
        _display_from_json(fields.value("returnDisplay")),
        None if error is None else ToolError(error.string("message"), ErrorType(error.string("type"))),
        fields.integer_or_none("exitCode"),
    )


def _content_from_json(value: JsonValue) -> PartListUnion:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return [item if isinstance(item, str) else _part_from_json(item) for item in value]
    return _part_from_json(value)


def _part_from_json(value: JsonValue) -> Part:
    part = message_part_from_json(value)
    if not isinstance(part, Text | InlineData | FileData):
        raise ValueError("A result has a part that no tool returns.")
    return part


def _display_from_json(value: JsonValue) -> Display:
    if isinstance(value, str):
        return value
    fields = JsonFields(value)
    stat = fields.nested("diffStat") if fields.has("diffStat") else None
    return FileDiff(
        fields.string("fileName"),
        fields.string("filePath"),
        fields.string("fileDiff"),
        fields.boolean("isNewFile"),
        fields.string_or_none("originalContent"),
        fields.string_or_none("newContent"),
        None if stat is None else DiffStat(**{name: stat.integer(name) for name in DiffStat(0, 0, 0, 0).to_json()}),
    )
