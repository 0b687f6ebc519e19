"""Size and integrity of pictures, from their headers alone."""

from tejat.core.frozen import Frozen

MAX_SIDE = 8000
"""Pixels of the longer side of a picture that every service takes."""

_SIGNATURE_LENGTH = 8
_PNG_END = b"IEND"
# Markers of JPEG: those without content, and those that begin a frame, with its size.
_STANDALONE = frozenset((0x01, *range(0xD0, 0xD8)))
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_START_OF_SCAN = 0xDA
_TAIL = 4096


class ImageSize(Frozen):
    width: int
    height: int

    def __str__(self) -> str:
        return f"{self.width} x {self.height}"


class DamagedImage(ValueError):
    """A picture without a valid header, or one that ends too early."""


def read_image_size(data: bytes, mime_type: str) -> ImageSize | None:
    """Return the size of a picture with this type by content, None if the type is unknown or nothing else is there.

    Raises DamagedImage for what contradicts its type, and for a picture that was cut off.
    """
    reader = _READERS.get(mime_type)
    if reader is None or len(data) <= _SIGNATURE_LENGTH:
        return None
    try:
        size = reader(data)
    except IndexError:
        raise DamagedImage from None
    if size.width <= 0 or size.height <= 0:
        raise DamagedImage
    return size


def _read_png(data: bytes) -> ImageSize:
    if _take(data, 12, 4) != b"IHDR":
        raise DamagedImage
    size = ImageSize(_big(data, 16), _big(data, 20))
    place = _SIGNATURE_LENGTH
    while _take(data, place + 4, 4) != _PNG_END:
        place += 12 + _big(data, place)
    return size


def _read_jpeg(data: bytes) -> ImageSize:
    size: ImageSize | None = None
    place = 2
    while True:
        while _take(data, place, 2) == b"\xff\xff":
            place += 1
        if data[place] != 0xFF:
            raise DamagedImage
        marker = data[place + 1]
        if marker in _STANDALONE:
            place += 2
            continue
        if marker in _FRAMES:
            size = ImageSize(_big(data, place + 7, 2), _big(data, place + 5, 2))
        if marker == _START_OF_SCAN:
            break
        place += 2 + _big(data, place + 2, 2)
    if size is None or b"\xff\xd9" not in data[max(place, len(data) - _TAIL) :]:
        raise DamagedImage
    return size


def _read_gif(data: bytes) -> ImageSize:
    size = ImageSize(_little(data, 6, 2), _little(data, 8, 2))
    if b";" not in data[max(13, len(data) - _TAIL) :]:
        raise DamagedImage
    return size


def _read_webp(data: bytes) -> ImageSize:
    if len(data) < _little(data, 4) + 8:
        raise DamagedImage
    match _take(data, 12, 4):
        case b"VP8 ":
            return ImageSize(_little(data, 26, 2) & 0x3FFF, _little(data, 28, 2) & 0x3FFF)
        case b"VP8L":
            bits = _little(data, 21)
            return ImageSize((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
        case b"VP8X":
            return ImageSize(_little(data, 24, 3) + 1, _little(data, 27, 3) + 1)
        case _:
            raise DamagedImage


def _read_bmp(data: bytes) -> ImageSize:
    if len(data) < _little(data, 10):
        raise DamagedImage
    if _little(data, 14) == 12:
        return ImageSize(_little(data, 18, 2), _little(data, 20, 2))
    # A negative height means that the rows are stored from top to bottom.
    height = int.from_bytes(_take(data, 22, 4), "little", signed=True)
    return ImageSize(_little(data, 18), abs(height))


_READERS = {
    "image/png": _read_png,
    "image/jpeg": _read_jpeg,
    "image/gif": _read_gif,
    "image/webp": _read_webp,
    "image/bmp": _read_bmp,
}


def _take(data: bytes, place: int, count: int) -> bytes:
    """Return bytes of the data. Raises IndexError if there are not so many."""
    if place + count > len(data):
        raise IndexError
    return data[place : place + count]


def _big(data: bytes, place: int, count: int = 4) -> int:
    return int.from_bytes(_take(data, place, count), "big")


def _little(data: bytes, place: int, count: int = 4) -> int:
    return int.from_bytes(_take(data, place, count), "little")
