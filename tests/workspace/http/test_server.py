"""The small HTTP server, as clients of all kinds meet it: polite ones, slow ones, and those that send anything."""

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.raw_server import run_checked
from tejat.workspace.http.client import HttpClient
from tejat.workspace.http.server import (
    HttpError,
    HttpServer,
    RequestHandler,
    ServerLimits,
    ServerRequest,
    ServerResponse,
    serve,
)

GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
LAST_GET = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"


async def echo(request: ServerRequest) -> ServerResponse:
    body = await request.read() if request.method == "POST" else b""
    return ServerResponse(200, (("x-path", request.path),), f"{request.method} {request.target} ".encode() + body)


@asynccontextmanager
async def served(handler: RequestHandler, limits: ServerLimits | None = None) -> AsyncGenerator[HttpServer]:
    serving = await serve(handler, limits=limits)
    try:
        yield serving
    finally:
        await serving.close(grace_seconds=0)


async def say(serving: HttpServer, said: bytes, *, end: bool = True) -> bytes:
    """Everything that is answered until the server closes the connection, without what changes with the time."""
    reader, writer = await asyncio.open_connection("127.0.0.1", serving.port)
    writer.write(said)
    if end:
        writer.write_eof()
    async with asyncio.timeout(20):
        heard = await reader.read()
    writer.close()
    lines = (line for line in heard.split(b"\r\n") if not line.lower().startswith(b"date:"))
    return b"\r\n".join(lines).replace(b"\r\nConnection:", b"\r\nconnection:")


def answered(handler: RequestHandler, said: bytes, *, end: bool = False, limits: ServerLimits | None = None) -> bytes:
    async def main() -> bytes:
        async with served(handler, limits) as serving:
            return await say(serving, said, end=end)

    return run_checked(main())


def whole(status: str, body: bytes, *headers: bytes) -> bytes:
    lines = [b"HTTP/1.1 " + status.encode(), *headers, b"content-length: %d" % len(body), b"connection: close"]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def refusal(status: str, words: bytes) -> bytes:
    return whole(status, words + b"\n", b"content-type: text/plain; charset=utf-8")


class TestAnswering:
    def test_our_own_client_gets_many_answers_over_one_connection(self) -> None:
        async def main() -> list[tuple[int, bytes]]:
            async with served(echo) as serving:
                client = HttpClient(environment={})
                found: list[tuple[int, bytes]] = []
                for number in range(5):
                    url = f"http://127.0.0.1:{serving.port}/{number}?x"
                    async with client.request("POST", url, body=[b"b" * number]) as response:
                        found.append((response.status, await response.read(100)))
                await client.close()
                return found

        assert run_checked(main()) == [(200, f"POST /{number}?x ".encode() + b"b" * number) for number in range(5)]

    def test_an_answer_is_whole(self) -> None:
        assert answered(echo, LAST_GET) == (
            b"HTTP/1.1 200 OK\r\nx-path: /\r\ncontent-length: 6\r\nconnection: close\r\n\r\nGET / "
        )

    def test_every_answer_tells_the_time(self) -> None:
        async def main() -> bytes:
            async with served(echo) as serving:
                reader, writer = await asyncio.open_connection("127.0.0.1", serving.port)
                writer.write(LAST_GET)
                heard = await reader.read()
                writer.close()
                return heard

        assert b"\r\ndate: " in run_checked(main())

    def test_requests_that_come_together_are_answered_one_by_one(self) -> None:
        post = b"POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi"
        heard = answered(echo, post + GET + LAST_GET)
        assert re.findall(rb"\r\n\r\n(\w+ /a? \w*?)(?=HTTP|$)", heard) == [b"POST /a hi", b"GET / ", b"GET / "]

    def test_a_body_in_chunks(self) -> None:
        head = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
        assert answered(echo, head + b"2\r\nab\r\n1\r\nc\r\n0\r\n\r\n").endswith(b"POST / abc")

    def test_whoever_asks_first_is_told_to_go_on(self) -> None:
        head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n"

        async def main() -> tuple[bytes, bytes]:
            async with served(echo) as serving:
                reader, writer = await asyncio.open_connection("127.0.0.1", serving.port)
                writer.write(head)
                go_on = await reader.readuntil(b"\r\n\r\n")
                writer.write(b"hi")
                rest = await reader.read()
                writer.close()
                return go_on, rest[-9:]

        assert run_checked(main()) == (b"HTTP/1.1 100 \r\n\r\n", b"POST / hi")

    def test_head_and_no_content_have_no_body(self) -> None:
        async def nothing(_: ServerRequest) -> ServerResponse:
            return ServerResponse(204)

        assert answered(echo, b"HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n") == whole(
            "200 OK", b"HEAD / ", b"x-path: /"
        ).removesuffix(b"HEAD / ")
        assert answered(nothing, LAST_GET) == b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n"

    def test_a_handler_may_refuse(self) -> None:
        async def refuse(_: ServerRequest) -> ServerResponse:
            raise HttpError(401, "Who are you?", (("www-authenticate", "Bearer"),))

        words = b"Who are you?\n"
        headers = (b"content-type: text/plain; charset=utf-8", b"www-authenticate: Bearer")
        assert answered(refuse, LAST_GET) == whole("401 Unauthorized", words, *headers)

    def test_a_defect_is_told_without_a_word_about_it(self) -> None:
        async def break_down(_: ServerRequest) -> ServerResponse:
            raise RuntimeError("the secret is 42")

        assert answered(break_down, LAST_GET) == refusal("500 Internal Server Error", b"Something went wrong here.")


