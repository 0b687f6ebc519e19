"""Media types by content: a wrong type makes services reject every request with the media."""

# Offset, signature and type.
_SIGNATURES = (
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF87a", "image/gif"),
    (0, b"GIF89a", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (8, b"WAVE", "audio/wav"),
    (8, b"AIFF", "audio/aiff"),
    (0, b"fLaC", "audio/flac"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"\xff\xfb", "audio/mpeg"),
    (0, b"\xff\xf3", "audio/mpeg"),
    (0, b"\xff\xf2", "audio/mpeg"),
    (0, b"%PDF-", "application/pdf"),
)
_CONTAINERS = (b"RIFF", b"FORM")
_BMP_HEADER_SIZES = frozenset((12, 40, 52, 56, 64, 108, 124))


def detect_media_type(data: bytes) -> str | None:
    """Return the type of media by their first bytes, None if they are something else."""
    for start, signature, mime_type in _SIGNATURES:
        if data.startswith(signature, start) and (start == 0 or data.startswith(_CONTAINERS)):
            return mime_type
    # Two letters alone say nothing.
    is_bmp = data.startswith(b"BM") and int.from_bytes(data[14:18], "little") in _BMP_HEADER_SIZES
    return "image/bmp" if is_bmp else None
