from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.workspace.http.sse import EventTooLong, SseEvent, SseParser

LINES = st.sampled_from(
    [
        b"",
        b"data: {}",
        b"data:x",
        b"data",
        b"data:  two",
        b"event: ping",
        b"id: 7",
        b"retry: 50",
        b": a comment",
        b"data: \xc3\xa9",
        b"x",
    ]
)
STREAMS = st.lists(st.tuples(LINES, st.sampled_from([b"\n", b"\r\n", b"\r"])), max_size=12).map(
    lambda lines: b"".join(line + end for line, end in lines)
)


def read(pieces: list[bytes]) -> list[SseEvent]:
    parser = SseParser()
    return [event for piece in pieces for event in parser.feed(piece)] + parser.end()


def place(pieces: list[bytes]) -> tuple[str, float | None]:
    parser = SseParser()
    for piece in pieces:
        parser.feed(piece)
    return parser.last_id, parser.retry


def test_fields_and_line_ends() -> None:
    begin = b'\xef\xbb\xbf: hello\r\ndata: {"a":\r\ndata: 1}\r\n\r\n'
    end = b"event: ping\rdata:\r\rid: 3\nretry: 9\ndata:  \xc3\xa9\n\n"
    assert read([begin + end]) == [SseEvent("", '{"a":\n1}'), SseEvent("ping", ""), SseEvent("", " é")]


def test_an_event_without_data_is_none_and_its_type_is_forgotten() -> None:
    assert read([b"event: ping\n\ndata: 1\n\n"]) == [SseEvent("", "1")]


def test_where_the_stream_has_come_to() -> None:
    parser = SseParser()
    assert (parser.last_id, parser.retry) == ("", None)
    parser.feed(b"id: 1\ndata: a\n\nid:2\ndata: b")
    assert parser.last_id == "1"
    parser.feed(b"\n\ndata: without one\n\n")
    assert parser.last_id == "2"
    parser.feed(b"id: 3\n\nid: 4\0\n\n")
    assert parser.last_id == "3"
    parser.feed(b"id\n\n")
    assert parser.last_id == ""


def test_another_stream_goes_on_where_this_one_broke_off() -> None:
    parser = SseParser(max_bytes=30)
    assert parser.feed(b"id: 1\ndata: a\n\nid: 2\nevent: x\ndata: half\r") == [SseEvent("", "a")]
    parser.restart()
    assert parser.feed(b"\xef\xbb\xbfdata: whole and long\n\n") == [SseEvent("", "whole and long")]
    assert parser.last_id == "1"


@pytest.mark.parametrize(
    ("line", "seconds"),
    [
        (b"retry: 1500", 1.5),
        (b"retry:0", 0.0),
        (b"retry: -1", None),
        (b"retry: 1e3", None),
        (b"retry: " + b"9" * 99, None),
    ],
)
def test_when_to_come_back(line: bytes, seconds: float | None) -> None:
    parser = SseParser()
    assert parser.feed(line + b"\n") == []
    assert parser.retry == seconds


def test_what_stands_at_the_end_is_given_only_at_the_end() -> None:
    parser = SseParser()
    assert parser.feed(b"data: 1\n\ndata: ha") == [SseEvent("", "1")]
    assert parser.end() == [SseEvent("", "ha")]
    assert parser.end() == []


def test_bytes_that_are_not_text() -> None:
    assert read([b"data: \xff\n\n"]) == [SseEvent("", "\ufffd")]


@pytest.mark.parametrize("piece", [b"data: 0123456789", b"data: 1\n", b": 23\n"])
def test_an_event_beyond_the_limit(piece: bytes) -> None:
    parser = SseParser(max_bytes=100)
    for _ in range(100 // len(piece)):
        assert parser.feed(piece) == []
    with pytest.raises(EventTooLong, match="longer than 100 bytes"):
        parser.feed(piece)


def test_the_limit_is_for_each_event() -> None:
    parser = SseParser(max_bytes=100)
    assert sum(len(parser.feed(b"data: 123456789\n\n")) for _ in range(100)) == 100


@settings(max_examples=300)
@given(stream=STREAMS, cuts=st.lists(st.integers(0, 200), max_size=8))
def test_however_it_is_cut_the_events_are_the_same(stream: bytes, cuts: list[int]) -> None:
    edges = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    pieces = [stream[start:end] for start, end in pairwise(edges)]
    assert read(pieces) == read([stream]) == read([bytes([byte]) for byte in stream])
    assert place(pieces) == place([stream])
