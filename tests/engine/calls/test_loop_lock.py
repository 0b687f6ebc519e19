"""One event loop at a time, in any number of tasks."""

import asyncio
import threading

import pytest

from tejat.core.errors import UsageError
from tejat.engine.calls.loop_lock import LoopLock

REFUSAL = "in use in another event loop. Use SyncTools"


def test_tasks_of_one_loop_take_turns() -> None:
    lock, log = LoopLock(), list[str]()

    async def work(name: str) -> None:
        async with lock.hold():
            log.append(f"+{name}")
            await asyncio.sleep(0)
            log.append(f"-{name}")

    async def main() -> None:
        await asyncio.gather(*map(work, "abc"))

    asyncio.run(main())
    assert log == ["+a", "-a", "+b", "-b", "+c", "-c"]


def test_loops_one_after_the_other() -> None:
    lock = LoopLock()

    async def use() -> str:
        async with lock.hold():
            return "used"

    assert [asyncio.run(use()) for _ in range(3)] == ["used"] * 3
    results = list[str]()
    thread = threading.Thread(target=lambda: results.append(asyncio.run(use())))
    thread.start()
    thread.join()
    assert results == ["used"]


def test_a_second_loop_is_refused_at_once_and_may_come_back() -> None:
    lock, is_held, is_tried = LoopLock(), threading.Event(), threading.Event()

    async def hold() -> None:
        async with lock.hold():
            is_held.set()
            await asyncio.to_thread(is_tried.wait)

    async def use() -> None:
        async with lock.hold():
            pass

    thread = threading.Thread(target=lambda: asyncio.run(hold()))
    thread.start()
    try:
        assert is_held.wait(60)
        with pytest.raises(UsageError, match=REFUSAL):
            asyncio.run(use())
    finally:
        is_tried.set()
        thread.join()
    asyncio.run(use())


def test_a_task_that_is_cancelled_while_it_waits_leaves_the_lock() -> None:
    lock = LoopLock()

    async def main() -> None:
        is_held = asyncio.Event()

        async def wait() -> None:
            await is_held.wait()
            async with lock.hold():
                raise AssertionError("it was locked")

        waiting = asyncio.create_task(wait())
        async with lock.hold():
            is_held.set()
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting

    asyncio.run(main())
    asyncio.run(main())


def test_the_holder_is_refused_a_second_time_instead_of_waiting_forever() -> None:
    lock, tasks = LoopLock(), list[asyncio.Task[str]]()

    async def use() -> str:
        async with lock.hold():
            return "used"

    async def use_later(is_over: asyncio.Event) -> str:
        await is_over.wait()
        return await use()

    async def main() -> None:
        is_over = asyncio.Event()
        async with lock.hold():
            with pytest.raises(UsageError, match="busy with the call that this code runs in"):
                await use()
            with pytest.raises(UsageError, match="busy"):
                await asyncio.create_task(use())
            tasks.append(asyncio.create_task(use_later(is_over)))
            async with lock.share(), LoopLock().hold():
                pass
        is_over.set()
        assert await tasks[0] == await use() == "used"

    asyncio.run(main())


def test_sharing_waits_for_nobody_but_is_for_the_same_loop() -> None:
    lock = LoopLock()

    async def share() -> None:
        async with lock.share():
            pass

    async def main() -> None:
        async with lock.hold():
            await asyncio.create_task(share())
            with pytest.raises(UsageError, match=REFUSAL):
                await asyncio.to_thread(asyncio.run, share())
        async with lock.share(), lock.hold():
            pass

    asyncio.run(main())


def test_a_loop_that_was_closed_during_a_call_does_not_block_the_next() -> None:
    lock = LoopLock()

    async def hold() -> None:
        async with lock.hold():
            await asyncio.Event().wait()

    async def use() -> str:
        async with lock.hold():
            return "used"

    abandoned = hold()
    loop = asyncio.new_event_loop()
    task = loop.create_task(abandoned)
    loop.run_until_complete(asyncio.sleep(0))
    loop.set_exception_handler(lambda *_: None)
    loop.close()
    assert asyncio.run(use()) == "used"
    assert not task.done()
    abandoned.close()  # what it still does must not release the lock of another loop
    assert asyncio.run(use()) == "used"
