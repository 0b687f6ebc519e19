"""The parser of responses: the same events as h11 for anything a server may send, however it is cut."""

from itertools import pairwise
from typing import Any, TypeAlias

import h11
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tejat.workspace.http.response_parser import ProtocolViolation, ResponseHead, ResponseParser

MAX_HEAD = 400
OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"

Outcome: TypeAlias = "tuple[list[Any], str, bool]"
"""The heads, the joined body, how it ended, and whether another request could follow."""


def parse(pieces: list[bytes], method: str = "GET", max_head: int = MAX_HEAD) -> Outcome:
    """What our parser makes of these pieces and the end of the connection."""
    parser = ResponseParser(method, max_head=max_head)
    found: list[Any] = []
    try:
        for piece in [*pieces, None]:
            if piece is None and not parser.is_complete and parser.ends_with_connection:
                parser.finish()
            elif piece is not None:
                parser.receive(piece)
            while not parser.is_complete and (event := parser.next_event()) is not None:
                add_event(found, event)
    except ProtocolViolation as violation:
        return found, "too large" if violation.is_too_large else "violation", False
    return found, "complete" if parser.is_complete else "cut", parser.can_be_followed


def add_event(found: list[Any], event: ResponseHead | bytes) -> None:
    if isinstance(event, ResponseHead):
        found.append((event.status, event.reason, list(event.headers)))
    elif found and isinstance(found[-1], bytes):
        found[-1] += event
    elif event:
        found.append(event)


def parse_with_h11(pieces: list[bytes], method: str = "GET") -> Outcome:
    machine = h11.Connection(h11.CLIENT, max_incomplete_event_size=MAX_HEAD)
    machine.send(h11.Request(method=method, target="/", headers=[("Host", "a")]))
    machine.send(h11.EndOfMessage())
    found: list[Any] = []
    for piece in [*pieces, b""]:
        is_end = piece == b""
        try:
            if machine.their_state in (h11.DONE, h11.MUST_CLOSE, h11.CLOSED, h11.SWITCHED_PROTOCOL):
                if is_end:
                    break
                machine.receive_data(piece)
                continue
            machine.receive_data(piece)
            if not take_events(machine, found):
                break
        except h11.RemoteProtocolError as error:
            if is_end:
                return found, "cut", False
            return found, "too large" if error.error_status_hint == 431 else "violation", False
    is_complete = machine.their_state in (h11.DONE, h11.MUST_CLOSE, h11.CLOSED, h11.SWITCHED_PROTOCOL)
    # A body that ends with the connection leaves h11 done, and nothing to send another request on.
    can_be_followed = machine.their_state is h11.DONE and machine.trailing_data == (b"", False)
    return found, "complete" if is_complete else "cut", can_be_followed


def take_events(machine: h11.Connection, found: list[Any]) -> bool:
    """Whether more may follow."""
    while True:
        event = machine.next_event()
        match event:
            case h11.Response() | h11.InformationalResponse():
                headers = [
                    (name.decode("latin-1"), value.decode("latin-1")) for name, value in event.headers.raw_items()
                ]
                found.append((event.status_code, bytes(event.reason).decode("latin-1"), headers))
            case h11.Data(data=data) if found and isinstance(found[-1], bytes):
                found[-1] += bytes(data)
            case h11.Data(data=data):
                found.append(bytes(data))
            case h11.EndOfMessage():
                return True
            case _ if event is h11.NEED_DATA:
                return True
            case _:
                return False


def cut(whole: bytes, places: list[int]) -> list[bytes]:
    ends = sorted({place % (len(whole) + 1) for place in places} | {0, len(whole)})
    return [whole[start:end] for start, end in pairwise(ends)]


