"""Whichever address is alive is found, and no attempt is left open."""

import asyncio
import socket
import time
from collections.abc import Generator
from contextlib import contextmanager

import pytest

from support.raw_server import run_checked
from tejat.workspace.http.connect import Address, connect_to_address, connect_to_any, connect_to_host, put_ipv4_first
from tejat.workspace.http.types import HttpFailure, HttpFailureKind


@contextmanager
def listening() -> Generator[Address]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield socket.AF_INET, server.getsockname()


@contextmanager
def black_hole() -> Generator[Address]:
    """An address that lets nobody in and says nothing about it: its queue is full."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        queued = [socket.socket() for _ in range(4)]
        for waiting in queued:
            waiting.setblocking(False)
            waiting.connect_ex(server.getsockname())
        time.sleep(0.05)
        yield socket.AF_INET, server.getsockname()
        for waiting in queued:
            waiting.close()


def refusing() -> Address:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return socket.AF_INET, server.getsockname()


def peer_of(*addresses: Address) -> tuple[str, int]:
    async def main() -> tuple[str, int]:
        with await connect_to_any(addresses, where="a.test:80") as connection:
            assert connection.getblocking() is False
            return connection.getpeername()

    return run_checked(main())


class TestFirstConnected:
    def test_the_first_address_if_it_is_alive(self) -> None:
        with listening() as alive, listening() as other:
            assert peer_of(alive, other) == alive[1]

    def test_the_next_at_once_if_it_refuses(self) -> None:
        with listening() as alive:
            start = time.monotonic()
            assert peer_of(*(refusing() for _ in range(60)), alive) == alive[1]
            assert time.monotonic() - start < 12  # a quarter of a second for each would be more

    def test_the_next_soon_if_it_is_silent(self) -> None:
        with black_hole() as silent, listening() as alive:
            start = time.monotonic()
            assert peer_of(silent, alive) == alive[1]
            assert 0.2 < time.monotonic() - start < 30

    def test_a_family_that_does_not_work_here(self) -> None:
        with listening() as alive:
            nowhere: Address = (socket.AF_INET6, ("100::1", 9, 0, 0))  # the block for discarding
            assert peer_of(nowhere, alive) == alive[1]

    def test_a_refusal_does_not_end_the_wait_for_a_slower_one(self) -> None:
        with black_hole() as silent, listening() as alive:
            assert peer_of(silent, refusing(), alive) == alive[1]

    def test_nobody_is_alive(self) -> None:
        async def main() -> None:
            await connect_to_any([refusing(), refusing()], where="a.test:80")

        with pytest.raises(HttpFailure) as caught:
            run_checked(main())
        assert caught.value.kind is HttpFailureKind.CONNECT
        assert str(caught.value) == "Could not connect to a.test:80: Connection refused."

    def test_whoever_is_cancelled_leaves_nothing_behind(self) -> None:
        async def main(silent: Address) -> bool:
            connecting = asyncio.create_task(connect_to_any([silent, silent, silent], where="a.test:80"))
            await asyncio.sleep(0.3)
            connecting.cancel()
            await asyncio.wait([connecting])
            return connecting.cancelled()

        with black_hole() as silent:
            assert run_checked(main(silent))


class TestConnectedToAddress:
    def test_an_address(self) -> None:
        async def main(port: int) -> tuple[str, int]:
            with await connect_to_address("127.0.0.1", port, where="a.test:80") as connection:
                return connection.getpeername()

        with listening() as (_, address):
            assert run_checked(main(address[1])) == address

    @pytest.mark.parametrize("name", ["localhost", "", "ü"])
    def test_a_name_is_not_looked_up(self, name: str) -> None:
        async def main(port: int) -> None:
            await connect_to_address(name, port, where="a.test:80")

        with listening() as (_, address), pytest.raises(HttpFailure) as caught:
            run_checked(main(address[1]))
        assert caught.value.kind is HttpFailureKind.CONNECT
        assert str(caught.value) == "Could not connect to a.test:80: no address responded."


class TestConnectedSocket:
    @pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
    def test_by_address_and_by_name(self, host: str) -> None:
        async def main(port: int) -> tuple[str, int]:
            with await connect_to_host(host, port) as connection:
                return connection.getpeername()

        with listening() as (_, address):
            assert run_checked(main(address[1])) == address

    def test_a_name_that_nobody_has(self) -> None:
        async def main() -> None:
            await connect_to_host("no..name", 80)  # not even worth asking for

        with pytest.raises(HttpFailure) as caught:
            run_checked(main())
        assert (caught.value.kind, str(caught.value)) == (
            HttpFailureKind.DNS,
            "Could not resolve no..name.",
        )

    def test_an_address_in_brackets_in_the_message(self) -> None:
        async def main() -> None:
            await connect_to_host("::ffff:127.0.0.1", refusing()[1][1])

        with pytest.raises(HttpFailure, match=r"^Could not connect to \[::ffff:127\.0\.0\.1\]:\d+: ") as caught:
            run_checked(main())
        assert caught.value.kind is HttpFailureKind.CONNECT


def test_ipv4_addresses_first() -> None:
    six = [(socket.AF_INET6, (f"::{number}", 1, 0, 0)) for number in range(2)]
    four = [(socket.AF_INET, (f"127.0.0.{number}", 1)) for number in range(2)]
    assert put_ipv4_first([six[0], four[0], six[1], four[1]]) == [*four, *six]


def test_a_host_is_reached_with_ipv4_first() -> None:
    async def connect() -> str:
        with await connect_to_host("localhost", port, ipv4_first=True) as connection:
            return connection.getpeername()[0]

    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert asyncio.run(connect()) == "127.0.0.1"
