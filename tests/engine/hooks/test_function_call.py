"""Python hooks have the limits of command hooks: none holds up the event loop, or a run for ever."""

import asyncio
import sys
import threading
import time
from typing import Any

import pytest

from support.hooks import make_hook
from tejat.core.agent.hooks import HookFunction, HookReply
from tejat.core.errors import CallbackFailure
from tejat.engine.hooks import function_call
from tejat.engine.hooks.function_call import call_function
from tejat.engine.hooks.result import HookResult
from tejat.policy.types import Decision


def call(function: HookFunction, *, timeout: float = 60.0) -> HookResult:
    hook = make_hook("", name="function", function=function, timeout=timeout)
    return asyncio.run(call_function(hook, function, {"tool_name": "glob"}))


class TestCalls:
    def test_a_plain_function_runs_in_a_thread_of_its_own(self) -> None:
        def name_thread(_: Any) -> HookReply:
            return HookReply("deny", threading.current_thread().name)

        assert call(name_thread).reason == "tejat-daemon"

    def test_an_async_function_runs_in_the_event_loop(self) -> None:
        async def name_thread(_: Any) -> HookReply:
            return HookReply("deny", threading.current_thread().name)

        assert call(name_thread).reason == "MainThread"

    def test_a_plain_function_may_return_an_awaitable(self) -> None:
        async def answer() -> HookReply:
            return HookReply("ask", "sure?")

        result = call(lambda _: answer())
        assert (result.decision, result.reason) == (Decision.ASK, "sure?")

    def test_the_event_loop_keeps_running_meanwhile(self) -> None:
        def block(_: Any) -> None:
            time.sleep(0.3)

        async def main() -> int:
            hook = make_hook("", function=block)
            calling = asyncio.ensure_future(call_function(hook, block, {}))
            ticks = 0
            while not calling.done():
                await asyncio.sleep(0.01)
                ticks += 1
            await calling
            return ticks

        assert asyncio.run(main()) > 3


class TestTimeout:
    def test_a_function_that_blocks_has_failed_and_is_left_behind(self) -> None:
        release = threading.Event()

        def block(_: Any) -> None:
            release.wait(60)

        started = time.monotonic()
        result = call(block, timeout=0.1)
        release.set()
        assert result.failure == "took longer than 0.1 seconds"
        assert time.monotonic() - started < 20

    def test_an_async_function_is_cancelled(self) -> None:
        ended: list[str] = []

        async def wait(_: Any) -> None:
            try:
                await asyncio.Event().wait()
            finally:
                ended.append("cancelled")

        assert call(wait, timeout=0.1).failure == "took longer than 0.1 seconds"
        assert ended == ["cancelled"]

    def test_one_that_ignores_its_cancellation_is_left_behind(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(function_call, "_STOP_SECONDS", 0.1)

        async def main() -> str:
            is_over = asyncio.Event()

            async def stay(_: Any) -> None:
                while not is_over.is_set():
                    try:
                        await is_over.wait()
                    except asyncio.CancelledError:
                        continue

            hook = make_hook("", function=stay, timeout=0.1)
            failure = (await call_function(hook, stay, {})).failure
            is_over.set()
            return failure

        assert asyncio.run(main()) == "took longer than 0.1 seconds"

    def test_its_own_timeout_error_is_an_exception_like_any_other(self) -> None:
        def fail(_: Any) -> None:
            raise TimeoutError("no answer")

        with pytest.raises(CallbackFailure) as caught:
            call(fail)
        assert isinstance(caught.value.error, TimeoutError)

    def test_cancelling_the_run_cancels_the_function(self) -> None:
        ended: list[str] = []

        async def wait(_: Any) -> None:
            try:
                await asyncio.Event().wait()
            finally:
                ended.append("cancelled")

        async def main() -> None:
            calling = asyncio.ensure_future(call_function(make_hook("", function=wait), wait, {}))
            await asyncio.sleep(0.05)
            calling.cancel()
            with pytest.raises(asyncio.CancelledError):
                await calling

        asyncio.run(main())
        assert ended == ["cancelled"]


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize(
    ("error", "message"),
    [
        (SystemExit(3), "SystemExit was raised: 3"),
        (KeyError("lost"), "'lost'"),
        (StopIteration("end"), "StopIteration"),
    ],
)
def test_what_a_function_raises(error: BaseException, message: str, *, is_async: bool) -> None:
    def fail(_: Any) -> None:
        raise error

    async def fail_later(_: Any) -> None:
        raise error

    with pytest.raises(CallbackFailure) as caught:
        call(fail_later if is_async else fail)
    assert message in str(caught.value.error)
    assert sys.exception() is None


def test_a_function_that_cancels_itself_has_raised() -> None:
    async def cancel(_: Any) -> None:
        raise asyncio.CancelledError

    with pytest.raises(CallbackFailure, match="was cancelled from within"):
        call(cancel)
