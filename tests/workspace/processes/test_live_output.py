"""Live output: when it is shown, how much of it, and what a flood costs."""

import asyncio
import time
from collections.abc import Awaitable, Callable

from tejat.workspace.processes.live_output import MAX_SHOWN_CHARACTERS, LiveOutput


def shown_by(work: Callable[[LiveOutput], Awaitable[None]]) -> list[str]:
    shown: list[str] = []

    async def main() -> None:
        live = LiveOutput(shown.append)
        await work(live)
        live.close()

    asyncio.run(main())
    return shown


def test_first_at_once_and_a_last_time() -> None:
    async def work(live: LiveOutput) -> None:
        for number in range(5):
            live.add(b"%d\n" % number)

    assert shown_by(work) == ["0\n", "0\n1\n2\n3\n4\n"]


def test_nothing_new_is_not_shown_again() -> None:
    async def work(live: LiveOutput) -> None:
        live.add(b"x")

    assert shown_by(work) == ["x"]

    async def silence(_: LiveOutput) -> None:
        pass

    assert shown_by(silence) == []


def test_between_it_is_shown_by_itself() -> None:
    async def work(live: LiveOutput) -> None:
        live.add(b"a")
        live.add(b"b")
        await asyncio.sleep(1.3)
        live.add(b"c")

    assert shown_by(work) == ["a", "ab", "abc"]


def test_as_a_terminal_would() -> None:
    async def work(live: LiveOutput) -> None:
        live.add(b"10%\r")
        live.add(b"100%\x1b[0m\n\xe2\x82")
        live.add(b"\xac")

    assert shown_by(work) == ["10%", "100%\n€"]


def test_only_the_end_of_much() -> None:
    async def work(live: LiveOutput) -> None:
        for number in range(200_000):
            live.add(b"%d\n" % number)
        live.add("é".encode() * 10)

    last = shown_by(work)[-1]
    assert len(last) == MAX_SHOWN_CHARACTERS
    assert last.endswith("199998\n199999\n" + "é" * 10)


def test_a_flood_costs_next_to_nothing() -> None:
    async def work(live: LiveOutput) -> None:
        piece = b"y\n" * 500_000
        began = time.process_time()
        for _ in range(2000):
            live.add(piece)
        assert time.process_time() - began < 1.5

    assert len(shown_by(work)[-1]) == MAX_SHOWN_CHARACTERS


def test_binary_is_counted_not_shown() -> None:
    async def work(live: LiveOutput) -> None:
        live.add(b"text")
        live.add(b"\0\1\2")
        live.add(bytes(5000))

    assert shown_by(work) == [
        "text",
        "[Binary output detected. Halting stream...]",
        "[Receiving binary output... 4.9 KB received]",
    ]


def test_a_late_zero_is_no_binary() -> None:
    async def work(live: LiveOutput) -> None:
        live.add(b"x" * 4096)
        live.add(b"\0y")

    assert shown_by(work)[-1] == "x" * 4096 + "y"
