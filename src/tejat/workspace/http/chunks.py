"""Bulk decoding of the chunked transfer coding."""

import re

_HEADER = rb"([0-9A-Fa-f]{1,8})\r\n"
_LINE_END = b"\r\n"


def take_plain_chunks(buffer: bytearray) -> bytes:
    """Remove the complete plain chunks at the beginning of the buffer, however many, and return their content.

    A plain chunk has a size of at most eight digits and nothing else on that line. Any other is left in the buffer: the
    last one, one that is not complete, and one that does not end where its size says.
    """
    pieces: list[bytearray] = []
    place = 0
    match = re.compile(_HEADER).match
    while found := match(buffer, place):
        length, begin = int(found[1], 16), found.end()
        end = begin + length
        if not length or not buffer.startswith(_LINE_END, end):
            break
        pieces.append(buffer[begin:end])
        place = end + 2
    del found  # it would keep the buffer from shrinking
    del buffer[:place]
    return b"".join(pieces)
