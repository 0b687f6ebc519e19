"""The binary event stream of AWS (`application/vnd.amazon.eventstream`)."""

import struct
import zlib
from collections.abc import Iterator

from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.models.wire.http_errors import protocol_failure

_PRELUDE = struct.Struct(">III")
_CHECKSUM_LENGTH = 4
_MAX_MESSAGE_BYTES = 16 * 2**20
_STRING, _BYTES = 7, 6
_FIXED_LENGTHS = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
"""Lengths of the header values of fixed size, by their types."""


class StreamMessage(Frozen):
    """One message: its text headers, and its payload."""

    headers: dict[str, str]
    payload: bytes


class EventStreamParser:
    """Splits a stream into messages. Raises ModelFailure for a damaged one."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[StreamMessage]:
        """Add data, and yield the messages that are complete."""
        self._buffer += data
        while len(self._buffer) >= _PRELUDE.size:
            length, header_length, checksum = _PRELUDE.unpack_from(self._buffer)
            if zlib.crc32(self._buffer[: _PRELUDE.size - _CHECKSUM_LENGTH]) != checksum:
                raise protocol_failure(lazy("a corrupt event"))
            begin, end = _PRELUDE.size + header_length, length - _CHECKSUM_LENGTH
            if not begin <= end <= _MAX_MESSAGE_BYTES:
                raise protocol_failure(lazy("an event with an invalid size"))
            if len(self._buffer) < length:
                return
            message = bytes(self._buffer[:length])
            del self._buffer[:length]
            if zlib.crc32(message[:end]) != int.from_bytes(message[end:], "big"):
                raise protocol_failure(lazy("a corrupt event"))
            yield StreamMessage(_parse_headers(message[_PRELUDE.size : begin]), message[begin:end])


def _parse_headers(data: bytes) -> dict[str, str]:
    headers: dict[str, str] = {}
    place = 0
    try:
        while place < len(data):
            name_end = place + 1 + data[place]
            name, kind = data[place + 1 : name_end].decode("utf-8", "replace"), data[name_end]
            place = name_end + 1
            if kind in {_STRING, _BYTES}:
                end = place + 2 + int.from_bytes(data[place : place + 2], "big")
                if kind == _STRING:
                    headers[name] = data[place + 2 : end].decode("utf-8", "replace")
                place = end
            else:
                place += _FIXED_LENGTHS[kind]
    except (IndexError, KeyError):
        raise protocol_failure(lazy("an event with corrupt headers")) from None
    return headers
