"""Connections that wait for their next request."""

import asyncio
import socket

import pytest

from support.raw_server import Peer, raw_server, run_checked
from tejat.workspace.http import pool as module
from tejat.workspace.http.connection import HttpConnection
from tejat.workspace.http.pool import ConnectionPool, Route
from tejat.workspace.http.proxies import Proxy
from tejat.workspace.http.stream import SocketStream
from tejat.workspace.http.url import Origin

ONE: Route = (Origin("http", "one.test", 80), None)
TWO: Route = (Origin("https", "one.test", 80), None)
THREE: Route = (Origin("http", "one.test", 80), Proxy(Origin("http", "one.test", 80)))


async def connect(port: int, pool: ConnectionPool) -> HttpConnection:
    plain = socket.create_connection(("127.0.0.1", port))
    plain.setblocking(False)
    stream = SocketStream()
    await asyncio.get_running_loop().create_connection(lambda: stream, sock=plain)
    connection = HttpConnection(stream, where="one.test:80")
    pool.track(connection)
    return connection


async def listen(peer: Peer) -> None:
    await peer.wait_closed()


async def is_closed(connection: HttpConnection) -> bool:
    async with asyncio.timeout(60):
        await connection.stream.closed
    return True


def test_the_connection_that_was_used_last_comes_first() -> None:
    async def main() -> None:
        async with raw_server(listen) as server:
            pool = ConnectionPool()
            first, second = await connect(server.port, pool), await connect(server.port, pool)
            pool.release(ONE, first)
            pool.release(ONE, second)
            assert [pool.acquire(ONE), pool.acquire(ONE), pool.acquire(ONE)] == [second, first, None]
            await pool.close()
            assert await is_closed(first)
            assert await is_closed(second)

    run_checked(main())


def test_every_way_has_its_own() -> None:
    async def main() -> None:
        async with raw_server(listen) as server:
            pool = ConnectionPool()
            connections = {route: await connect(server.port, pool) for route in (ONE, TWO, THREE)}
            for route, connection in connections.items():
                pool.release(route, connection)
            assert {route: pool.acquire(route) for route in connections} == connections
            await pool.close()

    run_checked(main())


def test_only_a_few_are_kept() -> None:
    async def main() -> None:
        async with raw_server(listen) as server:
            pool = ConnectionPool()
            connections = [await connect(server.port, pool) for _ in range(6)]
            for connection in connections:
                pool.release(ONE, connection)
            assert await is_closed(connections[4])
            assert await is_closed(connections[5])
            assert [pool.acquire(ONE) for _ in range(5)] == [*reversed(connections[:4]), None]
            await pool.close()

    run_checked(main())


@pytest.mark.parametrize("said", [b"", b"unasked"])
def test_one_that_was_closed_or_spoken_on_is_not_given_out(said: bytes) -> None:
    async def hang_up(peer: Peer) -> None:
        await peer.send(said)
        if said:
            await listen(peer)

    async def main() -> None:
        async with raw_server(hang_up) as server:
            pool = ConnectionPool()
            connection = await connect(server.port, pool)
            pool.release(ONE, connection)
            async with asyncio.timeout(60):
                while connection.is_idle:
                    await connection.stream.wait(None)
            assert pool.acquire(ONE) is None
            assert await is_closed(connection)

    run_checked(main())


def test_nobody_waits_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_IDLE_SECONDS", 0.1)

    async def main() -> None:
        async with raw_server(listen) as server:
            pool = ConnectionPool()
            used, idle = await connect(server.port, pool), await connect(server.port, pool)
            pool.release(ONE, used)
            assert pool.acquire(ONE) is used
            pool.release(ONE, idle)
            assert await is_closed(idle)
            assert pool.acquire(ONE) is None
            assert not used.stream.closed.done()
            await pool.close()

    run_checked(main())


def test_closing_ends_those_in_use_too_and_nothing_is_kept_afterwards() -> None:
    async def main() -> None:
        async with raw_server(listen) as server:
            pool = ConnectionPool()
            used = await connect(server.port, pool)
            await pool.close()
            assert used.stream.closed.done()
            late = await connect(server.port, pool)
            pool.release(ONE, late)
            assert await is_closed(late)
            assert pool.acquire(ONE) is None

    run_checked(main())


def test_one_of_an_event_loop_that_is_gone_is_forgotten() -> None:
    pool = ConnectionPool()

    async def first(port: int) -> HttpConnection:
        connection = await connect(port, pool)
        pool.release(ONE, connection)
        return connection

    async def second() -> None:
        assert pool.acquire(ONE) is None
        await pool.close()

    with socket.create_server(("127.0.0.1", 0)) as server:
        loop = asyncio.new_event_loop()
        connection = loop.run_until_complete(first(server.getsockname()[1]))
        connection.stream.abort()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()
        run_checked(second())
