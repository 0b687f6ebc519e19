"""Data in base64, as messages of others have it."""

from base64 import b64decode
from binascii import Error as NotBase64

from tejat.core.messages.types import JsonValue


def decode_base64(base64: JsonValue) -> bytes | None:
    """Decode base64, also with line breaks or as a `data:` URL; None if it is invalid."""
    if not isinstance(base64, str):
        return None
    plain = base64.partition(",")[2] if base64.startswith("data:") else base64
    try:
        return b64decode("".join(plain.split()), validate=True)
    except (NotBase64, ValueError):
        return None


def base64_size(base64: JsonValue) -> int:
    """Return the decoded size without decoding."""
    return len(base64) * 3 // 4 - base64[-2:].count("=") if isinstance(base64, str) else 0
