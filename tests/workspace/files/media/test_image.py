"""The size of pictures, and what is wrong with them."""

import io
from collections.abc import Callable

import pytest
from PIL import Image

from support.media_files import bmp, gif, jpeg, png, webp
from tejat.workspace.files.media.image import DamagedImage, ImageSize, read_image_size
from tejat.workspace.files.media.media_type import detect_media_type

MAKERS = [(png, "image/png"), (jpeg, "image/jpeg"), (gif, "image/gif"), (webp, "image/webp"), (bmp, "image/bmp")]
each_kind = pytest.mark.parametrize(("make", "mime_type"), MAKERS)


@each_kind
def test_size(make: Callable[[int, int], bytes], mime_type: str) -> None:
    data = make(300, 200)
    assert detect_media_type(data) == mime_type
    assert read_image_size(data, mime_type) == ImageSize(300, 200)
    assert read_image_size(data + b"trailing", mime_type) == ImageSize(300, 200)


@each_kind
def test_a_picture_without_pixels(make: Callable[[int, int], bytes], mime_type: str) -> None:
    if mime_type != "image/webp":  # whose sizes are stored less one
        with pytest.raises(DamagedImage):
            read_image_size(make(0, 5), mime_type)


@each_kind
def test_every_cut_is_noticed(make: Callable[[int, int], bytes], mime_type: str) -> None:
    data = make(30, 20)
    end = {"image/bmp": 54, "image/png": len(data) - 4}.get(mime_type, len(data))
    for size in range(9, end):
        with pytest.raises(DamagedImage):
            read_image_size(data[:size], mime_type)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("PNG", {}),
        ("JPEG", {}),
        ("JPEG", {"progressive": True}),
        ("GIF", {}),
        ("WEBP", {}),
        ("WEBP", {"lossless": True}),
        ("BMP", {}),
    ],
)
@pytest.mark.parametrize("mode", ["L", "RGB", "P"])
def test_pictures_of_others(kind: str, options: dict[str, bool], mode: str) -> None:
    written = io.BytesIO()
    Image.new("L" if kind == "JPEG" and mode == "P" else mode, (123, 45)).save(written, kind, **options)
    data = written.getvalue()
    mime_type = f"image/{kind.lower()}"
    assert detect_media_type(data) == mime_type
    assert read_image_size(data, mime_type) == ImageSize(123, 45)


def test_what_is_not_judged() -> None:
    assert read_image_size(b"anything", "image/tiff") is None
    assert read_image_size(b"\x89PNG\r\n\x1a\n", "image/png") is None
