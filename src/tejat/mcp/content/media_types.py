"""Media types of content from servers."""

import re

from tejat.core.messages.types import JsonValue
from tejat.workspace.files.media.media_type import detect_media_type

_MEDIA_TYPE = r"[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,63}/[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,63}"

_ALWAYS_SIGNED = frozenset({"image/png", "image/jpeg", "image/jpg", "image/gif", "image/webp", "application/pdf"})


def resolve_media_type(data: bytes, declared: JsonValue) -> str | None:
    """Return the type by content, else the declared one; None if neither is credible."""
    detected = detect_media_type(data)
    if detected is not None:
        return detected
    name = parse_media_type(declared)
    return None if name in _ALWAYS_SIGNED else name


def parse_media_type(declared: JsonValue) -> str | None:
    """Return the declared MIME type without parameters; None if it is invalid."""
    if not isinstance(declared, str):
        return None
    name = declared.partition(";")[0].strip().lower()
    return name if re.fullmatch(_MEDIA_TYPE, name) else None


def is_text_type(mime_type: str) -> bool:
    return mime_type.startswith("text/") or mime_type.endswith(("+xml", "+json", "/json", "/xml", "/yaml", "/toml"))