PARTS = st.sampled_from(
    [
        *(OK, CHUNKED, b"HTTP/1.1 204 No\r\n", b"HTTP/1.0 200\r\n", b"HTTP/1.1 304 \n", b"HTTP/1.1 404 N\xf6 \tx\r\n"),
        *(b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 Hints\r\nA: b\r\n\r\n", b"HTTP/9.9 999 ", b"HTTP/1.1 099 x"),
        *(b"HTTP/1.1 2000 x", b"HTTP/11 200", b"HTTP/1.1  200 OK", b"http/1.1 200 OK\r\n", b"HTTP/1.1 200\tOK\r\n"),
        *(b"Content-Length: 5\r\n", b"content-length:5,5\r\n", b"Content-Length: 6\r\n", b"Content-Length: 05\r\n"),
        *(b"Content-Length: +5\r\n", b"Content-Length: 5 \r\n", b"Content-Length:\r\n", b"Content-Length: \xb2\r\n"),
        *(b"Content-Length: 0\r\n", b"Transfer-Encoding: Chunked \r\n", b"transfer-encoding: gzip, chunked\r\n"),
        *(b"Connection: close\r\n", b"connection: x, Close\r\n", b"Connection: keep-alive\r\n", b"X: a\0b\r\n"),
        *(
            b"X:\r\n",
            b"X: \xe4 b\t c\r\n",
            b"X : a\r\n",
            b": a\r\n",
            b"X\r\n",
            b" folded \r\n",
            b"\tfolded\r\n",
            b"X: a\rb\r\n",
        ),
        *(
            b"\r\n",
            b"\n",
            b"\r",
            b" ",
            b"\0",
            b"\x0b",
            b"hello",
            b"0\r\n",
            b"5\r\n",
            b"5;a=b\r\n",
            b"5 \r\n",
            b"5 ;a\r\n",
            b"a\r\n",
        ),
        *(
            b"0\r\n\r\n",
            b"5\r\nhello\r\n",
            b"05\r\n",
            b"g\r\n",
            b"-1\r\n",
            b"5;\n\r\n",
            b"0" * 21 + b"\r\n",
            b"1_0\r\n",
            b"x" * 401,
        ),
    ]
)
RESPONSES = st.one_of(
    st.lists(PARTS, max_size=9).map(b"".join),
    st.lists(PARTS, max_size=5).map(lambda parts: CHUNKED + b"".join(parts)),
    st.lists(PARTS, max_size=6).map(lambda parts: OK + b"".join(parts)),
    st.binary(max_size=60),
    st.binary(max_size=40).map(lambda data: OK + data + b"\r\n\r\n"),
)


@given(RESPONSES, st.lists(st.integers(0, 10_000), max_size=5), st.sampled_from(["GET", "POST", "HEAD"]))
@example(OK + b"Content-Length: 5\r\n\r\nhello", [3, 17, 40], "GET")
@example(CHUNKED + b"5\r\nhello\r\n0\r\nA: b\r\n\r\n", list(range(80)), "GET")
@example(CHUNKED + b"5\r\nhello\r\n0\r\n\r\nmore", [], "GET")
@settings(max_examples=1500, deadline=None)
def test_it_agrees_with_h11(whole: bytes, places: list[int], method: str) -> None:
    pieces = cut(whole, places)
    assert parse(pieces, method) == parse_with_h11(pieces, method)


@given(RESPONSES, st.lists(st.integers(0, 10_000), max_size=20))
@settings(max_examples=300, deadline=None)
def test_it_does_not_matter_how_a_response_is_cut(whole: bytes, places: list[int]) -> None:
    assert parse(cut(whole, places), max_head=10_000) == parse([whole], max_head=10_000)


def test_a_tunnel_leaves_what_follows() -> None:
    parser = ResponseParser("CONNECT", max_head=MAX_HEAD)
    parser.receive(OK + b"Content-Length: 3\r\n\r\nTLS")
    head = parser.next_event()
    assert isinstance(head, ResponseHead)
    assert (head.status, parser.next_event(), parser.has_trailing_data) == (200, b"", True)
    assert not parser.can_be_followed


def test_nothing_is_read_after_the_end() -> None:
    parser = ResponseParser("GET", max_head=MAX_HEAD)
    parser.receive(CHUNKED + b"0\r\n\r\nA: b\r\n\r\n")
    parser.next_event()
    assert [parser.next_event(), parser.next_event()] == [b"", b""]
    assert parser.has_trailing_data


@pytest.mark.parametrize("start", [OK, CHUNKED, CHUNKED + b"0\r\n"])
def test_what_never_ends_is_too_large(start: bytes) -> None:
    parser = ResponseParser("GET", max_head=100)
    parser.receive(start)
    with pytest.raises(ProtocolViolation) as caught:
        feed_letters(parser)
    assert caught.value.is_too_large


def feed_letters(parser: ResponseParser) -> None:
    for _ in range(300):
        parser.receive(b"a")
        parser.next_event()
        parser.next_event()


def test_the_message_does_not_quote_the_server() -> None:
    parser = ResponseParser("GET", max_head=100)
    parser.receive(b"secret\r\n\r\n")
    with pytest.raises(ProtocolViolation) as caught:
        parser.next_event()
    assert "secret" not in str(caught.value)
