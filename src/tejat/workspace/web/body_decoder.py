"""Incremental decompression of HTTP bodies, within a limit."""

import zlib
from typing import Protocol

from tejat.core.errors import TejatError
from tejat.core.i18n import lazy

ACCEPT_ENCODING = "gzip, deflate"
"""The value of the Accept-Encoding header."""

_GZIP = 16 + zlib.MAX_WBITS
_GZIP_MARK = b"\x1f"
_RAW = -zlib.MAX_WBITS


class UndecodableBody(TejatError):
    """The body is corrupt, or its content encoding was not requested."""


class BodyDecoder(Protocol):
    def decode(self, piece: bytes, limit: int) -> bytes:
        """Decode a piece, truncated after `limit` bytes. Raises UndecodableBody."""
        ...

    @property
    def is_complete(self) -> bool:
        """Whether the body may end here."""
        ...


def create_decoder(content_encoding: str) -> BodyDecoder:
    """Create a decoder for a Content-Encoding header. Raises UndecodableBody.

    Only one encoding at a time: nested compression turns a small body into a huge one.
    """
    match content_encoding.strip().lower():
        case "" | "identity":
            return _IdentityDecoder()
        case "gzip" | "x-gzip":
            return _ZlibDecoder(_GZIP)
        case "deflate":
            return _ZlibDecoder(zlib.MAX_WBITS)
        case other:
            raise UndecodableBody(
                lazy('The server used the content encoding "{other}", which was not requested.', other=other[:60])
            )


class _IdentityDecoder:
    is_complete = True

    def decode(self, piece: bytes, limit: int) -> bytes:
        return piece[:limit]


class _ZlibDecoder:
    """Decompresses one stream or, for gzip, several in a row. Trailing data is ignored."""

    def __init__(self, window: int) -> None:
        self._window = window
        self._stream = zlib.decompressobj(window)
        self._has_started = False
        self._is_finished = False

    @property
    def is_complete(self) -> bool:
        return self._stream.eof or self._is_finished or not self._has_started

    def decode(self, piece: bytes, limit: int) -> bytes:
        decoded: list[bytes] = []
        while piece and limit > 0 and not self._is_finished:
            if self._stream.eof:
                if self._window != _GZIP or not piece.startswith(_GZIP_MARK):
                    self._is_finished = True
                    break
                self._stream = zlib.decompressobj(self._window)
            part = self._decompress(piece, limit)
            decoded.append(part)
            limit -= len(part)
            piece = self._stream.unused_data
        return b"".join(decoded)

    def _decompress(self, piece: bytes, limit: int) -> bytes:
        try:
            part = self._stream.decompress(piece, limit)
        except zlib.error:
            if self._has_started or self._window != zlib.MAX_WBITS:
                raise UndecodableBody(lazy("The response body is damaged: decompression failed.")) from None
            # Many servers leave out the header that "deflate" ought to have.
            self._window = _RAW
            self._stream = zlib.decompressobj(_RAW)
            self._has_started = True
            return self._decompress(piece, limit)
        self._has_started = True
        return part
