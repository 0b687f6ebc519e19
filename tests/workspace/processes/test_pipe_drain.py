"""Pipes of background processes: read while a loop runs, let go when nobody writes any more."""

import asyncio
import os
from collections.abc import Callable

from tejat.workspace.processes.pipe_drain import PipeDrain


def pipe() -> tuple[int, int]:
    readable, writable = os.pipe()
    os.set_blocking(readable, False)
    os.set_blocking(writable, False)
    return readable, writable


def is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def takes(writable: int, size: int) -> bool:
    """Whether the pipe takes so many bytes without anybody reading."""
    try:
        return os.write(writable, bytes(size)) == size
    except BlockingIOError:
        return False


async def happens(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        for _ in iter(condition, True):
            await asyncio.sleep(0.001)


def test_what_is_written_is_thrown_away_until_the_writer_ends() -> None:
    readable, writable = pipe()

    async def main() -> None:
        PipeDrain().add(readable)
        for _ in range(30):
            await happens(lambda: takes(writable, 60_000))
        os.close(writable)
        await happens(lambda: not is_open(readable))

    asyncio.run(main())


def test_closing_lets_go_of_all() -> None:
    pairs = [pipe(), pipe()]
    pipe_drain = PipeDrain()

    async def main() -> None:
        for readable, _ in pairs:
            pipe_drain.add(readable)
        pipe_drain.close()

    asyncio.run(main())
    assert [is_open(readable) for readable, _ in pairs] == [False, False]
    for _, writable in pairs:
        os.close(writable)


def test_a_new_loop_goes_on_reading() -> None:
    (old, old_end), (new, new_end) = pipe(), pipe()
    pipe_drain = PipeDrain()

    async def keep(descriptor: int) -> None:
        pipe_drain.add(descriptor)

    async def go_on() -> None:
        pipe_drain.add(new)
        await happens(lambda: takes(old_end, 60_000))

    asyncio.run(keep(old))
    while takes(old_end, 4096):
        pass
    assert is_open(old)
    asyncio.run(go_on())
    pipe_drain.close()
    assert (is_open(old), is_open(new)) == (False, False)
    os.close(old_end)
    os.close(new_end)


def test_of_very_many_the_oldest_are_let_go() -> None:
    pairs = [pipe() for _ in range(70)]
    pipe_drain = PipeDrain()

    async def main() -> None:
        for readable, _ in pairs:
            pipe_drain.add(readable)

    asyncio.run(main())
    assert [is_open(readable) for readable, _ in pairs] == [False] * 6 + [True] * 64
    pipe_drain.close()
    assert not any(is_open(readable) for readable, _ in pairs)
    for _, writable in pairs:
        os.close(writable)
