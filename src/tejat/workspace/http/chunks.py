"""Bulk decoding of the chunked transfer coding."""

import re

_HEADER = rb"([0-9A-Fa-f]{1,8})\r\n"
_MAX_HEADER_BYTES = 10
_LINE_END = b"\r\n"


class BadChunk(ValueError):
    """A chunk does not end where its size says."""


class ChunkDecoder:
    """Removes the framing of plain chunks, however many arrive together.

    A plain chunk has a size of at most eight digits and nothing else on that line. The decoder stops in front of any
    other, the last chunk included, so that a complete parser can continue from there.
    """

    def __init__(self) -> None:
        self._left = 0
        """Bytes of the current chunk that are still to come, with its line end."""
        self._header = b""
        """The beginning of a size line."""

    def feed(self, data: bytes) -> tuple[bytes, bytes | None]:
        """Return the content of these bytes, and where the decoder stops, the bytes from there on. Raises BadChunk."""
        if self._header:
            data, self._header = self._header + data, b""
        pieces: list[bytes] = []
        place, size = self._take(data, 0, pieces), len(data)
        match = re.compile(_HEADER).match
        while place < size:
            found = match(data, place)
            length = int(found[1], 16) if found else 0
            if found is None or not length:
                if found is None and size - place < _MAX_HEADER_BYTES and b"\n" not in data[place:]:
                    self._header = data[place:]
                    break
                return b"".join(pieces), data[place:]
            begin = found.end()
            place = begin + length + 2
            if place <= size and data[place - 2 : place] == _LINE_END:
                pieces.append(data[begin : place - 2])
            else:
                self._left = length + 2
                place = self._take(data, begin, pieces)
        return b"".join(pieces), None

    def _take(self, data: bytes, place: int, pieces: list[bytes]) -> int:
        """Add what there is of the current chunk, and return where it ends."""
        content = min(self._left - 2, len(data) - place)
        if content > 0:
            pieces.append(data[place : place + content])
            place += content
            self._left -= content
        if 0 < self._left <= 2:
            ending = data[place : place + self._left]
            if not _LINE_END[2 - self._left :].startswith(ending):
                raise BadChunk
            place += len(ending)
            self._left -= len(ending)
        return place
