"""Bytes come and go, and whoever waits is told."""

import asyncio
import socket
from collections.abc import Awaitable, Callable

import pytest

from support.raw_server import Peer, raw_server, run_checked
from tejat.workspace.http.stream import SocketStream

Work = Callable[[SocketStream], Awaitable[object]]


def run_with_peer(answer: Callable[[Peer], Awaitable[None]], work: Work) -> object:
    """What the work makes of a wire to a peer who answers so."""

    async def main() -> object:
        async with raw_server(answer) as server:
            connection = socket.create_connection(("127.0.0.1", server.port))
            connection.setblocking(False)
            stream = SocketStream()
            await asyncio.get_running_loop().create_connection(lambda: stream, sock=connection)
            try:
                return await work(stream)
            finally:
                stream.abort()
                await stream.closed

    return run_checked(main())


async def silence(peer: Peer) -> None:
    await peer.wait_closed()


async def until(stream: SocketStream, is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not is_so():
            await stream.wait(None)


def test_what_comes_is_taken_once() -> None:
    async def answer(peer: Peer) -> None:
        await peer.send(b"ab")
        await peer.send(b"cd")
        await silence(peer)

    async def work(stream: SocketStream) -> bytes:
        taken = b""
        while len(taken) < 4:
            await until(stream, lambda: stream.has_data)
            taken += stream.read_available()
        assert not stream.has_data
        assert stream.read_available() == b""
        return taken

    assert run_with_peer(answer, work) == b"abcd"


def test_a_wait_ends_in_time() -> None:
    async def work(stream: SocketStream) -> float:
        clock = asyncio.get_running_loop().time
        start = clock()
        await stream.wait(start + 0.1)
        return clock() - start

    waited = run_with_peer(silence, work)
    assert isinstance(waited, float)
    assert 0.09 < waited < 1


def test_a_peer_that_is_faster_than_the_reader_is_held_back() -> None:
    sent = 0

    async def answer(peer: Peer) -> None:
        nonlocal sent
        for _ in range(400):
            await peer.send(bytes(65_536))
            sent += 65_536

    async def work(stream: SocketStream) -> int:
        await asyncio.sleep(0.3)
        assert sent < 400 * 65_536
        taken = len(stream.read_available())
        assert taken < 1_000_000
        while not stream.at_eof or stream.has_data:
            await until(stream, lambda: stream.has_data or stream.at_eof)
            taken += len(stream.read_available())
        return taken

    assert run_with_peer(answer, work) == 400 * 65_536


def test_a_peer_that_does_not_read_stops_the_writer_until_it_does() -> None:
    may_read = asyncio.Event()

    async def answer(peer: Peer) -> None:
        await may_read.wait()
        await silence(peer)

    async def work(stream: SocketStream) -> bool:
        for _ in range(1000):
            stream.write(bytes(65_536))
            if not stream.can_write:
                break
        assert not stream.can_write
        may_read.set()
        await until(stream, lambda: stream.can_write)
        return True

    assert run_with_peer(answer, work)


def test_an_end_is_no_error() -> None:
    async def answer(peer: Peer) -> None:
        await peer.send(b"last")

    async def work(stream: SocketStream) -> tuple[bytes, Exception | None]:
        await until(stream, lambda: stream.at_eof)
        return stream.read_available(), stream.error

    assert run_with_peer(answer, work) == (b"last", None)


def test_a_reset_is() -> None:
    async def answer(peer: Peer) -> None:
        await peer.reader.readexactly(1)
        peer.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        peer.reset()

    async def work(stream: SocketStream) -> Exception | None:
        stream.write(b"x")
        await until(stream, lambda: stream.at_eof)
        return stream.error

    assert isinstance(run_with_peer(answer, work), ConnectionResetError)


def test_a_cancelled_wait_can_be_followed_by_another() -> None:
    async def answer(peer: Peer) -> None:
        await peer.reader.readexactly(1)
        await peer.send(b"y")
        await silence(peer)

    async def work(stream: SocketStream) -> bytes:
        waiting = asyncio.create_task(stream.wait(None))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        stream.write(b"x")
        await until(stream, lambda: stream.has_data)
        return stream.read_available()

    assert run_with_peer(answer, work) == b"y"


def test_nobody_is_told_of_what_a_broken_connection_does_not_take(caplog: pytest.LogCaptureFixture) -> None:
    async def answer(peer: Peer) -> None:
        await peer.reader.readexactly(1)
        peer.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        peer.reset()

    async def work(stream: SocketStream) -> Exception | None:
        stream.write(b"x")
        await asyncio.sleep(0.1)
        for _ in range(50):
            stream.write(bytes(1000))
        await until(stream, lambda: stream.at_eof)
        for _ in range(50):
            stream.write(bytes(1000))
        return stream.error

    assert isinstance(run_with_peer(answer, work), ConnectionError)
    assert caplog.records == []
