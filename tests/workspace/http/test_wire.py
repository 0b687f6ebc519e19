"""Bytes come and go, and whoever waits is told."""

import asyncio
import socket
from collections.abc import Awaitable, Callable

import pytest

from raw_server import Peer, raw_server, run
from tejat.workspace.http.wire import Wire

Work = Callable[[Wire], Awaitable[object]]


def talk(answer: Callable[[Peer], Awaitable[None]], work: Work) -> object:
    """What the work makes of a wire to a peer who answers so."""

    async def main() -> object:
        async with raw_server(answer) as server:
            connection = socket.create_connection(("127.0.0.1", server.port))
            connection.setblocking(False)
            wire = Wire()
            await asyncio.get_running_loop().create_connection(lambda: wire, sock=connection)
            try:
                return await work(wire)
            finally:
                wire.abort()
                await wire.closed

    return run(main())


async def silence(peer: Peer) -> None:
    await peer.was_closed()


async def until(wire: Wire, is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not is_so():
            await wire.wait(None)


def test_what_comes_is_taken_once() -> None:
    async def answer(peer: Peer) -> None:
        await peer.send(b"ab")
        await peer.send(b"cd")
        await silence(peer)

    async def work(wire: Wire) -> bytes:
        taken = b""
        while len(taken) < 4:
            await until(wire, lambda: wire.has_received)
            taken += wire.take()
        assert not wire.has_received
        assert wire.take() == b""
        return taken

    assert talk(answer, work) == b"abcd"


def test_a_wait_ends_in_time() -> None:
    async def work(wire: Wire) -> float:
        clock = asyncio.get_running_loop().time
        start = clock()
        await wire.wait(start + 0.1)
        return clock() - start

    waited = talk(silence, work)
    assert isinstance(waited, float)
    assert 0.09 < waited < 1


def test_a_peer_that_is_faster_than_the_reader_is_held_back() -> None:
    sent = 0

    async def answer(peer: Peer) -> None:
        nonlocal sent
        for _ in range(400):
            await peer.send(bytes(65_536))
            sent += 65_536

    async def work(wire: Wire) -> int:
        await asyncio.sleep(0.3)
        assert sent < 400 * 65_536
        taken = len(wire.take())
        assert taken < 1_000_000
        while not wire.has_ended or wire.has_received:
            await until(wire, lambda: wire.has_received or wire.has_ended)
            taken += len(wire.take())
        return taken

    assert talk(answer, work) == 400 * 65_536


def test_a_peer_that_does_not_read_stops_the_writer_until_it_does() -> None:
    may_read = asyncio.Event()

    async def answer(peer: Peer) -> None:
        await may_read.wait()
        await silence(peer)

    async def work(wire: Wire) -> bool:
        for _ in range(1000):
            wire.write(bytes(65_536))
            if not wire.can_write:
                break
        assert not wire.can_write
        may_read.set()
        await until(wire, lambda: wire.can_write)
        return True

    assert talk(answer, work)


def test_an_end_is_no_error() -> None:
    async def answer(peer: Peer) -> None:
        await peer.send(b"last")

    async def work(wire: Wire) -> tuple[bytes, Exception | None]:
        await until(wire, lambda: wire.has_ended)
        return wire.take(), wire.error

    assert talk(answer, work) == (b"last", None)


def test_a_reset_is() -> None:
    async def answer(peer: Peer) -> None:
        await peer.reader.readexactly(1)
        peer.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        peer.reset()

    async def work(wire: Wire) -> Exception | None:
        wire.write(b"x")
        await until(wire, lambda: wire.has_ended)
        return wire.error

    assert isinstance(talk(answer, work), ConnectionResetError)


def test_a_cancelled_wait_can_be_followed_by_another() -> None:
    async def answer(peer: Peer) -> None:
        await peer.reader.readexactly(1)
        await peer.send(b"y")
        await silence(peer)

    async def work(wire: Wire) -> bytes:
        waiting = asyncio.create_task(wire.wait(None))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        wire.write(b"x")
        await until(wire, lambda: wire.has_received)
        return wire.take()

    assert talk(answer, work) == b"y"


def test_nobody_is_told_of_what_a_broken_connection_does_not_take(caplog: pytest.LogCaptureFixture) -> None:
    async def answer(peer: Peer) -> None:
        await peer.reader.readexactly(1)
        peer.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        peer.reset()

    async def work(wire: Wire) -> Exception | None:
        wire.write(b"x")
        await asyncio.sleep(0.1)
        for _ in range(50):
            wire.write(bytes(1000))
        await until(wire, lambda: wire.has_ended)
        for _ in range(50):
            wire.write(bytes(1000))
        return wire.error

    assert isinstance(talk(answer, work), ConnectionError)
    assert caplog.records == []
