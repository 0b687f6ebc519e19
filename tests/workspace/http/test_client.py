"""The client as its callers use it, against real servers on this machine."""

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable, Mapping

import pytest

from support.certificates import Certificates, make_certificates
from support.descriptors import count_leaked, count_open
from support.raw_server import Peer, RawServer, raw_server, run_checked
from tejat.workspace.http.client import HttpClient
from tejat.workspace.http.types import HttpFailure, HttpFailureKind, HttpLimits

OK = b"HTTP/1.1 200 OK\r\n"
HELLO = OK + b"Content-Length: 5\r\n\r\nhello"
Heard = list[tuple[str, dict[str, str], bytes]]


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("certificates"))


def saying(said: bytes, heard: Heard | None = None) -> Callable[[Peer], Awaitable[None]]:
    """Answers every request in the same way, for as long as the connection lives."""

    async def answer(peer: Peer) -> None:
        while True:
            request = await peer.request()
            if heard is not None:
                heard.append(request)
            await peer.send(said)

    return answer


def with_client(
    answer: Callable[[Peer], Awaitable[None]],
    work: Callable[[HttpClient, RawServer], Awaitable[object]],
    *,
    environment: Mapping[str, str] | None = None,
    limits: HttpLimits | None = None,
) -> object:
    async def main() -> object:
        async with raw_server(answer) as server:
            client = HttpClient(environment=environment or {}, limits=limits or HttpLimits())
            try:
                return await work(client, server)
            finally:
                await client.close()

    return run_checked(main())


async def get(client: HttpClient, url: str) -> bytes:
    async with client.request("GET", url) as response:
        return await response.read(1000)


class TestRequests:
    def heard_by(self, method: str, target: str, headers: Mapping[str, str], body: bytes | list[bytes]) -> Heard:
        heard: Heard = []

        async def work(client: HttpClient, server: RawServer) -> None:
            async with client.request(method, f"{server.url}{target}", headers=headers, body=body) as response:
                assert (response.status, await response.read(5)) == (200, b"hello")
            assert heard[0][1].pop("host") == f"127.0.0.1:{server.port}"

        with_client(saying(HELLO, heard), work)
        return heard

    def test_a_plain_question(self) -> None:
        usual = {"accept": "*/*", "accept-encoding": "identity", "user-agent": "tejat"}
        assert self.heard_by("GET", "/a?b=c#d", {}, b"") == [("GET /a?b=c HTTP/1.1", usual, b"")]

    def test_the_headers_of_the_caller_come_before_ours(self) -> None:
        given = {"ACCEPT": "text/html", "accept-encoding": "gzip", "User-agent": "other", "X-Key": "k"}
        expected = {"accept": "text/html", "accept-encoding": "gzip", "user-agent": "other", "x-key": "k"}
        assert self.heard_by("GET", "/", given, b"") == [("GET / HTTP/1.1", expected, b"")]

    @pytest.mark.parametrize(("body", "whole"), [(b"", b""), (b"abc", b"abc"), ([b"a", b"bc"], b"abc"), ([], b"")])
    def test_a_body_of_one_piece_or_several(self, body: bytes | list[bytes], whole: bytes) -> None:
        ((line, headers, heard),) = self.heard_by("POST", "/", {}, body)
        assert (line, headers["content-length"], heard) == ("POST / HTTP/1.1", str(len(whole)), whole)

    @pytest.mark.parametrize(
        "name", ["Host", "content-length", "Transfer-Encoding", "Connection", "", "a b", "a\r\nb", "ü"]
    )
    def test_a_header_that_the_caller_may_not_set(self, name: str) -> None:
        self.refused({name: "secret"})

    @pytest.mark.parametrize("value", ["secret\n", "secret\r\nX: y", " secret", "secret ", "secret\0", "secretü"])
    def test_a_value_that_cannot_be_sent_is_not_repeated(self, value: str) -> None:
        self.refused({"x-key": value})

    def refused(self, headers: Mapping[str, str]) -> None:
        async def main() -> None:
            async with HttpClient(environment={}).request("GET", "http://a.test/", headers=headers):
                pass

        with pytest.raises(HttpFailure) as caught:
            run_checked(main())
        assert caught.value.kind is HttpFailureKind.BAD_HEADER
        assert "secret" not in str(caught.value)
        assert caught.value.__context__ is None

    def test_a_redirect_is_only_reported(self) -> None:
        async def work(client: HttpClient, server: RawServer) -> tuple[int, str | None]:
            async with client.request("GET", server.url) as response:
                return response.status, response.headers.get("location")

        said = b"HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n"
        assert with_client(saying(said), work) == (302, "/elsewhere")

    def test_pieces_come_as_they_are_sent(self) -> None:
        go_on = asyncio.Event()

        async def answer(peer: Peer) -> None:
            await peer.request()
            await peer.send(OK + b"Transfer-Encoding: chunked\r\n\r\n")
            for piece in (b"a", b"b", b"c"):
                await peer.send(b"1\r\n%b\r\n" % piece)
                await go_on.wait()
                go_on.clear()
            await peer.send(b"0\r\n\r\n")
            await peer.wait_closed()

        async def work(client: HttpClient, server: RawServer) -> list[bytes]:
            found: list[bytes] = []
            async with client.request("GET", server.url) as response:
                async for piece in response:
                    found.append(piece)
                    go_on.set()
            return found

        assert with_client(answer, work) == [b"a", b"b", b"c"]


