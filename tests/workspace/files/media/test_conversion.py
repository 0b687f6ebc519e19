"""Pictures are scaled and documents read in a process of its own."""

import io

import pytest
from PIL import Image

from support.media_files import pdf, png
from tejat.workspace.files.media.conversion import ConversionFailure, PdfText, extract_pdf_text, scale_image
from tejat.workspace.files.media.image import ImageSize, read_image_size


def go_on() -> None:
    """Let it run."""


class TestScaling:
    def test_a_large_picture(self) -> None:
        scaled = scale_image(png(9000, 4500), go_on)
        assert (scaled.mime_type, scaled.size) == ("image/png", ImageSize(2000, 1000))
        assert read_image_size(scaled.data, scaled.mime_type) == ImageSize(2000, 1000)

    @pytest.mark.parametrize(("kind", "as_kind"), [("JPEG", "jpeg"), ("WEBP", "webp"), ("GIF", "png")])
    def test_kinds(self, kind: str, as_kind: str) -> None:
        written = io.BytesIO()
        Image.new("RGB", (30, 2400), "red").save(written, kind)
        scaled = scale_image(written.getvalue(), go_on)
        assert (scaled.mime_type, scaled.size) == (f"image/{as_kind}", ImageSize(25, 2000))

    @pytest.mark.parametrize("data", [b"", b"no picture", png(9000, 10)[:50]])
    def test_what_is_no_picture(self, data: bytes) -> None:
        with pytest.raises(ConversionFailure, match="The file is damaged or protected"):
            scale_image(data, go_on)


class TestPdf:
    def test_text_by_page(self) -> None:
        assert extract_pdf_text(pdf("One", "", "Three"), go_on) == PdfText(("One", "", "Three"), 3)

    def test_what_is_no_document(self) -> None:
        with pytest.raises(ConversionFailure, match="The file is damaged or protected"):
            extract_pdf_text(b"%PDF-1.4 nothing else", go_on)


def test_it_can_be_stopped() -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        scale_image(png(9000, 9000), stop)
