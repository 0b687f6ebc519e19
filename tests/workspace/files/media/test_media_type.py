"""Media are known by their first bytes."""

import pytest

from support.media_files import pdf
from tejat.workspace.files.media.media_type import detect_media_type


@pytest.mark.parametrize(
    ("data", "mime_type"),
    [
        (pdf("Hi"), "application/pdf"),
        (b"RIFF\x00\x00\x00\x00WAVEfmt ", "audio/wav"),
        (b"FORM\x00\x00\x00\x00AIFF", "audio/aiff"),
        (b"fLaC\x00", "audio/flac"),
        (b"ID3\x04", "audio/mpeg"),
        (b"", None),
        (b"BM", None),
        (b"BM is no picture, whatever follows", None),
        (b"XXXX\x00\x00\x00\x00WEBP", None),
        (b"plain text", None),
    ],
)
def test_detection(data: bytes, mime_type: str | None) -> None:
    assert detect_media_type(data) == mime_type
