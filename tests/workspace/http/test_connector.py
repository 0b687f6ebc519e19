"""New connections: straight, through proxies, over TLS, and what each of them can die of."""

import asyncio
import socket
import ssl
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from support.certificates import Certificates, make_certificates
from support.raw_server import Peer, raw_server, run_checked
from tejat.workspace.http.connector import open_connection
from tejat.workspace.http.deadline import RequestDeadline
from tejat.workspace.http.proxies import Proxy
from tejat.workspace.http.tls import CertificateStore
from tejat.workspace.http.types import AddressResolver, HttpFailure, HttpFailureKind, HttpLimits
from tejat.workspace.http.url import Origin


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("certificates"))


async def greet(peer: Peer) -> None:
    """Says who is there, and hears the rest out."""
    await peer.send(b"hello")
    await peer.wait_closed()


async def said_over(
    origin: Origin,
    *,
    proxy: Proxy | None = None,
    resolver: AddressResolver | None = None,
    certificate_store: CertificateStore | None = None,
    limits: HttpLimits | None = None,
) -> bytes:
    """The first bytes that come over a new connection to this origin."""
    loop = asyncio.get_running_loop()
    deadline = RequestDeadline(limits or HttpLimits(), where=origin.authority, clock=loop.time)
    connection = await open_connection(
        origin,
        proxy=proxy,
        resolver=resolver,
        certificate_store=certificate_store or CertificateStore({}),
        deadline=deadline,
    )
    try:
        async with asyncio.timeout(60):
            while not connection.stream.has_data:
                await connection.stream.wait(None)
        return connection.stream.read_available()
    finally:
        connection.stream.abort()
        await connection.stream.closed


def resolver_to(port: int) -> AddressResolver:
    async def resolver(host: str, given: int) -> tuple[str, int]:
        assert (host, given) == ("service.test", 443)
        return "127.0.0.1", port

    return resolver


def trusting(certificates: Certificates) -> CertificateStore:
    return CertificateStore({"SSL_CERT_FILE": str(certificates.authority)})


SERVICE = Origin("https", "service.test", 443)


def failure_of(work: Callable[[], object]) -> HttpFailure:
    with pytest.raises(HttpFailure) as caught:
        work()
    return caught.value