class TestKeptConnections:
    def test_one_after_the_other_over_the_same(self) -> None:
        async def work(client: HttpClient, server: RawServer) -> int:
            for _ in range(20):
                assert await get(client, server.url) == b"hello"
            return server.connections

        assert with_client(saying(HELLO), work) == 1

    def test_many_at_once(self) -> None:
        async def work(client: HttpClient, server: RawServer) -> None:
            found = await asyncio.gather(*(get(client, f"{server.url}/{number}") for number in range(50)))
            assert found == [b"hello"] * 50
            assert server.connections == 50
            assert await asyncio.gather(*(get(client, server.url) for _ in range(4))) == [b"hello"] * 4
            assert server.connections == 50

        with_client(saying(HELLO), work)

    def test_a_body_that_was_not_read_costs_the_connection(self) -> None:
        async def work(client: HttpClient, server: RawServer) -> int:
            for _ in range(3):
                async with client.request("GET", server.url) as response:
                    assert response.status == 200
            return server.connections

        assert with_client(saying(OK + b"Content-Length: 10\r\n\r\n"), work) == 3

    def test_but_not_if_nothing_but_its_end_was_left_to_read(self) -> None:
        async def work(client: HttpClient, server: RawServer) -> int:
            for _ in range(3):
                async with client.request("GET", server.url) as response:
                    async for piece in response:
                        assert piece == b"done"
                        break
            return server.connections

        said = OK + b"Transfer-Encoding: chunked\r\n\r\n4\r\ndone\r\n0\r\n\r\n"
        assert with_client(saying(said), work) == 1

    def test_a_connection_that_the_server_closed_meanwhile(self) -> None:
        async def answer(peer: Peer) -> None:
            await peer.request()
            await peer.send(HELLO)

        async def work(client: HttpClient, server: RawServer) -> int:
            for _ in range(3):
                assert await get(client, server.url) == b"hello"
                await asyncio.sleep(0.05)
            return server.connections

        assert with_client(answer, work) == 3

    def test_a_connection_that_dies_as_it_is_used_again(self) -> None:
        """The second request is heard on the old connection, not answered, and sent again on a new one."""
        heard: Heard = []

        async def answer(peer: Peer) -> None:
            heard.append(await peer.request())
            await peer.send(HELLO)
            if len(heard) == 1:
                heard.append(await peer.request())
                peer.reset()
            else:
                await peer.wait_closed()

        async def work(client: HttpClient, server: RawServer) -> int:
            for body in (b"one", b"two"):
                async with client.request("POST", server.url, body=[body]) as response:
                    assert await response.read(5) == b"hello"
            return server.connections

        assert with_client(answer, work) == 2
        assert [body for _, _, body in heard] == [b"one", b"two", b"two"]

    def test_what_counts_is_sent_over_a_connection_of_its_own(self) -> None:
        """A kept one might die as it is used again, and nobody would know whether the request has arrived."""

        async def work(client: HttpClient, server: RawServer) -> list[int]:
            seen: list[int] = []
            for once in (False, True, False):
                async with client.request("POST", server.url, body=b"x", new_connection=once) as response:
                    await response.read(5)
                seen.append(server.connections)
            return seen

        assert with_client(saying(HELLO), work) == [1, 2, 2]

    def test_it_is_not_sent_a_third_time(self) -> None:
        heard: Heard = []

        async def answer(peer: Peer) -> None:
            heard.append(await peer.request())
            if len(heard) == 1:
                await peer.send(HELLO)
                heard.append(await peer.request())

        async def work(client: HttpClient, server: RawServer) -> HttpFailure:
            await get(client, server.url)
            with pytest.raises(HttpFailure) as caught:
                await get(client, server.url)
            return caught.value

        failure = with_client(answer, work)
        assert isinstance(failure, HttpFailure)
        assert failure.kind is HttpFailureKind.DISCONNECTED
        assert len(heard) == 3

    def test_nor_a_second_time_once_the_answer_has_begun_or_time_has_run_out(self) -> None:
        for second, problem in (
            (b"HTTP/1.1 2", HttpFailureKind.DISCONNECTED),
            (None, HttpFailureKind.TIMED_OUT_FIRST_BYTE),
        ):
            heard: Heard = []

            async def answer(peer: Peer, second: bytes | None = second, heard: Heard = heard) -> None:
                heard.append(await peer.request())
                await peer.send(HELLO)
                heard.append(await peer.request())
                if second is None:
                    await peer.wait_closed()
                else:
                    await peer.send(second)

            async def work(client: HttpClient, server: RawServer) -> HttpFailure:
                await get(client, server.url)
                with pytest.raises(HttpFailure) as caught:
                    await get(client, server.url)
                return caught.value

            failure = with_client(answer, work, limits=HttpLimits(first_byte=0.3))
            assert isinstance(failure, HttpFailure)
            assert failure.kind is problem
            assert len(heard) == 2

    def test_a_dialled_connection_is_never_shared(self) -> None:
        async def work(client: HttpClient, server: RawServer) -> int:
            async def resolver(host: str, port: int) -> tuple[str, int]:
                assert (host, port) == ("a.test", 80)
                return "127.0.0.1", server.port

            for _ in range(2):
                await get(client, server.url)
                async with client.request("GET", "http://a.test/", resolver=resolver) as response:
                    assert await response.read(5) == b"hello"
            return server.connections

        heard: Heard = []
        proxied = {"ALL_PROXY": "http://127.0.0.1:1"}
        assert with_client(saying(HELLO, heard), work, environment=proxied) == 3
        hosts = [headers["host"] for _, headers, _ in heard]
        assert hosts[1::2] == ["a.test", "a.test"]