class Pieces:
    """Numbers, one by one. `closed` is set when nobody wants more."""

    def __init__(self, count: int, wait: Callable[[], Awaitable[object]], size: int = 1) -> None:
        self.count = count
        self.wait = wait
        self.size = size
        self.given = 0
        self.closed = asyncio.Event()

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        while self.given < self.count:
            await self.wait()
            self.given += 1
            yield b"%d" % self.given * self.size

    async def aclose(self) -> None:
        self.closed.set()


async def now() -> None:
    await asyncio.sleep(0)


class TestStreaming:
    def test_pieces_go_out_as_they_come(self) -> None:
        async def main() -> tuple[bytes, bytes, bool]:
            more = asyncio.Queue[None]()
            pieces = Pieces(2, more.get)

            async def stream(_: ServerRequest) -> ServerResponse:
                return ServerResponse(200, stream=pieces)

            async with served(stream) as serving:
                reader, writer = await asyncio.open_connection("127.0.0.1", serving.port)
                writer.write(LAST_GET)
                await reader.readuntil(b"\r\n\r\n")
                more.put_nowait(None)
                first = await reader.readuntil(b"1\r\n1\r\n")
                more.put_nowait(None)
                rest = await reader.read()
                writer.close()
                return first, rest, pieces.closed.is_set()

        assert run_checked(main()) == (b"1\r\n1\r\n", b"1\r\n2\r\n0\r\n\r\n", True)

    def test_a_client_that_leaves_ends_the_answer(self) -> None:
        async def main() -> int:
            pieces = Pieces(1_000_000, lambda: asyncio.sleep(0.01))

            async def stream(_: ServerRequest) -> ServerResponse:
                return ServerResponse(200, stream=pieces)

            async with served(stream) as serving:
                reader, writer = await asyncio.open_connection("127.0.0.1", serving.port)
                writer.write(GET)
                await reader.readuntil(b"1\r\n1\r\n")
                writer.close()
                async with asyncio.timeout(20):
                    await pieces.closed.wait()
                return pieces.given

        assert run_checked(main()) < 1_000_000

    def test_a_client_that_leaves_ends_the_work_for_it(self) -> None:
        async def main() -> None:
            begun, cancelled = asyncio.Event(), asyncio.Event()

            async def wait(_: ServerRequest) -> ServerResponse:
                begun.set()
                try:
                    await asyncio.sleep(3600)
                finally:
                    cancelled.set()
                raise AssertionError

            async with served(wait) as serving:
                _, writer = await asyncio.open_connection("127.0.0.1", serving.port)
                writer.write(GET)
                await begun.wait()
                writer.close()
                async with asyncio.timeout(20):
                    await cancelled.wait()

        run_checked(main())

    def test_a_client_that_takes_nothing_is_left_and_holds_nothing_up(self) -> None:
        async def main() -> tuple[int, bytes]:
            pieces = Pieces(100_000, now, size=65_536)

            async def stream(request: ServerRequest) -> ServerResponse:
                return ServerResponse(200, stream=pieces) if request.path == "/stream" else await echo(request)

            async with served(stream, ServerLimits(write_seconds=0.5)) as serving:
                _, writer = await asyncio.open_connection("127.0.0.1", serving.port, limit=1)
                writer.write(GET.replace(b" / ", b" /stream "))
                meanwhile = await say(serving, LAST_GET, end=False)
                async with asyncio.timeout(30):
                    await pieces.closed.wait()
                writer.transport.abort()
                return pieces.given, meanwhile[-6:]

        given, meanwhile = run_checked(main())
        assert given < 1_000, "the rest was made for nobody"
        assert meanwhile == b"GET / "

    def test_an_answer_that_cannot_go_on_is_cut_off(self) -> None:
        async def fail() -> None:
            raise RuntimeError("the secret is 42")

        async def stream(_: ServerRequest) -> ServerResponse:
            return ServerResponse(200, stream=Pieces(1, fail))

        heard = b""
        with suppress(ConnectionResetError):
            heard = answered(stream, LAST_GET)
        assert b"0\r\n\r\n" not in heard
        assert b"42" not in heard


