"""A crew of threads: quick work in order, long work side by side, every result handed over once."""

import asyncio
import threading
import time

import pytest

from tejat.workspace.threads import pool
from tejat.workspace.threads.pool import shutdown, submit


def threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "tejat-pool"}


def test_results_come_back_in_whatever_order_they_are_awaited() -> None:
    async def main() -> list[int]:
        futures = [submit(lambda number=number: number * number) for number in range(200)]
        return [await future for future in reversed(futures)]

    assert asyncio.run(main()) == [number * number for number in reversed(range(200))]


def test_what_is_raised_is_raised_where_it_is_awaited() -> None:
    async def main() -> None:
        failing = submit(lambda: 1 // 0)
        fine = submit(lambda: "fine")
        assert await fine == "fine"
        with pytest.raises(ZeroDivisionError):
            await failing

    asyncio.run(main())


def test_quick_work_is_done_by_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    # On a busy machine nothing is quick.
    monkeypatch.setattr(pool, "_STALL_SECONDS", 30.0)

    async def main() -> set[int]:
        return set(await asyncio.gather(*(submit(threading.get_ident) for _ in range(100))))

    idents = asyncio.run(main())
    assert len(idents) == 1
    assert threading.get_ident() not in idents


def test_long_work_does_not_hold_up_what_waits_behind_it() -> None:
    async def main() -> float:
        release = threading.Event()
        long = [submit(lambda: release.wait(30)) for _ in range(3)]
        started = time.perf_counter()
        assert await submit(lambda: "quick") == "quick"
        took = time.perf_counter() - started
        release.set()
        assert await asyncio.gather(*long) == [True] * 3
        return took

    assert asyncio.run(main()) < 10


def test_there_are_no_more_threads_than_that(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "_MAX_THREADS", 3)
    running: list[int] = []
    most: list[int] = []
    count = threading.Lock()

    def work() -> None:
        with count:
            running.append(1)
            most.append(len(running))
        time.sleep(0.03)
        with count:
            running.pop()

    async def main() -> None:
        await asyncio.gather(*(submit(work) for _ in range(20)))

    asyncio.run(main())
    assert max(most) == 3


def test_a_finished_result_is_not_kept_back_by_long_work_behind_it() -> None:
    """One thread does both; the first result must come while the second is still being worked on."""

    async def main() -> None:
        release = threading.Event()
        first = submit(lambda: "first")
        second = submit(lambda: release.wait(30))
        assert await asyncio.wait_for(first, 60) == "first"
        assert not second.done()
        release.set()
        assert await second is True

    asyncio.run(main())


def test_a_future_that_was_cancelled_is_left_alone() -> None:
    async def main() -> None:
        release = threading.Event()
        future = submit(lambda: release.wait(30))
        future.cancel()
        release.set()
        assert await submit(lambda: "next") == "next"
        assert future.cancelled()

    asyncio.run(main())


def test_a_loop_that_closes_meanwhile_is_no_trouble() -> None:
    ended = threading.Event()

    def work() -> None:
        time.sleep(0.05)
        ended.set()

    async def main() -> None:
        submit(work)

    asyncio.run(main())
    assert ended.wait(10)
    assert asyncio.run(_one_result()) == 3


async def _one_result() -> int:
    return await submit(lambda: 3)


def test_threads_without_work_end_and_new_work_finds_new_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "_IDLE_SECONDS", 0.02)

    async def main() -> None:
        before = threads()
        first = await submit(threading.get_ident)
        assert first
        deadline = time.monotonic() + 60
        while threads() - before and time.monotonic() < deadline:  # noqa: ASYNC110 -- threads tell nobody
            await asyncio.sleep(0.01)
        assert not threads() - before
        assert await submit(lambda: "again") == "again"

    asyncio.run(main())


def test_a_crew_that_is_dismissed_leaves_no_thread_and_can_be_called_again() -> None:
    async def main() -> None:
        before = threads()
        await asyncio.gather(*(submit(lambda: time.sleep(0.02)) for _ in range(4)))
        assert threads() - before
        await shutdown()
        deadline = time.monotonic() + 60
        while threads() - before and time.monotonic() < deadline:  # noqa: ASYNC110 -- threads tell nobody
            await asyncio.sleep(0.001)
        assert not threads() - before
        assert await submit(lambda: "again") == "again"
        await shutdown()

    asyncio.run(main())


def test_nobody_is_dismissed_while_there_is_work() -> None:
    async def main() -> None:
        release = threading.Event()
        working = submit(lambda: release.wait(30))
        await shutdown()
        release.set()
        assert await working is True
        assert await submit(lambda: "still there") == "still there"

    asyncio.run(main())


def test_where_nobody_ever_worked_there_is_nobody_to_dismiss() -> None:
    asyncio.run(shutdown())
