"""Small media files: pictures of any size and PDF documents with text, made without libraries."""

import struct
import zlib


def png(width: int = 2, height: int = 2) -> bytes:
    """A black picture, one bit per pixel."""
    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    rows = zlib.compress(bytes(1 + (width + 7) // 8) * height, 1)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", rows) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def jpeg(width: int = 2, height: int = 2) -> bytes:
    """The structure of a picture, without pixels that could be decoded."""
    frame = b"\xff\xc0" + struct.pack(">HBHHB", 11, 8, height, width, 1) + b"\x01\x11\x00"
    scan = b"\xff\xda" + struct.pack(">H", 8) + b"\x01\x01\x00\x00\x3f\x00" + b"\x12\x34"
    return b"\xff\xd8\xff\xe0\x00\x04JF" + b"\xff\xff" + frame[1:] + scan + b"\xff\xd9"


def gif(width: int = 2, height: int = 2) -> bytes:
    return b"GIF89a" + struct.pack("<HHBBB", width, height, 0, 0, 0) + b"\x2c" + bytes(10) + b";"


def webp(width: int = 2, height: int = 2) -> bytes:
    content = b"WEBPVP8X" + struct.pack("<I", 10) + bytes(4)
    content += (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    return b"RIFF" + struct.pack("<I", len(content)) + content


def bmp(width: int = 2, height: int = 2) -> bytes:
    header = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, 0, 0, 0, 0, 0)
    return b"BM" + struct.pack("<IHHI", 54 + 16, 0, 0, 54) + header + bytes(16)


def pdf(*pages: str) -> bytes:
    """A document with one line of ASCII text per page, none for an empty one."""
    count = len(pages)
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Count %d/Kids[%s]>>" % (count, b" ".join(b"%d 0 R" % (4 + 2 * n) for n in range(count))),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    for number, text in enumerate(pages):
        drawn = b"BT /F1 12 Tf 72 720 Td (%s) Tj ET" % text.encode("ascii") if text else b""
        resources = b"/Resources<</Font<</F1 3 0 R>>>>/MediaBox[0 0 612 792]"
        objects.append(b"<</Type/Page/Parent 2 0 R%s/Contents %d 0 R>>" % (resources, 5 + 2 * number))
        objects.append(b"<</Length %d>>stream\n%s\nendstream" % (len(drawn), drawn))
    written, places = b"%PDF-1.4\n", list[int]()
    for number, content in enumerate(objects, 1):
        places.append(len(written))
        written += b"%d 0 obj%s endobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    start = len(written)
    written += b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(objects) + 1, table)
    return written + b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