class TestStraight:
    def test_to_the_host(self) -> None:
        async def main() -> bytes:
            async with raw_server(greet) as server:
                return await said_over(Origin("http", "localhost", server.port))

        assert run_checked(main()) == b"hello"

    def test_what_is_left_of_a_request_is_sent_at_once(self) -> None:
        async def main() -> bool:
            async with raw_server(greet) as server:
                origin = Origin("http", "127.0.0.1", server.port)
                deadline = RequestDeadline(HttpLimits(), where=origin.authority, clock=asyncio.get_running_loop().time)
                connection = await open_connection(
                    origin, proxy=None, resolver=None, certificate_store=CertificateStore({}), deadline=deadline
                )
                transport = connection.stream._transport
                assert transport is not None
                found = transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
                connection.stream.abort()
                await connection.stream.closed
                return bool(found)

        assert run_checked(main())

    def test_to_the_address_that_the_caller_found(self) -> None:
        async def main() -> bytes:
            async with raw_server(greet) as server:

                async def resolver(host: str, port: int) -> tuple[str, int]:
                    assert (host, port) == ("a.test", 80)
                    return "127.0.0.1", server.port

                return await said_over(Origin("http", "a.test", 80), resolver=resolver)

        assert run_checked(main()) == b"hello"

    def test_what_the_caller_raises_comes_through(self) -> None:
        async def resolver(host: str, port: int) -> tuple[str, int]:
            raise LookupError(f"{host}:{port} is private")

        with pytest.raises(LookupError, match=r"a\.test:80 is private"):
            run_checked(said_over(Origin("http", "a.test", 80), resolver=resolver))

    def test_nobody_there(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as gone:
            port = gone.getsockname()[1]
        failure = failure_of(lambda: run_checked(said_over(Origin("http", "127.0.0.1", port))))
        assert failure.kind is HttpFailureKind.CONNECT


class TestTls:
    def test_a_server_that_we_trust(self, certificates: Certificates) -> None:
        async def main() -> bytes:
            async with raw_server(greet, context=certificates.server) as server:
                return await said_over(
                    SERVICE, resolver=resolver_to(server.port), certificate_store=trusting(certificates)
                )

        assert run_checked(main()) == b"hello"

    def test_by_its_address(self, certificates: Certificates) -> None:
        async def main() -> bytes:
            async with raw_server(greet, context=certificates.server) as server:
                return await said_over(
                    Origin("https", "127.0.0.1", server.port), certificate_store=trusting(certificates)
                )

        assert run_checked(main()) == b"hello"

    def test_a_name_with_its_final_dot(self, certificates: Certificates) -> None:
        async def main() -> bytes:
            async with raw_server(greet, context=certificates.server) as server:

                async def resolver(_host: str, _port: int) -> tuple[str, int]:
                    return "127.0.0.1", server.port

                return await said_over(
                    Origin("https", "service.test.", 443), resolver=resolver, certificate_store=trusting(certificates)
                )

        assert run_checked(main()) == b"hello"

    @pytest.mark.parametrize(
        ("kind", "host", "environment", "words"),
        [
            ("server", "service.test", {}, "unable to get local issuer certificate."),
            ("server", "localhost", {"SSL_CERT_FILE": "authority"}, "certificate is not valid for 'localhost'."),
            ("expired", "service.test", {"SSL_CERT_FILE": "authority"}, "certificate has expired."),
            (
                "server",
                "service.test",
                {"NODE_EXTRA_CA_CERTS": "/missing/secret"},
                "unable to get local issuer certificate. (Could not load NODE_EXTRA_CA_CERTS.)",
            ),
        ],
    )
    def test_a_server_that_we_do_not_trust(
        self, certificates: Certificates, kind: str, host: str, environment: dict[str, str], words: str
    ) -> None:
        given = {
            name: str(certificates.authority) if value == "authority" else value for name, value in environment.items()
        }

        async def main() -> None:
            context = certificates.server if kind == "server" else certificates.expired
            async with raw_server(greet, context=context) as server:

                async def resolver(_host: str, _port: int) -> tuple[str, int]:
                    return "127.0.0.1", server.port

                await said_over(
                    Origin("https", host, 443), resolver=resolver, certificate_store=CertificateStore(given)
                )

        failure = failure_of(lambda: run_checked(main()))
        assert failure.kind is HttpFailureKind.TLS
        assert str(failure).startswith(f"The certificate of {host}:443 is not trusted: ")
        assert str(failure).endswith(words)

    @pytest.mark.parametrize("speaks_first", [True, False])
    def test_a_server_without_tls(self, speaks_first: bool) -> None:
        async def plain(peer: Peer) -> None:
            if not speaks_first:
                await peer.reader.read(1)
            await peer.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            await peer.wait_closed()

        async def main() -> None:
            async with raw_server(plain) as server:
                await said_over(SERVICE, resolver=resolver_to(server.port))

        failure = failure_of(lambda: run_checked(main()))
        assert failure.kind is HttpFailureKind.TLS
        assert str(failure) == (
            "service.test:443 sent data before the TLS handshake."
            if speaks_first
            else "TLS handshake with service.test:443 failed: wrong version number."
        )

    def test_a_server_of_an_old_kind(self, certificates: Certificates, tmp_path: Path) -> None:
        make_certificates(tmp_path)
        old = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        old.load_cert_chain(tmp_path / "server.pem", tmp_path / "server.key")
        old.set_ciphers("AES128-SHA")
        old.maximum_version = ssl.TLSVersion.TLSv1_2

        async def main() -> None:
            async with raw_server(greet, context=old) as server:
                await said_over(SERVICE, resolver=resolver_to(server.port), certificate_store=trusting(certificates))

        assert failure_of(lambda: run_checked(main())).kind is HttpFailureKind.TLS

    def test_a_server_that_hangs_up(self) -> None:
        async def hang_up(peer: Peer) -> None:
            await peer.reader.read(1)

        async def main() -> None:
            async with raw_server(hang_up) as server:
                await said_over(SERVICE, resolver=resolver_to(server.port))

        failure = failure_of(lambda: run_checked(main()))
        assert failure.kind is HttpFailureKind.TLS
        assert str(failure) == "service.test:443 closed the connection during the TLS handshake."


async def deaf(_: Peer) -> None:
    await asyncio.sleep(30)


class TestLimits:
    LIMITS = HttpLimits(connect=0.3)

    def failure_through(self, stage: str, limits: HttpLimits) -> HttpFailure:
        async def main() -> None:
            async with raw_server(deaf) as server:
                if stage == "tls":
                    await said_over(SERVICE, resolver=resolver_to(server.port), limits=limits)
                proxy = Proxy(Origin("http", "127.0.0.1", server.port))
                await said_over(SERVICE, proxy=proxy, limits=limits)

        return failure_of(lambda: run_checked(main()))

    @pytest.mark.parametrize("stage", ["tls", "proxy"])
    def test_silence(self, stage: str) -> None:
        failure = self.failure_through(stage, HttpLimits(connect=0.3))
        assert failure.kind is HttpFailureKind.TIMED_OUT_CONNECT
        assert str(failure) == "Could not connect to service.test:443 within 0.3 s."

    @pytest.mark.parametrize("stage", ["tls", "proxy"])
    def test_the_whole_time(self, stage: str) -> None:
        failure = self.failure_through(stage, HttpLimits(connect=5, total=0.3))
        assert failure.kind is HttpFailureKind.TIMED_OUT_TOTAL

    def test_a_caller_who_takes_too_long_to_look_up(self) -> None:
        async def resolver(_host: str, _port: int) -> tuple[str, int]:
            await asyncio.sleep(30)
            return "127.0.0.1", 1

        failure = failure_of(lambda: run_checked(said_over(SERVICE, resolver=resolver, limits=HttpLimits(connect=0.1))))
        assert failure.kind is HttpFailureKind.TIMED_OUT_CONNECT

    def test_a_time_out_of_the_caller_is_not_ours(self) -> None:
        async def resolver(_host: str, _port: int) -> tuple[str, int]:
            raise TimeoutError("of its own")

        with pytest.raises(TimeoutError, match="of its own"):
            run_checked(said_over(SERVICE, resolver=resolver))


@pytest.mark.parametrize("stage", ["resolver", "tls", "proxy"])
def test_whoever_is_cancelled_leaves_nothing_behind(stage: str) -> None:
    async def main() -> bool:
        closed = asyncio.Event()

        async def watch(peer: Peer) -> None:
            assert await peer.wait_closed()
            closed.set()

        async def never(_host: str, _port: int) -> tuple[str, int]:
            return await asyncio.Future()

        async with raw_server(watch) as server:
            proxy = Proxy(Origin("http", "127.0.0.1", server.port)) if stage == "proxy" else None
            resolver = {"resolver": never, "tls": resolver_to(server.port), "proxy": None}[stage]
            opening = asyncio.create_task(said_over(SERVICE, proxy=proxy, resolver=resolver))
            await asyncio.sleep(0.2)
            opening.cancel()
            await asyncio.wait([opening])
            if stage != "resolver":
                async with asyncio.timeout(60):
                    await closed.wait()
            return opening.cancelled()

    assert run_checked(main())


class TestProxies:
    async def through(
        self,
        origin: Origin,
        answer: bytes,
        *,
        authorization: str = "",
        certificates: Certificates | None = None,
        is_secure: bool = False,
    ) -> tuple[bytes, list[tuple[str, dict[str, str]]]]:
        """What comes through a proxy that answers so and then becomes the server, and what the proxy was asked."""
        asked: list[tuple[str, dict[str, str]]] = []

        async def proxy(peer: Peer) -> None:
            line, headers, _ = await peer.request()
            asked.append((line, headers))
            await peer.send(answer)
            if certificates is not None:
                await peer.start_tls(certificates.server)
            await greet(peer)

        async with AsyncExitStack() as stack:
            context = certificates.server if certificates is not None and is_secure else None
            server = await stack.enter_async_context(raw_server(proxy, context=context))
            way = Proxy(Origin("https" if is_secure else "http", "127.0.0.1", server.port), authorization)
            certificate_store = CertificateStore({}) if certificates is None else trusting(certificates)
            return await said_over(origin, proxy=way, certificate_store=certificate_store), asked

    @pytest.mark.parametrize(
        "answer", [b"HTTP/1.1 200 Connection established\r\n\r\n", b"HTTP/1.0 200 OK\r\nX: y\r\n\r\n"]
    )
    def test_a_tunnel(self, certificates: Certificates, answer: bytes) -> None:
        assert run_checked(self.through(SERVICE, answer, certificates=certificates)) == (
            b"hello",
            [("CONNECT service.test:443 HTTP/1.1", {"host": "service.test:443"})],
        )

    def test_a_tunnel_with_a_password(self, certificates: Certificates) -> None:
        answer = b"HTTP/1.1 200 OK\r\n\r\n"
        found = run_checked(self.through(SERVICE, answer, certificates=certificates, authorization="Basic abc"))
        assert found == (
            b"hello",
            [
                (
                    "CONNECT service.test:443 HTTP/1.1",
                    {"host": "service.test:443", "proxy-authorization": "Basic abc"},
                )
            ],
        )

    @pytest.mark.parametrize(
        ("answer", "words"),
        [
            (b"HTTP/1.1 407 No\r\n\r\n", "requires a user name and password, or rejected them."),
            (b"HTTP/1.1 403 Forbidden\r\n\r\n", "returned 403 when asked to connect to service.test:443."),
            (b"HTTP/1.1 302 Go\r\nLocation: /\r\n\r\n", "returned 302 when asked to connect to service.test:443."),
            (b"SOCKS\r\n\r\n", "did not respond with HTTP/1.1. It was asked to connect to service.test:443."),
            (b"X" * 70_000, "sent too many headers. It was asked to connect to service.test:443."),
            (b"HTTP/1.1 200 OK\r\n\r\ninjected", "sent data before service.test:443 could."),
        ],
    )
    def test_a_proxy_that_refuses(self, answer: bytes, words: str) -> None:
        failure = failure_of(lambda: run_checked(self.through(SERVICE, answer, authorization="Basic secret")))
        assert failure.kind is HttpFailureKind.PROXY
        assert str(failure).startswith("The proxy 127.0.0.1:")
        assert str(failure).endswith(words)
        assert "secret" not in str(failure)

    def test_a_proxy_that_hangs_up(self) -> None:
        async def hang_up(peer: Peer) -> None:
            await peer.request()

        async def main() -> None:
            async with raw_server(hang_up) as server:
                await said_over(SERVICE, proxy=Proxy(Origin("http", "127.0.0.1", server.port)))

        failure = failure_of(lambda: run_checked(main()))
        assert failure.kind is HttpFailureKind.PROXY
        assert str(failure).endswith(
            "closed the connection before responding. It was asked to connect to service.test:443."
        )

    def test_a_proxy_that_is_not_there(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as gone:
            port = gone.getsockname()[1]
        proxy = Proxy(Origin("http", "127.0.0.1", port))
        failure = failure_of(lambda: run_checked(said_over(SERVICE, proxy=proxy)))
        assert failure.kind is HttpFailureKind.PROXY
        assert str(failure) == f"Could not reach the proxy. Could not connect to 127.0.0.1:{port}: Connection refused."

    def test_a_proxy_over_tls(self, certificates: Certificates) -> None:
        answer = b"HTTP/1.1 200 OK\r\n\r\n"
        found = run_checked(self.through(SERVICE, answer, certificates=certificates, is_secure=True))
        assert found == (b"hello", [("CONNECT service.test:443 HTTP/1.1", {"host": "service.test:443"})])

    def test_a_server_behind_a_proxy_whom_we_do_not_trust(self, certificates: Certificates) -> None:
        other = Origin("https", "other.test", 443)
        failure = failure_of(
            lambda: run_checked(self.through(other, b"HTTP/1.1 200 OK\r\n\r\n", certificates=certificates))
        )
        assert failure.kind is HttpFailureKind.TLS

    def test_a_plain_server_is_asked_for_without_a_tunnel(self) -> None:
        async def main() -> bytes:
            async with raw_server(greet) as server:
                proxy = Proxy(Origin("http", "127.0.0.1", server.port))
                return await said_over(Origin("http", "a.test", 80), proxy=proxy)

        assert run_checked(main()) == b"hello"
