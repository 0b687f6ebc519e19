"""Short tool declarations for small context windows."""

import re
from collections.abc import Mapping, Sequence
from typing import cast

from tejat.core.frozen import replace
from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.types import JsonObject, JsonValue

LEAN_TOOLS = (
    "read_file",
    "search_file_content",
    "replace",
    "write_file",
    "list_directory",
    "run_shell_command",
    "recall",
    "exit_plan_mode",
)
"""The built-in tools that are declared in a small window."""

MAX_LEAN_TOOLS = 8
"""This many built-in tools are all declared: the user has chosen them."""

_MAX_OPTIONAL = 2
_MAX_DESCRIPTION = 160
_MAX_PARAMETER_DESCRIPTION = 80
_SENTENCE_END = r"(?<=[.!?])\s+(?=[A-Z`])"


def shorten_declaration(declaration: FunctionDeclaration) -> FunctionDeclaration:
    """Return a declaration with the first sentences of its texts and without most optional parameters.

    The tool still takes those that are left out.
    """
    description = _first_sentence(declaration.description, _MAX_DESCRIPTION)
    schema = _shorten_schema(declaration.parameters_json_schema)
    return replace(declaration, description=description, parameters_json_schema=schema)


def _shorten_schema(schema: JsonObject) -> JsonObject:
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, Mapping):
        return schema
    needed = set(required) if isinstance(required, Sequence) else set[JsonValue]()
    optional = [key for key in properties if key not in needed][:_MAX_OPTIONAL]
    kept = {key: _shorten_parameter(value) for key, value in properties.items() if key in needed or key in optional}
    return {**schema, "properties": kept}


def _shorten_parameter(declared: JsonValue) -> JsonValue:
    if not isinstance(declared, Mapping):
        return declared
    description = declared.get("description")
    if not isinstance(description, str):
        return declared
    return cast("JsonObject", {**declared, "description": _first_sentence(description, _MAX_PARAMETER_DESCRIPTION)})


def _first_sentence(text: str, max_length: int) -> str:
    """Return as many sentences as fit, and at least the beginning of the first one."""
    sentences = re.split(_SENTENCE_END, text.strip().partition("\n\n")[0])
    kept = sentences[0]
    for sentence in sentences[1:]:
        if len(kept) + 1 + len(sentence) > max_length:
            break
        kept = f"{kept} {sentence}"
    return kept if len(kept) <= max_length else f"{kept[: max_length - 1].rstrip()}…"
