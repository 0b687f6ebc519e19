"""Signals reach the loop, whenever they come and whichever thread gets them."""

import asyncio
import os
import signal
import threading

from tejat.ui.headless.signal_watch import SignalWatch

NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


async def first_signals(watch: SignalWatch, count: int) -> list[int]:
    received: list[int] = []
    complete = asyncio.Event()

    def receive(number: int) -> None:
        received.append(number)
        if len(received) == count:
            complete.set()

    watch.handle(receive)
    async with asyncio.timeout(30):
        await complete.wait()
    return received


class TestSignalWatch:
    def test_signals_before_the_loop_and_during_it_are_handled(self) -> None:
        with SignalWatch(NUMBERS) as watch:
            os.kill(os.getpid(), signal.SIGINT)
            later = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGTERM))
            later.start()
            received = asyncio.run(first_signals(watch, 2))
        assert received == [signal.SIGINT, signal.SIGTERM]

    def test_a_signal_for_another_thread_wakes_the_loop_up(self) -> None:
        with SignalWatch(NUMBERS) as watch:
            ended = threading.Event()
            other = threading.Thread(target=ended.wait)
            other.start()
            assert other.ident is not None
            later = threading.Timer(0.2, signal.pthread_kill, (other.ident, signal.SIGHUP))
            later.start()
            received = asyncio.run(first_signals(watch, 1))
            ended.set()
        assert received == [signal.SIGHUP]

    def test_the_handlers_before_are_restored(self) -> None:
        before = [signal.getsignal(number) for number in NUMBERS]
        with SignalWatch(NUMBERS):
            assert all(signal.getsignal(number) not in before for number in NUMBERS)
        assert [signal.getsignal(number) for number in NUMBERS] == before

    def test_other_signals_are_left_alone(self) -> None:
        seen: list[int] = []
        earlier = signal.signal(signal.SIGUSR1, lambda number, _: seen.append(number))
        try:
            with SignalWatch(NUMBERS) as watch:
                os.kill(os.getpid(), signal.SIGUSR1)
                os.kill(os.getpid(), signal.SIGINT)
                assert asyncio.run(first_signals(watch, 1)) == [signal.SIGINT]
        finally:
            signal.signal(signal.SIGUSR1, earlier)
        assert seen == [signal.SIGUSR1]