class TestProxies:
    def test_a_plain_server_is_asked_for_by_its_whole_address(self) -> None:
        heard: Heard = []

        async def main() -> None:
            async with raw_server(saying(HELLO, heard)) as server:
                client = HttpClient(environment={"HTTP_PROXY": f"http://me:word@127.0.0.1:{server.port}"})
                for _ in range(2):
                    assert await get(client, "http://a.test:8080/b?c") == b"hello"
                assert server.connections == 1
                await client.close()

        run_checked(main())
        assert [(line, headers["host"], headers["proxy-authorization"]) for line, headers, _ in heard] == [
            ("GET http://a.test:8080/b?c HTTP/1.1", "a.test:8080", "Basic bWU6d29yZA==")
        ] * 2

    def test_a_secure_server_through_a_tunnel(self, certificates: Certificates) -> None:
        heard: Heard = []

        async def proxy(peer: Peer) -> None:
            heard.append(await peer.request())
            await peer.send(b"HTTP/1.1 200 OK\r\n\r\n")
            await peer.start_tls(certificates.server)
            await saying(HELLO, heard)(peer)

        async def main() -> None:
            async with raw_server(proxy) as server:
                environment = {
                    "https_proxy": f"http://me:word@127.0.0.1:{server.port}",
                    "SSL_CERT_FILE": str(certificates.authority),
                }
                client = HttpClient(environment=environment)
                client.warm_up()
                for _ in range(2):
                    assert await get(client, "https://service.test/b") == b"hello"
                assert server.connections == 1
                await client.close()

        run_checked(main())
        assert [line for line, _, _ in heard] == ["CONNECT service.test:443 HTTP/1.1"] + ["GET /b HTTP/1.1"] * 2
        assert ["proxy-authorization" in headers for _, headers, _ in heard] == [True, False, False]

    def test_who_would_be_reached_through_a_proxy(self) -> None:
        client = HttpClient(environment={"https_proxy": "http://127.0.0.1:1", "no_proxy": "inside.example"})
        urls = ("https://x.example/", "http://x.example/", "https://inside.example/")
        assert [client.uses_proxy(url) for url in urls] == [True, False, False]

    def test_a_proxy_that_wants_a_password(self) -> None:
        async def main() -> None:
            async with raw_server(saying(b"HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n")) as server:
                client = HttpClient(environment={"HTTP_PROXY": f"http://me:secret@127.0.0.1:{server.port}"})
                try:
                    await get(client, "http://a.test/")
                finally:
                    await client.close()

        with pytest.raises(HttpFailure) as caught:
            run_checked(main())
        assert caught.value.kind is HttpFailureKind.PROXY
        assert str(caught.value) == "The proxy requires a user name and password, or rejected them."

    def test_a_server_that_speaks_of_a_proxy_is_only_reported(self) -> None:
        async def work(client: HttpClient, server: RawServer) -> int:
            async with client.request("GET", server.url) as response:
                return response.status

        assert with_client(saying(b"HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n"), work) == 407

    def test_they_can_be_left_out(self) -> None:
        async def main() -> bytes:
            async with raw_server(saying(HELLO)) as server:

                async def resolver(_host: str, _port: int) -> tuple[str, int]:
                    return "127.0.0.1", server.port

                client = HttpClient(environment={"ALL_PROXY": "nonsense://"}, use_proxies=False)
                async with client.request("GET", "http://a.test/", resolver=resolver) as response:
                    return await response.read(5)

        assert run_checked(main()) == b"hello"
        environment = {"ALL_PROXY": "nonsense://"}
        with pytest.raises(HttpFailure) as caught:
            run_checked(get(HttpClient(environment=environment), "http://a.test/"))
        assert caught.value.kind is HttpFailureKind.PROXY


