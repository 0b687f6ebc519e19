"""Lines into a pipe: in order, each of them whole or not at all."""

import asyncio
import contextlib
import os
import random

import pytest

from tejat.mcp.transports.pipe_writer import PipeWriter


class Pipe:
    def __init__(self) -> None:
        self.readable, writable = os.pipe()
        os.set_blocking(writable, False)
        self.outgoing = PipeWriter(writable)

    def __enter__(self) -> "Pipe":
        return self

    def __exit__(self, *_: object) -> None:
        self.outgoing.close()
        os.close(self.readable)

    def read(self, size: int = 1 << 20) -> bytes:
        return os.read(self.readable, size)


def test_what_finds_room_is_written_at_once() -> None:
    async def main() -> bytes:
        with Pipe() as pipe:
            await pipe.outgoing.write(b"one\n", seconds=10)
            await pipe.outgoing.write(b"two\n", seconds=10)
            return pipe.read()

    assert asyncio.run(main(), debug=True) == b"one\ntwo\n"


def test_order_is_kept_while_somebody_waits() -> None:
    async def main() -> bytes:
        with Pipe() as pipe:
            lines = [bytes([65 + number]) * 100_000 + b"\n" for number in range(5)]
            tasks = [asyncio.create_task(pipe.outgoing.write(line, seconds=30)) for line in lines]
            await asyncio.sleep(0)
            assert pipe.outgoing.is_mid_line
            read = b""
            while len(read) < 500_005:
                read += await asyncio.to_thread(pipe.read)
            await asyncio.gather(*tasks)
            assert not pipe.outgoing.is_mid_line
            assert read == b"".join(lines)
            return read[::100_001]

    assert asyncio.run(main(), debug=True) == b"ABCDE"


def test_too_much_that_waits_is_refused_at_once() -> None:
    async def main() -> None:
        with Pipe() as pipe:
            tasks = [asyncio.create_task(pipe.outgoing.write(b"x" * 70_000, seconds=30)) for _ in range(1001)]
            await asyncio.sleep(0)
            with pytest.raises(TimeoutError):
                await pipe.outgoing.write(b"y", seconds=1e9)
            pipe.outgoing.close()
            assert {type(outcome) for outcome in await asyncio.gather(*tasks, return_exceptions=True)} <= {
                BrokenPipeError,
                TimeoutError,
            }

    asyncio.run(main(), debug=True)


def test_nobody_reads_any_more() -> None:
    async def main() -> None:
        pipe = Pipe()
        waiting = asyncio.create_task(pipe.outgoing.write(b"x" * 100_000, seconds=30))
        await asyncio.sleep(0)
        os.close(pipe.readable)
        with pytest.raises(BrokenPipeError):
            await waiting
        with pytest.raises(BrokenPipeError):
            await pipe.outgoing.write(b"x", seconds=30)
        pipe.outgoing.close()
        pipe.outgoing.close()

    asyncio.run(main(), debug=True)


def test_cancelled_at_any_time_every_line_is_whole() -> None:
    """Small lines are taken back or written, large ones that were begun are written on."""
    chance = random.Random(3)

    async def main() -> list[bytes]:
        with Pipe() as pipe:
            read: list[bytes] = []
            os.set_blocking(pipe.readable, False)
            for number in range(200):
                line = str(number).encode() * chance.choice((1, 1000, 40_000)) + b"\n"
                task = asyncio.create_task(pipe.outgoing.write(line, seconds=30))
                await asyncio.sleep(0)
                task.cancel()
                await asyncio.wait((task,))
                with contextlib.suppress(BlockingIOError):
                    read.append(pipe.read(chance.choice((1, 5000, 100_000))))
            await asyncio.wait_for(drained(pipe, read), 30)
            return b"".join(read).splitlines()

    async def drained(pipe: Pipe, read: list[bytes]) -> None:
        while True:
            try:
                read.append(pipe.read())
            except BlockingIOError:
                if not pipe.outgoing.is_mid_line:
                    return
                await asyncio.sleep(0)

    lines = asyncio.run(main(), debug=True)
    assert len(lines) > 20
    numbers: list[int] = []
    for line in lines:
        size = next(size for size in (40_000, 1000, 1) if len(line) % size == 0)
        assert line == line[: len(line) // size] * size
        numbers.append(int(line[: len(line) // size]))
    assert numbers == sorted(set(numbers))
