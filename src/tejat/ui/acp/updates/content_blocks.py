"""Content blocks of the protocol, and texts within their limits."""

import base64
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from tejat.core.i18n import ngettext
from tejat.core.json_text import dump_json
from tejat.core.messages.types import InlineData, JsonObject, JsonValue, Params, PartListUnion
from tejat.core.sanitize import sanitize_text
from tejat.core.text.code_fence import fence_code

MAX_TEXT_CHARS = 32 * 1024
"""Longest text of a tool call."""
MAX_RAW_CHARS = 256 * 1024
"""Longest input or output of a tool call that is sent whole."""

_MAX_RAW_EXCERPT = 4 * 1024


def text_block(text: str) -> JsonObject:
    return {"type": "text", "text": text}


def text_content(text: str) -> JsonObject:
    """A text as content of a tool call."""
    return {"type": "content", "content": text_block(text)}


def code_content(text: str, language: str = "") -> JsonObject:
    """A text that is not Markdown as content of a tool call."""
    return text_content(fence_code(sanitize_text(text.strip("\n")), language))


def diff_content(path: str, old_text: str | None, new_text: str) -> JsonObject:
    """A change of a file with both contents; `old_text` is None for a new file."""
    return {"type": "diff", "path": path, "oldText": old_text, "newText": new_text}


def change_content(
    path: str, diff: str, old_text: str | None, new_text: str | None, *, limit: int = MAX_TEXT_CHARS
) -> JsonObject:
    """A change of a file. One whose contents are too large to be known is shown as the text of its diff."""
    if new_text is not None:
        return diff_content(path, old_text, new_text)
    return code_content(keep_head(diff, limit), "diff")


def media_blocks(content: PartListUnion) -> Iterator[JsonObject]:
    """The pictures and sounds in a result."""
    parts = content if isinstance(content, Sequence) and not isinstance(content, str) else (content,)
    for part in parts:
        if isinstance(part, InlineData) and (block := media_block(part)):
            yield block


def media_block(part: InlineData) -> JsonObject | None:
    """A picture or a sound, None for other media: the protocol has no block for them."""
    kind = part.mime_type.partition("/")[0]
    if kind not in ("image", "audio"):
        return None
    return {"type": kind, "mimeType": part.mime_type, "data": base64.b64encode(part.data).decode("ascii")}


def keep_head(text: str, limit: int = MAX_TEXT_CHARS) -> str:
    """The beginning of a text within a limit, and how much is missing."""
    left_out = len(text) - limit
    return text if left_out <= 0 else f"{text[:limit]}\n{_missing_label(left_out)}"


def keep_tail(text: str, limit: int = MAX_TEXT_CHARS) -> str:
    """The end of a text within a limit, and how much is missing."""
    left_out = len(text) - limit
    return text if left_out <= 0 else f"{_missing_label(left_out)}\n{text[-limit:]}"


def raw_value(value: Params) -> JsonValue:
    """Arguments or a result as JSON. Long texts in it are cut, and say so."""
    known = cast("JsonObject", value)
    try:
        text = dump_json(known)
    except (TypeError, ValueError, RecursionError):  # a tool of others may return anything
        return keep_head(str(value), _MAX_RAW_EXCERPT)
    if len(text) <= MAX_RAW_CHARS:
        return known
    cut = _cut_texts(known)
    return cut if len(dump_json(cut)) <= MAX_RAW_CHARS else keep_head(text, _MAX_RAW_EXCERPT)


def _cut_texts(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return keep_head(value, _MAX_RAW_EXCERPT)
    if isinstance(value, Mapping):
        return {name: _cut_texts(member) for name, member in value.items()}
    return list(map(_cut_texts, value)) if isinstance(value, Sequence) else value


def _missing_label(count: int) -> str:
    return ngettext("[{count} character is not shown]", "[{count} characters are not shown]", count)
