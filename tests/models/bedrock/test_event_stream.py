import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.model_servers.bedrock import frame
from tejat.core.model import FailureKind, ModelFailure
from tejat.models.bedrock.event_stream import EventStreamParser, StreamMessage

WORDS = st.text("abc:-", min_size=1, max_size=9)
MESSAGES = st.lists(st.tuples(st.binary(max_size=40), st.dictionaries(WORDS, WORDS, max_size=3)), max_size=4)


@given(MESSAGES, st.integers(1, 50))
def test_messages_arrive_whole_however_they_are_cut(messages: list[tuple[bytes, dict[str, str]]], size: int) -> None:
    data = b"".join(frame(*message) for message in messages)
    parser = EventStreamParser()
    found = [each for place in range(0, len(data), size) for each in parser.feed(data[place : place + size])]
    assert found == [StreamMessage(headers, payload) for payload, headers in messages]


def test_headers_of_other_types() -> None:
    values = b"\x01a\x00" + b"\x01b\x04\x00\x00\x00\x01" + b"\x01c\x06\x00\x02xy" + b"\x01d\x07\x00\x01z"
    prelude = struct.pack(">II", 16 + len(values), len(values))
    message = prelude + struct.pack(">I", zlib.crc32(prelude)) + values
    message += struct.pack(">I", zlib.crc32(message))
    assert list(EventStreamParser().feed(message)) == [StreamMessage({"d": "z"}, b"")]


@pytest.mark.parametrize("place", [0, 9, 14, -1])
def test_a_damaged_message(place: int) -> None:
    damaged = bytearray(frame(b"payload", {"a": "b"}))
    damaged[place] ^= 1
    with pytest.raises(ModelFailure) as caught:
        list(EventStreamParser().feed(bytes(damaged)))
    assert caught.value.kind is FailureKind.PROTOCOL