class TestFailures:
    def test_limits_of_one_request_win_over_those_of_the_client(self) -> None:
        async def work(client: HttpClient, server: RawServer) -> None:
            async with client.request("GET", server.url, limits=HttpLimits(body=4)) as response:
                with pytest.raises(HttpFailure) as caught:
                    await response.read(100)
                assert caught.value.kind is HttpFailureKind.TOO_LARGE
            async with client.request("GET", server.url) as response:
                assert await response.read(100) == b"hello"

        with_client(saying(HELLO), work, limits=HttpLimits(body=5))

    def test_no_failure_tells_what_was_asked(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as gone:
            port = gone.getsockname()[1]

        async def main() -> None:
            url = f"http://127.0.0.1:{port}/secret?key=secret"
            async with HttpClient(environment={}).request("GET", url, headers={"x-key": "secret"}, body=b"secret"):
                pass

        with pytest.raises(HttpFailure) as caught:
            run_checked(main())
        assert caught.value.kind is HttpFailureKind.CONNECT
        assert str(caught.value) == f"Could not connect to 127.0.0.1:{port}: Connection refused."

    def test_a_bad_url(self) -> None:
        with pytest.raises(HttpFailure) as caught:
            run_checked(get(HttpClient(environment={}), "http://me:secret@a.test/"))
        assert caught.value.kind is HttpFailureKind.BAD_URL

    def test_an_error_of_the_caller_ends_the_request(self) -> None:
        closed = asyncio.Event()

        async def answer(peer: Peer) -> None:
            await peer.request()
            await peer.send(OK + b"Content-Length: 10\r\n\r\n")
            await peer.wait_closed()
            closed.set()

        async def work(client: HttpClient, server: RawServer) -> None:
            with pytest.raises(LookupError):
                async with client.request("GET", server.url):
                    raise LookupError
            async with asyncio.timeout(60):
                await closed.wait()

        with_client(answer, work)

    @pytest.mark.parametrize("framing", [b"Content-Length: 10\r\n\r\n", b"\r\nhalf"])
    def test_closing_the_client_ends_what_is_under_way(self, framing: bytes) -> None:
        async def work(client: HttpClient, server: RawServer) -> HttpFailureKind:
            async with client.request("GET", server.url) as response:
                await client.close()
                with pytest.raises(HttpFailure) as caught:
                    await response.read(10)
            return caught.value.kind

        assert with_client(saying(OK + framing), work) is HttpFailureKind.DISCONNECTED


class TestCancelling:
    @pytest.mark.parametrize(
        ("said", "body"),
        [
            (None, bytes(20_000_000)),
            (b"", b""),
            (b"HTTP/1.1 2", b""),
            (OK + b"Content-Length: 10\r\n\r\n", b""),
            (OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhel", b""),
        ],
        ids=["sending", "waiting", "head", "body", "chunk"],
    )
    def test_at_every_stage_the_connection_is_closed_at_once(self, said: bytes | None, body: bytes) -> None:
        closed = asyncio.Event()

        async def answer(peer: Peer) -> None:
            if said is not None:
                await peer.request()
                await peer.send(said)
            else:
                await asyncio.sleep(0.3)  # heard nothing while it was being sent
            assert await peer.wait_closed()
            closed.set()

        async def work(client: HttpClient, server: RawServer) -> None:
            async def ask() -> None:
                async with client.request("POST", server.url, body=body) as response:
                    await response.read(100)

            asking = asyncio.create_task(ask())
            await asyncio.sleep(0.2)
            assert not asking.done()
            asking.cancel()
            await asyncio.wait([asking])
            assert asking.cancelled()
            async with asyncio.timeout(60):
                await closed.wait()

        with_client(answer, work)

    def test_one_of_many(self) -> None:
        async def answer(peer: Peer) -> None:
            line, _, _ = await peer.request()
            if "/slow" in line:
                await peer.wait_closed()
            await asyncio.sleep(0.1)
            await peer.send(HELLO)
            await peer.wait_closed()

        async def work(client: HttpClient, server: RawServer) -> list[bytes]:
            slow = [asyncio.create_task(get(client, f"{server.url}/slow")) for _ in range(10)]
            quick = [asyncio.create_task(get(client, f"{server.url}/quick")) for _ in range(10)]
            await asyncio.sleep(0.05)
            for task in slow:
                task.cancel()
            return await asyncio.gather(*quick)

        assert with_client(answer, work) == [b"hello"] * 10


def test_nothing_is_opened_before_it_is_wanted() -> None:
    threads, opened = set(threading.enumerate()), count_open()
    HttpClient(environment={"SSL_CERT_FILE": "/nowhere", "ALL_PROXY": "nonsense://"})
    assert not set(threading.enumerate()) - threads
    assert count_leaked(opened) == 0
