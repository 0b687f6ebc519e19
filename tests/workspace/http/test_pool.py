"""Connections that wait for their next request."""

import asyncio
import socket

import pytest

from raw_server import Peer, raw_server, run
from tejat.workspace.http import pool as module
from tejat.workspace.http.address import Origin
from tejat.workspace.http.connection import Connection
from tejat.workspace.http.pool import Pool, Route
from tejat.workspace.http.proxies import Proxy
from tejat.workspace.http.wire import Wire

ONE: Route = (Origin("http", "one.test", 80), None)
TWO: Route = (Origin("https", "one.test", 80), None)
THREE: Route = (Origin("http", "one.test", 80), Proxy(Origin("http", "one.test", 80)))


async def connect(port: int, pool: Pool) -> Connection:
    plain = socket.create_connection(("127.0.0.1", port))
    plain.setblocking(False)
    wire = Wire()
    await asyncio.get_running_loop().create_connection(lambda: wire, sock=plain)
    connection = Connection(wire, where="one.test:80")
    pool.hold(connection)
    return connection


async def listen(peer: Peer) -> None:
    await peer.was_closed()


async def is_closed(connection: Connection) -> bool:
    async with asyncio.timeout(5):
        await connection.wire.closed
    return True


def test_the_connection_that_was_used_last_comes_first() -> None:
    async def main() -> None:
        async with raw_server(listen) as server:
            pool = Pool()
            first, second = await connect(server.port, pool), await connect(server.port, pool)
            pool.put(ONE, first)
            pool.put(ONE, second)
            assert [pool.take(ONE), pool.take(ONE), pool.take(ONE)] == [second, first, None]
            await pool.close()
            assert await is_closed(first)
            assert await is_closed(second)

    run(main())


def test_every_way_has_its_own() -> None:
    async def main() -> None:
        async with raw_server(listen) as server:
            pool = Pool()
            connections = {route: await connect(server.port, pool) for route in (ONE, TWO, THREE)}
            for route, connection in connections.items():
                pool.put(route, connection)
            assert {route: pool.take(route) for route in connections} == connections
            await pool.close()

    run(main())


def test_only_a_few_are_kept() -> None:
    async def main() -> None:
        async with raw_server(listen) as server:
            pool = Pool()
            connections = [await connect(server.port, pool) for _ in range(6)]
            for connection in connections:
                pool.put(ONE, connection)
            assert await is_closed(connections[4])
            assert await is_closed(connections[5])
            assert [pool.take(ONE) for _ in range(5)] == [*reversed(connections[:4]), None]
            await pool.close()

    run(main())


@pytest.mark.parametrize("said", [b"", b"unasked"])
def test_one_that_was_closed_or_spoken_on_is_not_given_out(said: bytes) -> None:
    async def hang_up(peer: Peer) -> None:
        await peer.send(said)
        if said:
            await listen(peer)

    async def main() -> None:
        async with raw_server(hang_up) as server:
            pool = Pool()
            connection = await connect(server.port, pool)
            pool.put(ONE, connection)
            async with asyncio.timeout(5):
                while connection.is_quiet:
                    await connection.wire.wait(None)
            assert pool.take(ONE) is None
            assert await is_closed(connection)

    run(main())


def test_nobody_waits_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_IDLE_SECONDS", 0.1)

    async def main() -> None:
        async with raw_server(listen) as server:
            pool = Pool()
            used, idle = await connect(server.port, pool), await connect(server.port, pool)
            pool.put(ONE, used)
            assert pool.take(ONE) is used
            pool.put(ONE, idle)
            assert await is_closed(idle)
            assert pool.take(ONE) is None
            assert not used.wire.closed.done()
            await pool.close()

    run(main())


def test_closing_ends_those_in_use_too_and_nothing_is_kept_afterwards() -> None:
    async def main() -> None:
        async with raw_server(listen) as server:
            pool = Pool()
            used = await connect(server.port, pool)
            await pool.close()
            assert used.wire.closed.done()
            late = await connect(server.port, pool)
            pool.put(ONE, late)
            assert await is_closed(late)
            assert pool.take(ONE) is None

    run(main())


def test_one_of_an_event_loop_that_is_gone_is_forgotten() -> None:
    pool = Pool()

    async def first(port: int) -> Connection:
        connection = await connect(port, pool)
        pool.put(ONE, connection)
        return connection

    async def second() -> None:
        assert pool.take(ONE) is None
        await pool.close()

    with socket.create_server(("127.0.0.1", 0)) as server:
        loop = asyncio.new_event_loop()
        connection = loop.run_until_complete(first(server.getsockname()[1]))
        connection.wire.abort()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()
        run(second())