class TestLimits:
    def test_a_body_that_is_too_long_is_refused_and_not_kept(self) -> None:
        said = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n" + b"x" * 1000
        expected = refusal("413 Content Too Large", b"The body is longer than 100 bytes.")
        found = answered(echo, said, limits=ServerLimits(body=100))
        assert found.partition(b"\r\n")[2] == expected.partition(b"\r\n")[2]
        assert found.startswith(b"HTTP/1.1 413 ")

    def test_headers_that_are_too_long(self) -> None:
        said = b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"x" * 5000
        assert answered(echo, said, limits=ServerLimits(head=1000)).startswith(b"HTTP/1.1 431 ")
        assert answered(echo, said + b"\r\n\r\n", limits=ServerLimits(head=1000)).startswith(b"HTTP/1.1 431 ")

    def test_a_body_that_does_not_come(self) -> None:
        said = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nx"
        assert answered(echo, said, limits=ServerLimits(body_seconds=0.2)) == refusal(
            "408 Request Timeout", b"The body did not come in time."
        )

    def test_a_body_that_is_broken_off(self) -> None:
        said = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nx"
        assert answered(echo, said, end=True).startswith(b"HTTP/1.1 400 ")

    @pytest.mark.parametrize(
        ("said", "limits", "count"),
        [
            (b"", ServerLimits(head_seconds=0.2), 0),
            (b"GET / HT", ServerLimits(head_seconds=0.2), 0),
            (GET, ServerLimits(idle_seconds=0.2), 1),
        ],
    )
    def test_whoever_says_nothing_is_left(self, said: bytes, limits: ServerLimits, count: int) -> None:
        assert answered(echo, said, limits=limits).count(b"HTTP/1.1 200 ") == count

    def test_a_flood_of_silent_connections_locks_nobody_out(self) -> None:
        async def main() -> bytes:
            async with served(echo, ServerLimits(connections=2)) as serving:
                flood = [await asyncio.open_connection("127.0.0.1", serving.port) for _ in range(40)]
                flood[-1][1].write(b"GET / HT")
                answer = await say(serving, LAST_GET, end=False)
                # The last one may stay.
                ends = [asyncio.create_task(_end_of(reader)) for reader, _ in flood]
                for end in islice(asyncio.as_completed(ends), 39):
                    await end
                for end in ends:
                    end.cancel()
                for _, writer in flood:
                    writer.close()
                return answer

        assert run_checked(main()).startswith(b"HTTP/1.1 200 ")

    def test_a_client_that_has_been_answered_stays_longer_than_silent_ones(self) -> None:
        async def main() -> bytes:
            async with served(echo, ServerLimits(connections=2)) as serving:
                reader, writer = await asyncio.open_connection("127.0.0.1", serving.port)
                writer.write(GET)
                await reader.readuntil(b"GET / ")
                silent = [await asyncio.open_connection("127.0.0.1", serving.port) for _ in range(10)]
                answer = await say(serving, LAST_GET, end=False)
                assert answer.startswith(b"HTTP/1.1 200 ")
                writer.write(LAST_GET)
                rest = await reader.read()
                for _, each in [(reader, writer), *silent]:
                    each.close()
                return rest[-6:]

        assert run_checked(main()) == b"GET / "

    def test_too_many_connections_with_work_to_do(self) -> None:
        async def main() -> tuple[bytes, bytes]:
            is_working, go_on = asyncio.Event(), asyncio.Event()

            async def work(request: ServerRequest) -> ServerResponse:
                is_working.set()
                await go_on.wait()
                return await echo(request)

            async with served(work, ServerLimits(connections=1)) as serving:
                reader, writer = await asyncio.open_connection("127.0.0.1", serving.port)
                writer.write(LAST_GET)
                await is_working.wait()
                turned_away = await say(serving, LAST_GET, end=False)
                go_on.set()
                rest = await reader.read()
                writer.close()
                return turned_away, rest[-6:]

        turned_away, rest = run_checked(main())
        assert turned_away == refusal("503 Service Unavailable", b"Too many connections.")
        assert rest == b"GET / "

    def test_what_is_not_http(self) -> None:
        assert answered(echo, b"\x16\x03\x01\x02\x00 hello\r\n\r\n") == refusal(
            "400 Bad Request", b"This is not HTTP/1.1."
        )

    def test_a_body_that_nobody_reads_ends_the_connection(self) -> None:
        async def refuse(_: ServerRequest) -> ServerResponse:
            raise HttpError(401, "No.")

        said = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n" + b"x" * 200_000 + GET
        assert answered(refuse, said) == refusal("401 Unauthorized", b"No.")

    def test_who_says_too_much_before_the_answer_is_left(self) -> None:
        async def main() -> None:
            cancelled = asyncio.Event()

            async def wait(_: ServerRequest) -> ServerResponse:
                try:
                    await asyncio.sleep(3600)
                finally:
                    cancelled.set()
                raise AssertionError

            async with served(wait, ServerLimits(head=1000)) as serving:
                _, writer = await asyncio.open_connection("127.0.0.1", serving.port)
                writer.write(GET + b"x" * 200_000)
                async with asyncio.timeout(20):
                    await cancelled.wait()
                writer.transport.abort()

        run_checked(main())

    @settings(max_examples=12)  # a server that refuses listens for a moment before it hangs up
    @given(said=st.binary(max_size=200))
    def test_anything_may_be_said(self, said: bytes) -> None:
        heard = answered(echo, said, end=True)
        assert heard == b"" or heard.startswith(b"HTTP/1.1 ")


