"""Content blocks, for the model and for display.

Display texts are unsanitized: whoever shows them sanitizes them.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias, cast

from tejat.core.frozen import Frozen
from tejat.core.messages.base64_data import base64_size, decode_base64
from tejat.core.messages.types import InlineData, JsonObject, JsonValue
from tejat.mcp.content.media_types import is_text_type, parse_media_type, resolve_media_type
from tejat.workspace.files.media.file_type import FileKind, classify_file

MAX_BLOCKS = 10_000
MAX_MEDIA = 100
MAX_MEDIA_BYTES = 10 * 2**20
"""Per response. No service accepts more in a request."""

_DEFAULT_TYPE = "application/octet-stream"
_MODEL_MEDIA_TYPES = ("image/", "audio/", "video/", "application/pdf")


class ServerText(Frozen):
    """Text of the server."""

    text: str


class ClientNote(Frozen):
    """Our note about the server's content."""

    text: str


ContentPiece: TypeAlias = ServerText | ClientNote | InlineData


class ContentBlock(Frozen):
    """One block: `pieces` for the model, `display` for the user."""

    pieces: tuple[ContentPiece, ...]
    display: str


class ContentTooLarge(Exception):
    """There is too much content. The message says how much, as a phrase after "it holds"."""


def parse_content(content: Sequence[JsonValue], *, source: str) -> list[ContentBlock]:
    """Parse blocks; `source` names their origin in notes: `Tool 'x'`. Raises ContentTooLarge."""
    if len(content) > MAX_BLOCKS:
        raise ContentTooLarge(f"{len(content)} blocks, and at most {MAX_BLOCKS} are taken")
    sizes = [size for block in content if (size := _media_size(block))]
    if len(sizes) > MAX_MEDIA:
        raise ContentTooLarge(f"{len(sizes)} pictures or recordings, and at most {MAX_MEDIA} are taken")
    if sum(sizes) > MAX_MEDIA_BYTES:
        raise ContentTooLarge(f"{sum(sizes)} bytes of media, and at most {MAX_MEDIA_BYTES} are taken")
    return [_parse_block(block, source) for block in content]


def _media_size(block: JsonValue) -> int:
    match block:
        case {"type": "image" | "audio", "data": str(data)}:
            return base64_size(data)
        case {"type": "resource", "resource": {"blob": str(blob)}}:
            return base64_size(blob)
        case _:
            return 0


def _parse_block(block: JsonValue, source: str) -> ContentBlock:
    match block:
        case {"type": "text", "text": str(text)}:
            return ContentBlock((ServerText(text),), text)
        case {"type": "image" | "audio"}:
            return _parse_media(cast("JsonObject", block), source)
        case {"type": "resource", "resource": resource} if isinstance(resource, Mapping):
            return _parse_resource(cast("JsonObject", resource), source)
        case {"type": "resource_link", "uri": str(uri)}:
            known = cast("JsonObject", block)
            name = next((each for each in (known.get("title"), known.get("name"), uri) if isinstance(each, str)), uri)
            return ContentBlock((ServerText(f"Resource Link: {name} at {uri}"),), f"[Link to {name}: {uri}]")
        case {"type": str(name)}:
            return ContentBlock((), f"[Unknown content type: {name}]")
        case _:
            return ContentBlock((), "[Unknown content type: none]")


def _parse_media(block: JsonObject, source: str) -> ContentBlock:
    kind = str(block["type"])
    data = decode_base64(block.get("data"))
    declared = parse_media_type(block.get("mimeType"))
    if data is None:
        return _omitted_media(f"{source} provided {kind} data that cannot be read: it is not base64", kind, declared)
    mime_type = resolve_media_type(data, block.get("mimeType"))
    if mime_type is None or not mime_type.startswith(_MODEL_MEDIA_TYPES):
        expected = declared or "of a known kind"
        what = f"{source} provided {kind} data that was left out: its {len(data)} bytes are not {expected}"
        return _omitted_media(what, kind, declared)
    if is_text_type(mime_type):
        return ContentBlock((ServerText(data.decode("utf-8", "replace")),), f"[{kind.capitalize()}: {mime_type}]")
    note = ClientNote(f"[{source} provided the following {kind} data with mime-type: {mime_type}]")
    return ContentBlock((note, InlineData(mime_type, data)), f"[{kind.capitalize()}: {mime_type}]")


def _omitted_media(what: str, kind: str, declared: str | None) -> ContentBlock:
    shown = f"[{kind.capitalize()}: {declared or 'unknown type'}, not readable]"
    return ContentBlock((ClientNote(f"[{what}.]"),), shown)


def _parse_resource(resource: JsonObject, source: str) -> ContentBlock:
    text, blob = resource.get("text"), resource.get("blob")
    if isinstance(text, str):
        return ContentBlock((ServerText(text),), text)
    declared = parse_media_type(resource.get("mimeType"))
    shown = f"[Embedded Resource: {declared or 'unknown type'}]"
    data = decode_base64(blob)
    if data is None:
        return ContentBlock((ClientNote(f"[{source} provided an embedded resource that cannot be read.]"),), shown)
    uri = resource.get("uri")
    found = _blob_content(data, mime_type=resource.get("mimeType"), uri=uri if isinstance(uri, str) else "")
    if isinstance(found, str):
        return ContentBlock((ServerText(found),), shown)
    mime_type = declared or _DEFAULT_TYPE if found is None else found.mime_type
    note = f"{source} provided the following embedded resource with mime-type: {mime_type}"
    if found is None:
        note = f"[{note}, of {len(data)} bytes, which no model takes: they were left out]"
        return ContentBlock((ClientNote(note),), shown)
    return ContentBlock((ClientNote(f"[{note}]"), found), shown)


def _blob_content(data: bytes, *, mime_type: JsonValue, uri: str) -> InlineData | str | None:
    """Return bytes of a resource as media or text, by content, declared type or name; else None."""
    known = resolve_media_type(data, mime_type)
    if known is not None and not is_text_type(known) and known.startswith(_MODEL_MEDIA_TYPES):
        return InlineData(known, data)
    found = classify_file(uri.partition("?")[0], data, whole=True)
    if found.kind in (FileKind.AUDIO, FileKind.VIDEO):
        return InlineData(found.mime_type, data)
    return None if found.encoding is None else found.encoding.decode(data)


def strip_media(given: JsonValue) -> JsonValue:
    """Replace media by their size."""
    match given:
        case dict():
            return {
                name: f"({base64_size(inner)} bytes)"
                if name in ("data", "blob") and isinstance(inner, str)
                else strip_media(inner)
                for name, inner in given.items()
            }
        case list():
            return [strip_media(each) for each in given]
        case _:
            return given
