"""What media are, whatever a server calls them."""

import pytest

from tejat.mcp.content.media_types import is_text_type, parse_media_type, resolve_media_type

PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)


@pytest.mark.parametrize(
    ("data", "told", "mime_type"),
    [
        (PNG, "image/png", "image/png"),
        (PNG, "image/jpeg", "image/png"),
        (PNG, None, "image/png"),
        (PNG, "text/plain", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/png", "image/jpeg"),
        (b"GIF89a...", 5, "image/gif"),
        (b"RIFF....WEBPVP8 ", "image/jpeg", "image/webp"),
        (b"RIFF....WAVEfmt ", "audio/x-wav", "audio/wav"),
        (b"FORM....AIFF", "audio/x-aiff", "audio/aiff"),
        (b"text is WEBP here", "text/plain", "text/plain"),
        (b"ID3\x03", "audio/mp3", "audio/mpeg"),
        (b"\xff\xfb\x90", "audio/mp3", "audio/mpeg"),
        (b"fLaC", "", "audio/flac"),
        (b"%PDF-1.7", "application/octet-stream", "application/pdf"),
        (b"no picture", "image/png", None),
        (b"", "image/jpeg", None),
        (b"no document", "application/pdf", None),
        (b"....ftypheic", "image/heic", "image/heic"),
        (b"OggS", "audio/ogg", "audio/ogg"),
        (b"xyz", "Image/HEIC; q=1", "image/heic"),
        (b"xyz", None, None),
        (b"xyz", "an image", None),
        (b"xyz", "image/\x1b[31m", None),
    ],
)
def test_the_type_of_media(data: bytes, told: str | int | None, mime_type: str | None) -> None:
    assert resolve_media_type(data, told) == mime_type


@pytest.mark.parametrize(
    ("told", "name"),
    [
        ("text/plain; charset=utf-8", "text/plain"),
        (" A/B ", "a/b"),
        ("a", None),
        ("a/", None),
        ("a/b/c", None),
        ("a/b\nc", None),
        (None, None),
        ({}, None),
        ("a/" + "b" * 80, None),
    ],
)
def test_the_type_that_is_told(told: str | None, name: str | None) -> None:
    assert parse_media_type(told) == name


@pytest.mark.parametrize(
    ("mime_type", "expected"),
    [("text/html", True), ("image/svg+xml", True), ("application/json", True), ("image/png", False), ("a/b", False)],
)
def test_types_of_text(mime_type: str, expected: bool) -> None:
    assert is_text_type(mime_type) == expected
