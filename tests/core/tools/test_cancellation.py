"""The cancel signal: set as soon as the task of a call is cancelled, and for good."""

import asyncio
import threading

import pytest

from tejat.core.tools.cancellation import CancelReason, CancelSignal, inner_cancellation


def test_it_is_set_by_hand() -> None:
    signal = CancelSignal()
    assert not signal.is_set
    signal.set()
    assert signal.is_set


def test_it_is_set_at_once_when_the_task_is_cancelled_in_every_thread() -> None:
    signal = CancelSignal()

    async def wait() -> None:
        signal.watch(asyncio.current_task())
        await asyncio.sleep(60)

    async def main() -> None:
        task = asyncio.create_task(wait())
        await asyncio.sleep(0)
        assert not await asyncio.to_thread(lambda: signal.is_set)
        task.cancel()
        assert signal.is_set  # before the task itself knows
        seen: list[bool] = []
        thread = threading.Thread(target=lambda: seen.append(signal.is_set))
        thread.start()
        thread.join()
        assert seen == [True]
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())


def test_a_cancellation_that_the_task_survived_does_not_count() -> None:
    async def main() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.sleep(0)
        signal = CancelSignal()
        signal.watch(asyncio.current_task())
        assert not signal.is_set
        task.cancel()
        assert signal.is_set
        with pytest.raises(asyncio.CancelledError):
            await asyncio.sleep(0)

    asyncio.run(main())


def test_the_reason_is_known_once_it_is_set() -> None:
    reasons = [CancelReason.CANCELLED]
    signal = CancelSignal(lambda: reasons[-1])
    assert signal.reason is None
    signal.set()
    assert signal.reason is CancelReason.CANCELLED
    reasons.append(CancelReason.TIME_LIMIT)
    assert signal.reason is CancelReason.TIME_LIMIT


def test_without_a_time_limit_somebody_cancelled_it() -> None:
    signal = CancelSignal()
    signal.set()
    assert signal.reason is CancelReason.CANCELLED


class TestInnerCancellation:
    """A cancelled future must not look like the cancellation of the task that awaits it."""

    @staticmethod
    async def await_cancelled() -> None:
        future = asyncio.get_running_loop().create_future()
        future.cancel()
        try:
            await future
        except asyncio.CancelledError as error:
            raise inner_cancellation(error, asyncio.current_task(), "The tool") from error

    def test_it_is_a_failure(self) -> None:
        with pytest.raises(RuntimeError, match="The tool was cancelled from within") as caught:
            asyncio.run(self.await_cancelled())
        assert isinstance(caught.value.__cause__, asyncio.CancelledError)

    def test_a_task_that_is_cancelled_itself(self) -> None:
        async def main() -> None:
            task = asyncio.create_task(self.await_cancelled())
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        asyncio.run(main())
