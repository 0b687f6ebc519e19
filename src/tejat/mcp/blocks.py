"""The content of the protocol, block by block: what of it goes to a model, and what a person sees.

What a person sees is left as the server wrote it: whoever shows it makes it fit to be seen.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias, cast

from tejat.core.types import InlineData, JsonObject, JsonValue
from tejat.core.value import value
from tejat.mcp.media_types import bytes_of, is_text, media_type, size_of, type_told
from tejat.workspace.media import FileKind, classify

MOST_BLOCKS = 10_000
MOST_MEDIA = 100
MOST_MEDIA_BYTES = 10 * 2**20
"""In one answer. More than that no service takes in a request."""

_ANY_TYPE = "application/octet-stream"
_FOR_MODELS = ("image/", "audio/", "video/", "application/pdf")


@value
class Said:
    """Words of the server."""

    text: str


@value
class Note:
    """Words of ours about what the server gave."""

    text: str


Piece: TypeAlias = Said | Note | InlineData


@value
class Block:
    """One block: `pieces` for a model, `shown` for a person."""

    pieces: tuple[Piece, ...]
    shown: str


class TooLarge(Exception):
    """There is more than can be taken. The message says how much, and fits behind "it holds"."""


def read_blocks(content: Sequence[JsonValue], *, giver: str) -> list[Block]:
    """The blocks in their order; `giver` is who gave them, as a note begins: `Tool 'x'`. Raises TooLarge."""
    if len(content) > MOST_BLOCKS:
        raise TooLarge(f"{len(content)} blocks, and at most {MOST_BLOCKS} are taken")
    sizes = [size for block in content if (size := _media_size(block))]
    if len(sizes) > MOST_MEDIA:
        raise TooLarge(f"{len(sizes)} pictures or recordings, and at most {MOST_MEDIA} are taken")
    if sum(sizes) > MOST_MEDIA_BYTES:
        raise TooLarge(f"{sum(sizes)} bytes of media, and at most {MOST_MEDIA_BYTES} are taken")
    return [_read(block, giver) for block in content]


def _media_size(block: JsonValue) -> int:
    match block:
        case {"type": "image" | "audio", "data": str(data)}:
            return size_of(data)
        case {"type": "resource", "resource": {"blob": str(blob)}}:
            return size_of(blob)
        case _:
            return 0


def _read(block: JsonValue, giver: str) -> Block:
    match block:
        case {"type": "text", "text": str(text)}:
            return Block((Said(text),), text)
        case {"type": "image" | "audio"}:
            return _media(cast("JsonObject", block), giver)
        case {"type": "resource", "resource": resource} if isinstance(resource, Mapping):
            return _resource(cast("JsonObject", resource), giver)
        case {"type": "resource_link", "uri": str(uri)}:
            known = cast("JsonObject", block)
            name = next((each for each in (known.get("title"), known.get("name"), uri) if isinstance(each, str)), uri)
            return Block((Said(f"Resource Link: {name} at {uri}"),), f"[Link to {name}: {uri}]")
        case {"type": str(name)}:
            return Block((), f"[Unknown content type: {name}]")
        case _:
            return Block((), "[Unknown content type: none]")


def _media(block: JsonObject, giver: str) -> Block:
    kind = str(block["type"])
    data = bytes_of(block.get("data"))
    told = type_told(block.get("mimeType"))
    if data is None:
        return _left_out(f"{giver} provided {kind} data that cannot be read: it is not base64", kind, told)
    mime_type = media_type(data, block.get("mimeType"))
    if mime_type is None or not mime_type.startswith(_FOR_MODELS):
        what = (
            f"{giver} provided {kind} data that was left out: its {len(data)} bytes are not {told or 'of a known kind'}"
        )
        return _left_out(what, kind, told)
    if is_text(mime_type):
        return Block((Said(data.decode("utf-8", "replace")),), f"[{kind.capitalize()}: {mime_type}]")
    note = Note(f"[{giver} provided the following {kind} data with mime-type: {mime_type}]")
    return Block((note, InlineData(mime_type, data)), f"[{kind.capitalize()}: {mime_type}]")


def _left_out(what: str, kind: str, told: str | None) -> Block:
    return Block((Note(f"[{what}.]"),), f"[{kind.capitalize()}: {told or 'unknown type'}, not readable]")


def _resource(resource: JsonObject, giver: str) -> Block:
    text, blob = resource.get("text"), resource.get("blob")
    if isinstance(text, str):
        return Block((Said(text),), text)
    told = type_told(resource.get("mimeType"))
    shown = f"[Embedded Resource: {told or 'unknown type'}]"
    data = bytes_of(blob)
    if data is None:
        return Block((Note(f"[{giver} provided an embedded resource that cannot be read.]"),), shown)
    uri = resource.get("uri")
    found = _blob_content(data, mime_type=resource.get("mimeType"), uri=uri if isinstance(uri, str) else "")
    if isinstance(found, str):
        return Block((Said(found),), shown)
    mime_type = told or _ANY_TYPE if found is None else found.mime_type
    note = f"{giver} provided the following embedded resource with mime-type: {mime_type}"
    if found is None:
        return Block((Note(f"[{note}, of {len(data)} bytes, which no model takes: they were left out]"),), shown)
    return Block((Note(f"[{note}]"), found), shown)


def _blob_content(data: bytes, *, mime_type: JsonValue, uri: str) -> InlineData | str | None:
    """What bytes of a resource are to a model: media or text, as they look, are told to be, or are named; else None."""
    known = media_type(data, mime_type)
    if known is not None and not is_text(known) and known.startswith(_FOR_MODELS):
        return InlineData(known, data)
    found = classify(uri.partition("?")[0], data, whole=True)
    if found.kind in (FileKind.AUDIO, FileKind.VIDEO):
        return InlineData(found.mime_type, data)
    return None if found.encoding is None else found.encoding.decode(data)


def without_media(given: JsonValue) -> JsonValue:
    """The same with the number of bytes in the place of media, so that it can be told in words."""
    match given:
        case dict():
            return {
                name: f"({size_of(inner)} bytes)"
                if name in ("data", "blob") and isinstance(inner, str)
                else without_media(inner)
                for name, inner in given.items()
            }
        case list():
            return [without_media(each) for each in given]
        case _:
            return given
