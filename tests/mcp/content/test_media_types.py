"""What media are, whatever a server calls them."""

from base64 import b64encode, encodebytes

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tejat.mcp.content.media_types import base64_size, decode_base64, is_text_type, parse_media_type, resolve_media_type

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


class TestBase64:
    @given(st.binary(max_size=200))
    def test_every_spelling(self, data: bytes) -> None:
        plain = b64encode(data).decode()
        wrapped = encodebytes(data).decode()
        assert [decode_base64(text) for text in (plain, wrapped, f"data:image/png;base64,{plain}")] == [data] * 3
        assert base64_size(plain) == len(data)

    @pytest.mark.parametrize("text", ["abc", "a*bc", "ab=c", "ü", "\ud800", None, 5, ["YQ=="], "a-_b"])
    def test_what_is_none(self, text: str | None) -> None:
        assert decode_base64(text) is None

    def test_the_size_of_what_is_no_text(self) -> None:
        assert base64_size(None) == 0
