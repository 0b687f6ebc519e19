"""One connection: what goes out, what comes back, and every way in which it does not."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.raw_server import Peer, raw_server, run_checked
from tejat.workspace.http.connection import HttpConnection, OutgoingRequest
from tejat.workspace.http.deadline import RequestDeadline
from tejat.workspace.http.stream import SocketStream
from tejat.workspace.http.types import HttpFailure, HttpFailureKind, HttpLimits

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
INTERIM = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n"
USUAL = HttpLimits()
LINGER_NOT = b"\1\0\0\0\0\0\0\0"
Answer = Callable[[Peer], Awaitable[None]]


async def exchange(
    answer: Answer, *, body: Sequence[bytes] = (), limits: HttpLimits = USUAL, method: str = "POST"
) -> tuple[int, str, list[tuple[str, str]], bytes, bool]:
    """Status, reason, headers, body, and whether the connection could be used again."""
    async with raw_server(answer) as server:
        plain = socket.create_connection(("127.0.0.1", server.port))
        plain.setblocking(False)
        stream = SocketStream()
        loop = asyncio.get_running_loop()
        await loop.create_connection(lambda: stream, sock=plain)
        connection = HttpConnection(stream, where="a.test:80")
        request = OutgoingRequest(method, "/x", [("Host", "a.test"), ("Content-Length", str(sum(map(len, body))))])
        try:
            deadline = RequestDeadline(limits, where="a.test:80", clock=loop.time)
            response = await connection.send(request, body, deadline)
            whole = await response.read(100_000_000)
            return response.status, response.reason, list(response.headers.items()), whole, connection.is_reusable()
        finally:
            stream.abort()
            await stream.closed


def answer_with(*pieces: bytes, then: Callable[[Peer], Awaitable[object]] = Peer.wait_closed) -> Answer:
    async def answer(peer: Peer) -> None:
        await peer.request()
        for piece in pieces:
            await peer.send(piece)
            await asyncio.sleep(0)
        await then(peer)

    return answer


async def close(peer: Peer) -> None:
    pass


async def reset(peer: Peer) -> None:
    await asyncio.sleep(0.05)  # let what was said arrive first
    peer.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_NOT)
    peer.reset()


async def half_close(peer: Peer) -> None:
    peer.writer.write_eof()
    await peer.wait_closed()


def failure_of(answer: Answer, *, body: Sequence[bytes] = (), limits: HttpLimits = USUAL) -> HttpFailure:
    with pytest.raises(HttpFailure) as caught:
        run_checked(exchange(answer, body=body, limits=limits))
    assert "a.test:80" in str(caught.value)
    return caught.value


class TestResponses:
    @pytest.mark.parametrize(
        ("said", "status", "body", "is_reusable"),
        [
            (OK + b"Content-Length: 5\r\n\r\nhello", 200, b"hello", True),
            (OK + b"Content-Length: 0\r\n\r\n", 200, b"", True),
            (b"HTTP/1.1 204 No Content\r\n\r\n", 204, b"", True),
            (b"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", 200, b"", True),
            (CHUNKED + b"2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\nA: b\r\n\r\n", 200, b"hello", True),
            (OK + b"Content-Length: 2\r\nConnection: close\r\n\r\nhi", 200, b"hi", False),
            (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", 200, b"hi", False),
            (INTERIM + OK + b"Content-Length: 2\r\n\r\nhi", 200, b"hi", True),
            (b"HTTP/1.1 302 Found\r\nLocation: http://b.test/\r\nContent-Length: 0\r\n\r\n", 302, b"", True),
            (b"HTTP/1.1 503 Busy\r\nContent-Length: 2\r\n\r\nno", 503, b"no", True),
            (OK + b"Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\n\x1f\x8b\x08", 200, b"\x1f\x8b\x08", True),
        ],
    )
    @pytest.mark.parametrize("at_once", [True, False])
    def test_whole_answers(self, said: bytes, status: int, body: bytes, is_reusable: bool, at_once: bool) -> None:
        pieces = [said] if at_once else [said[index : index + 1] for index in range(len(said))]
        found = run_checked(exchange(answer_with(*pieces)))
        assert (found[0], found[3], found[4]) == (status, body, is_reusable)

    def test_reason_and_headers_as_they_came(self) -> None:
        said = b"HTTP/1.1 418 I'm a Teapot\r\nX-A: 1\r\nx-a:  2 \r\nContent-Length: 0\r\nX-Latin: \xe4\r\n\r\n"
        assert run_checked(exchange(answer_with(said))) == (
            418,
            "I'm a Teapot",
            [("X-A", "1"), ("x-a", "2"), ("Content-Length", "0"), ("X-Latin", "ä")],
            b"",
            True,
        )

    @pytest.mark.parametrize("version", [b"1.0", b"1.1"])
    @pytest.mark.parametrize("end", [close, half_close])
    def test_a_body_that_ends_with_the_connection(self, version: bytes, end: Callable[[Peer], Awaitable[None]]) -> None:
        found = run_checked(exchange(answer_with(b"HTTP/%b 200 OK\r\n\r\nhel" % version, b"lo", then=end)))
        assert (found[3], found[4]) == (b"hello", False)

    def test_a_connection_on_which_somebody_speaks_unasked_is_not_used_again(self) -> None:
        found = run_checked(exchange(answer_with(OK + b"Content-Length: 2\r\n\r\nhiunasked")))
        assert (found[3], found[4]) == (b"hi", False)

    def test_an_answer_to_head_has_no_body(self) -> None:
        found = run_checked(exchange(answer_with(OK + b"Content-Length: 5\r\n\r\n"), method="HEAD"))
        assert (found[0], found[3], found[4]) == (200, b"", True)

    def test_a_large_body(self) -> None:
        size = 20_000_000
        found = run_checked(exchange(answer_with(OK + b"Content-Length: %d\r\n\r\n" % size, b"\0" * size)))
        assert (len(found[3]), found[4]) == (size, True)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.binary(min_size=1, max_size=30), max_size=6), st.integers(1, 40))
def test_any_chunks_cut_anywhere_give_the_same_body(chunks: list[bytes], step: int) -> None:
    said = CHUNKED
    said += b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"
    found = asyncio.run(exchange(answer_with(*(said[start : start + step] for start in range(0, len(said), step)))))
    assert (found[3], found[4]) == (b"".join(chunks), True)


class TestRequests:
    @pytest.mark.parametrize(
        "body",
        [
            [],
            [b""],
            [b"abc"],
            [b"a", b"", b"b" * 70_000, b"c"],
            [b"x" * 65_536, b"y" * 65_537],
            [b"%d," % number for number in range(50_000)],
            [b"z" * 5_000_000, b"end"],
        ],
    )
    def test_every_piece_arrives_in_order(self, body: list[bytes]) -> None:
        heard: list[object] = []

        async def answer(peer: Peer) -> None:
            heard.append(await peer.request())
            await peer.send(OK + b"Content-Length: 0\r\n\r\n")
            await peer.wait_closed()

        assert run_checked(exchange(answer, body=body))[4]
        whole = b"".join(body)
        assert heard == [("POST /x HTTP/1.1", {"host": "a.test", "content-length": str(len(whole))}, whole)]

    @pytest.mark.parametrize("interim", [b"", b"HTTP/1.1 100 Continue\r\n\r\n"])
    def test_an_answer_may_come_before_everything_was_heard(self, interim: bytes) -> None:
        async def answer(peer: Peer) -> None:
            await peer.send(interim + b"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno")
            await asyncio.sleep(30)

        found = run_checked(exchange(answer, body=[bytes(20_000_000)]))
        assert (found[0], found[3], found[4]) == (413, b"no", False)

    def test_an_interim_answer_does_not_stop_the_sending(self) -> None:
        async def answer(peer: Peer) -> None:
            await peer.send(b"HTTP/1.1 100 Continue\r\n\r\n")
            _, _, body = await peer.request()
            await peer.send(OK + b"Content-Length: 8\r\n\r\n%8d" % len(body))
            await peer.wait_closed()

        found = run_checked(exchange(answer, body=[bytes(20_000_000)]))
        assert (found[3], found[4]) == (b"20000000", True)

    def test_an_answer_before_the_connection_is_closed_on_us(self) -> None:
        async def answer(peer: Peer) -> None:
            await peer.send(b"HTTP/1.1 401 No\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno")
            await half_close(peer)

        found = run_checked(exchange(answer, body=[bytes(20_000_000)]))
        assert (found[0], found[3]) == (401, b"no")


class TestCuts:
    @pytest.mark.parametrize("end", [close, reset, half_close])
    @pytest.mark.parametrize(
        "said",
        [
            b"",
            b"HTTP/1.1 20",
            OK + b"Content-Length: 5\r\n",
            b"HTTP/1.1 100 Continue\r\n\r\n",
            OK + b"Content-Length: 5\r\n\r\n",
            OK + b"Content-Length: 5\r\n\r\nhell",
            CHUNKED,
            CHUNKED + b"5\r\nhel",
            CHUNKED + b"5\r\nhello\r\n",
            CHUNKED + b"5\r\nhello\r\n0\r\n",
        ],
    )
    def test_half_an_answer(self, said: bytes, end: Callable[[Peer], Awaitable[None]]) -> None:
        failure = failure_of(answer_with(said, then=end))
        assert failure.kind is HttpFailureKind.DISCONNECTED
        is_begun = b"\r\n\r\n" in said and b"100" not in said
        assert ("in the middle" in str(failure)) == is_begun

    def test_a_reset_is_no_end_of_a_body_without_length(self) -> None:
        assert failure_of(answer_with(OK + b"\r\nhello", then=reset)).kind is HttpFailureKind.DISCONNECTED

    def test_a_reset_while_we_send(self) -> None:
        async def answer(peer: Peer) -> None:
            await peer.reader.readexactly(100)
            await reset(peer)

        assert failure_of(answer, body=[bytes(20_000_000)]).kind is HttpFailureKind.DISCONNECTED


class TestRequestHead:
    def test_lines(self) -> None:
        request = OutgoingRequest("GET", "/a?b=c", [("Host", "a.test"), ("X", "a b")])
        assert request.head() == b"GET /a?b=c HTTP/1.1\r\nHost: a.test\r\nX: a b\r\n\r\n"

    @pytest.mark.parametrize(
        ("method", "target", "value"),
        [
            ("GET", "/a b", "x"),
            ("GET", "/a\r\nX: y", "x"),
            ("GET", "/\xe4", "x"),
            ("G T", "/", "x"),
            ("GET", "/", "a\nb"),
        ],
    )
    def test_nothing_is_injected(self, method: str, target: str, value: str) -> None:
        with pytest.raises(ValueError, match="illegal character"):
            OutgoingRequest(method, target, [("Host", value)]).head()


class TestWhatIsNotHttp:
    @pytest.mark.parametrize(
        "said",
        [
            b"SSH-2.0-OpenSSH\r\n\r\n",
            b"HTTP/2 200\r\n\r\n",
            b"\x15\x03\x01\x00\x02\x02\x46\r\n\r\n",
            b"secret" * 20 + b"\r\n\r\n",
            OK + b"Content-Length: five\r\n\r\nhello",
            OK + b"Content-Length: -5\r\n\r\nhello",
            OK + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
            CHUNKED + b"xyz\r\n",
            CHUNKED + b"2\r\nhello\r\n",
            OK + b"Bad Header: 1\r\n\r\n",
            OK + b"X: a\0b\r\n\r\n",
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
            b"HTTP/1.1 100 Continue\r\n\r\n" * 101,
        ],
    )
    def test_it_is_refused_and_not_repeated(self, said: bytes) -> None:
        failure = failure_of(answer_with(said))
        assert failure.kind is HttpFailureKind.PROTOCOL
        assert "secret" not in str(failure)
        assert failure.__context__ is None


class TestTooLarge:
    @pytest.mark.parametrize(
        "said",
        [
            OK + b"X: " + b"a" * 70_000,
            OK + b"X: " + b"a" * 70_000 + b"\r\nContent-Length: 0\r\n\r\n",
            OK + b"X: y\r\n" * 20_000 + b"\r\n",
            b"HTTP/1.1 200 " + b"a" * 70_000,
            b"a" * 70_000,
            CHUNKED + b"0\r\n" + b"X: y\r\n" * 20_000,
            CHUNKED + b"5;" + b"x" * 70_000,
        ],
    )
    def test_headers_without_end(self, said: bytes) -> None:
        assert failure_of(answer_with(said)).kind is HttpFailureKind.TOO_LARGE

    def test_headers_are_measured_against_the_limit_of_the_request(self) -> None:
        said = OK + b"X: %b\r\nContent-Length: 0\r\n\r\n" % (b"a" * 2000)
        assert failure_of(answer_with(said), limits=HttpLimits(headers=1000)).kind is HttpFailureKind.TOO_LARGE
        assert run_checked(exchange(answer_with(said), limits=HttpLimits(headers=3000)))[0] == 200

    @pytest.mark.parametrize(
        "framing", [b"Content-Length: 11\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\nb\r\n", b"\r\n"]
    )
    def test_a_body_beyond_the_limit(self, framing: bytes) -> None:
        failure = failure_of(answer_with(OK + framing + b"hello world"), limits=HttpLimits(body=10))
        assert (failure.kind, str(failure)) == (HttpFailureKind.TOO_LARGE, "a.test:80 sent more than 10 bytes.")

    def test_a_body_at_the_limit(self) -> None:
        said = OK + b"Content-Length: 10\r\n\r\n0123456789"
        assert run_checked(exchange(answer_with(said), limits=HttpLimits(body=10)))[3] == b"0123456789"


async def drip(peer: Peer) -> None:
    while True:
        await peer.send(b"x")
        await asyncio.sleep(0.02)


class TestLimits:
    @pytest.mark.parametrize("said", [b"", b"HTTP/1.1 200", b"HTTP/1.1 100 Continue\r\n\r\n"])
    def test_no_answer(self, said: bytes) -> None:
        failure = failure_of(answer_with(said), limits=HttpLimits(first_byte=0.2, idle=30))
        assert failure.kind is HttpFailureKind.TIMED_OUT_FIRST_BYTE

    def test_headers_that_drip_are_no_answer(self) -> None:
        failure = failure_of(answer_with(OK + b"X: ", then=drip), limits=HttpLimits(first_byte=0.2, idle=30))
        assert failure.kind is HttpFailureKind.TIMED_OUT_FIRST_BYTE

    @pytest.mark.parametrize(
        "said",
        [b"Content-Length: 5\r\n\r\n", b"Content-Length: 5\r\n\r\nhell", b"Transfer-Encoding: chunked\r\n\r\n5\r\n"],
    )
    def test_silence_in_the_middle(self, said: bytes) -> None:
        failure = failure_of(answer_with(OK + said), limits=HttpLimits(idle=0.2))
        assert failure.kind is HttpFailureKind.TIMED_OUT_IDLE

    def test_a_chunk_size_that_drips_is_silence(self) -> None:
        said = CHUNKED + b"5;"
        assert (
            failure_of(answer_with(said, then=drip), limits=HttpLimits(idle=0.2)).kind is HttpFailureKind.TIMED_OUT_IDLE
        )

    def test_a_body_that_drips_lives_as_long_as_it_drips(self) -> None:
        async def slowly(peer: Peer) -> None:
            for _ in range(20):
                await peer.send(b"x")
                await asyncio.sleep(0.03)

        said = OK + b"Content-Length: 20\r\n\r\n"
        assert run_checked(exchange(answer_with(said, then=slowly), limits=HttpLimits(idle=0.4)))[3] == b"x" * 20

    def test_but_not_beyond_the_whole_time(self) -> None:
        said = OK + b"Content-Length: 20000\r\n\r\n"
        failure = failure_of(answer_with(said, then=drip), limits=HttpLimits(idle=5, total=0.3))
        assert failure.kind is HttpFailureKind.TIMED_OUT_TOTAL

    def test_nor_does_a_flood(self) -> None:
        async def flood(peer: Peer) -> None:
            while True:
                await peer.send(bytes(65_536))
                await asyncio.sleep(0.001)

        failure = failure_of(answer_with(OK + b"\r\n", then=flood), limits=HttpLimits(total=0.3))
        assert failure.kind is HttpFailureKind.TIMED_OUT_TOTAL

    def test_a_peer_that_does_not_listen(self) -> None:
        async def deaf(_: Peer) -> None:
            await asyncio.sleep(30)

        failure = failure_of(deaf, body=[bytes(20_000_000)], limits=HttpLimits(idle=0.3))
        assert failure.kind is HttpFailureKind.TIMED_OUT_IDLE

    def test_a_peer_that_listens_slowly(self) -> None:
        async def slow(peer: Peer) -> None:
            for _ in range(10):
                await peer.reader.read(100_000)
                await asyncio.sleep(0.05)
            await peer.wait_closed()

        failure = failure_of(slow, body=[bytes(20_000_000)], limits=HttpLimits(idle=5, total=0.3))
        assert failure.kind is HttpFailureKind.TIMED_OUT_TOTAL