class TestClosing:
    def test_an_answer_on_its_way_is_finished_within_the_patience(self) -> None:
        async def main() -> bytes:
            begun = asyncio.Event()

            async def wait(_: ServerRequest) -> ServerResponse:
                begun.set()
                await asyncio.sleep(0.2)
                return ServerResponse(200, body=b"done")

            serving = await serve(wait)
            reader, writer = await asyncio.open_connection("127.0.0.1", serving.port)
            writer.write(GET)
            await begun.wait()
            await serving.close(grace_seconds=20)
            heard = await reader.read()
            writer.close()
            return heard[-4:]

        assert run_checked(main()) == b"done"

    def test_what_takes_longer_is_cancelled(self) -> None:
        async def main() -> None:
            begun, cancelled = asyncio.Event(), asyncio.Event()

            async def wait(_: ServerRequest) -> ServerResponse:
                begun.set()
                try:
                    await asyncio.sleep(3600)
                finally:
                    cancelled.set()
                raise AssertionError

            serving = await serve(wait)
            _, writer = await asyncio.open_connection("127.0.0.1", serving.port)
            writer.write(GET)
            await begun.wait()
            await serving.close(grace_seconds=0)
            assert cancelled.is_set()
            writer.close()
            with pytest.raises(ConnectionRefusedError):
                await asyncio.open_connection("127.0.0.1", serving.port)

        run_checked(main())

    def test_a_port_that_is_taken(self) -> None:
        async def main() -> None:
            async with served(echo) as serving:
                with pytest.raises(OSError, match="address already in use"):
                    await serve(echo, port=serving.port)

        run_checked(main())


async def _end_of(reader: asyncio.StreamReader) -> None:
    with suppress(ConnectionError):
        await reader.read()
