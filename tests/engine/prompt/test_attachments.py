"""Attached media: what a service would reject is refused before it is sent."""

import tracemalloc
from base64 import b64encode

import pytest

from support.media_files import bmp, gif, jpeg, pdf, png, webp
from tejat.core.messages.types import InlineData
from tejat.engine.prompt.attachments import (
    MAX_ATTACHED_BYTES,
    InvalidAttachment,
    attach_audio,
    attach_file,
    attach_image,
)

WAV = b"RIFF\x24\x00\x00\x00WAVEfmt " + bytes(32)
NOT_A_PICTURE = "It is not a picture in a supported format: PNG, JPEG, GIF, WebP, BMP."
NOT_SOUND = "It is not a recording in a supported format: mp3, wav, aiff, aif, aac, ogg, flac."


def encode(data: bytes) -> str:
    return b64encode(data).decode()


@pytest.mark.parametrize(
    ("data", "mime_type"),
    [
        (png(), "image/png"),
        (jpeg(), "image/jpeg"),
        (gif(), "image/gif"),
        (webp(), "image/webp"),
        (bmp(), "image/bmp"),
    ],
)
def test_pictures_have_the_type_of_their_content(data: bytes, mime_type: str) -> None:
    assert attach_image(encode(data)) == InlineData(mime_type, data)


@pytest.mark.parametrize(
    ("base64", "problem"),
    [
        (encode(b"<svg/>"), NOT_A_PICTURE),
        (encode(WAV), NOT_A_PICTURE),
        (encode(png()[:-10]), "The picture is damaged or incomplete."),
        (encode(png(9000, 10)), "The picture has 9000 x 10 pixels; services accept at most 8000 per side."),
        ("", "It is empty."),
        ("not base64!", "Its data is not valid base64."),
    ],
)
def test_pictures_that_no_service_takes(base64: str, problem: str) -> None:
    with pytest.raises(InvalidAttachment) as raised:
        attach_image(base64)
    assert str(raised.value) == problem


def test_data_that_is_too_large_is_refused_before_it_is_decoded() -> None:
    base64 = "A" * (64 * 2**20)
    tracemalloc.start()
    try:
        with pytest.raises(InvalidAttachment, match="It is too large: at most 20 MB are accepted"):
            attach_image(base64)
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()
    assert len(base64) * 3 // 4 > MAX_ATTACHED_BYTES


def test_recordings() -> None:
    assert attach_audio(encode(WAV), "audio/mpeg") == InlineData("audio/wav", WAV)
    assert attach_audio(encode(b"\x01\x02"), "audio/ogg") == InlineData("audio/ogg", b"\x01\x02")
    for data, declared in ((b"\x01\x02", "audio/midi"), (png(), "audio/wav")):
        with pytest.raises(InvalidAttachment) as raised:
            attach_audio(encode(data), declared)
        assert str(raised.value) == NOT_SOUND


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("/w/a.png", png(), InlineData("image/png", png())),
        ("/w/unnamed", jpeg(), InlineData("image/jpeg", jpeg())),
        ("/w/a.wav", WAV, InlineData("audio/wav", WAV)),
        ("/w/a.pdf", pdf("x"), InlineData("application/pdf", pdf("x"))),
        ("/w/a.mp4", b"\x00\x01", InlineData("video/mp4", b"\x00\x01")),
        ("/w/a.py", "# grün\n".encode("utf-16"), "# grün\n"),
        ("https://a/x", b"text", "text"),
    ],
)
def test_files_are_media_or_text(name: str, data: bytes, expected: InlineData | str) -> None:
    assert attach_file(name, encode(data)) == expected


@pytest.mark.parametrize(
    ("name", "data", "problem"),
    [
        ("/w/a.zip", b"PK\x03\x04", "It is binary data, which models do not take."),
        ("/w/a", bytes(100), "It is binary data, which models do not take."),
        ("/w/a.png", png()[:20], "The picture is damaged or incomplete."),
        ("/w/a.mid", b"MThd\x00\x00\x00\x06\xff\xfe\x00", NOT_SOUND),
        ("/w/a.pdf", b"\x00\x01", "It is not a valid PDF document."),
    ],
)
def test_files_that_no_model_takes(name: str, data: bytes, problem: str) -> None:
    with pytest.raises(InvalidAttachment) as raised:
        attach_file(name, encode(data))
    assert str(raised.value) == problem
