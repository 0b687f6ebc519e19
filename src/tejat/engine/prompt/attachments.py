"""Media and files that a user attaches to a prompt, checked before a service would reject them."""

from tejat.core.i18n import lazy
from tejat.core.messages.base64_data import base64_size, decode_base64
from tejat.core.messages.types import InlineData
from tejat.workspace.files.media.file_type import SUPPORTED_AUDIO, FileKind, classify_file
from tejat.workspace.files.media.image import MAX_SIDE, DamagedImage, read_image_size
from tejat.workspace.files.media.media_type import detect_media_type

MAX_ATTACHED_BYTES = 20 * 2**20
"""Media of one prompt. No service takes more."""

_PICTURES = "PNG, JPEG, GIF, WebP, BMP"
_PDF_SIGNATURE_WITHIN = 1024


class InvalidAttachment(ValueError):
    """Data that no model takes. The message says why, in a sentence."""


def attach_image(base64: str) -> InlineData:
    """A picture, of the type that its content has. Raises InvalidAttachment."""
    return _check_image(_decode(base64))


def attach_audio(base64: str, declared_type: str) -> InlineData:
    """A recording, of the type that its content has if that can be told. Raises InvalidAttachment."""
    data = _decode(base64)
    return _check_audio(data, detect_media_type(data) or declared_type)


def attach_file(name: str, base64: str) -> InlineData | str:
    """A file as media or as its text, by its content and its name. Raises InvalidAttachment."""
    data = _decode(base64)
    found = classify_file(name, data, whole=True)
    match found.kind:
        case FileKind.IMAGE:
            return _check_image(data)
        case FileKind.AUDIO:
            return _check_audio(data, found.mime_type)
        case FileKind.PDF if b"%PDF-" not in data[:_PDF_SIGNATURE_WITHIN]:
            raise InvalidAttachment(lazy("It is not a valid PDF document."))
        case FileKind.PDF | FileKind.VIDEO:
            return InlineData(found.mime_type, data)
        case _:
            if found.encoding is None:
                raise InvalidAttachment(lazy("It is binary data, which models do not take."))
            return found.encoding.decode(data)


def _decode(base64: str) -> bytes:
    if base64_size(base64) > MAX_ATTACHED_BYTES:  # before it is decoded
        limit = MAX_ATTACHED_BYTES // 2**20
        raise InvalidAttachment(lazy("It is too large: at most {limit} MB are accepted.", limit=limit))
    data = decode_base64(base64)
    if data is None:
        raise InvalidAttachment(lazy("Its data is not valid base64."))
    if not data:
        raise InvalidAttachment(lazy("It is empty."))
    return data


def _check_image(data: bytes) -> InlineData:
    mime_type = detect_media_type(data) or ""
    if not mime_type.startswith("image/"):
        raise InvalidAttachment(lazy("It is not a picture in a supported format: {formats}.", formats=_PICTURES))
    try:
        size = read_image_size(data, mime_type)
    except DamagedImage:
        size = None
    if size is None:
        raise InvalidAttachment(lazy("The picture is damaged or incomplete."))
    if max(size.width, size.height) > MAX_SIDE:
        message = lazy(
            "The picture has {size} pixels; services accept at most {limit} per side.", size=size, limit=MAX_SIDE
        )
        raise InvalidAttachment(message)
    return InlineData(mime_type, data)


def _check_audio(data: bytes, mime_type: str) -> InlineData:
    if mime_type not in SUPPORTED_AUDIO.values():
        formats = ", ".join(SUPPORTED_AUDIO)
        raise InvalidAttachment(lazy("It is not a recording in a supported format: {formats}.", formats=formats))
    return InlineData(mime_type, data)
