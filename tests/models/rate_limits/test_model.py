"""Clients in several processes keep one rate limit, seen from a real server."""

import asyncio
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import aclosing
from pathlib import Path

import pytest

from support.model_servers.gemini import LoopbackServer, ModelServer, Received, Reply, error_reply, text_reply
from tejat.core.errors import UsageError
from tejat.core.messages.history import user_message
from tejat.core.model import Chunk, Delayed, FailureKind, ModelFailure, ModelRequest, ModelResponse, Retry, TextDelta
from tejat.models import ModelOptions, open_model
from tejat.models.gemini.client import open_gemini
from tejat.models.rate_limits.model import RateLimitedModel
from tejat.models.rate_limits.rate_file import create_rate_file
from tejat.models.rate_limits.shared_limit import SharedRateLimit
from tejat.models.rate_limits.state_file import RateStateFile
from tejat.workspace.processes.boot import seconds_since_boot
from tejat.workspace.threads.stop import StopToken

HELLO = ModelRequest([user_message("hi")])

REQUESTS = """
import asyncio, os, sys
from tejat.core.messages.history import user_message
from tejat.core.model import ModelFailure, ModelRequest, ModelResponse
from tejat.models import ModelOptions, open_model

async def main():
    model = open_model("gemini:gemini-2.5-pro", ModelOptions(os.environ, max_attempts=1))
    for _ in range(int(sys.argv[1])):
        try:
            async for chunk in model.stream(ModelRequest([user_message("hi")])):
                if isinstance(chunk, ModelResponse):
                    print(chunk.text, flush=True)
        except ModelFailure as failure:
            print(failure.kind.value, flush=True)
    await model.close()

asyncio.run(main())
"""


class TimedServer(LoopbackServer):
    """Notes when each request came, and answers the first ones as told."""

    def __init__(self, *first: Reply) -> None:
        super().__init__(self._answer)
        self._first = iter(first)
        self.times: list[float] = []

    def _answer(self, received: Received) -> Reply:
        with self._lock:
            self.times.append(seconds_since_boot())
            return next(self._first, None) or text_reply("Hello")


def environment(server: LoopbackServer, rates: Path) -> dict[str, str]:
    return {"GEMINI_API_KEY": "key", "GOOGLE_GEMINI_BASE_URL": server.address, "TEJAT_RATE_LIMITS": str(rates)}


def started(count: int, variables: Mapping[str, str]) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", REQUESTS, str(count)], stdout=subprocess.PIPE, text=True, env=dict(variables)
    )


def finished(process: "subprocess.Popen[str]") -> list[str]:
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    return output.split()


class TestProcesses:
    def test_the_rate_holds_for_all_together(self, tmp_path: Path) -> None:
        rates = tmp_path / "rates.json"
        create_rate_file(str(rates), {"gemini": 600})
        with TimedServer() as server:
            began = seconds_since_boot()
            processes = [started(5, environment(server, rates)) for _ in range(3)]
            assert [finished(process) for process in processes] == [["Hello"] * 5] * 3
        # A busy machine may send a request late, never early.
        early = [number for number, time in enumerate(sorted(server.times)) if time < began + number * 0.1]
        assert (len(server.times), early) == (15, [])

    def test_a_429_pauses_the_others(self, tmp_path: Path) -> None:
        rates = tmp_path / "rates.json"  # there is no such file: services without a rate share waits too
        with TimedServer(error_reply(429, "slow down", retry_after="2")) as server:
            variables = environment(server, rates)
            assert finished(started(1, variables)) == ["rate_limited"]
            others = [started(1, variables), started(1, variables)]
            assert [finished(process) for process in others] == [["Hello"], ["Hello"]]
        assert min(server.times[1:]) >= server.times[0] + 2

    def test_a_killed_process_does_not_hold_up_the_others(self, tmp_path: Path) -> None:
        rates = tmp_path / "rates.json"
        create_rate_file(str(rates), {"gemini": 600})
        with TimedServer() as server:
            began = seconds_since_boot()
            killed = [started(1_000_000, environment(server, rates)) for _ in range(3)]
            for process in killed:
                assert process.stdout is not None
                assert process.stdout.readline() == "Hello\n"
            for process in killed:
                process.kill()
                process.communicate(timeout=60)
            assert finished(started(3, environment(server, rates))) == ["Hello"] * 3
        early = [number for number, time in enumerate(sorted(server.times)) if time < began + number * 0.1]
        assert early == []


class Clock:
    """A clock that only a sleep moves. `while_asleep` is called during the first one."""

    def __init__(self, while_asleep: Callable[[], None] = lambda: None) -> None:
        self.now = 1000.0
        self.slept: list[float] = []
        self._while_asleep = while_asleep

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        if seconds:
            self.slept.append(seconds)
            if len(self.slept) == 1:
                self._while_asleep()
        self.now += seconds


def limit(directory: Path, clock: Clock, rate: float | None = 60) -> SharedRateLimit:
    return SharedRateLimit(RateStateFile(str(directory / "rates.json")), "gemini", rate, clock=clock)


def ask(
    directory: Path, clock: Clock, *replies: Reply, rate: float | None = 60, max_wait: float = 120.0
) -> list[Chunk | ModelFailure]:
    """Everything that comes of a request for each reply."""
    told: list[Chunk | ModelFailure] = []

    async def main() -> None:
        variables = {"GEMINI_API_KEY": "key", "GOOGLE_GEMINI_BASE_URL": server.address}
        model = RateLimitedModel(
            open_gemini("gemini-2.5-pro", ModelOptions(variables)),
            limit(directory, clock, rate),
            max_wait=max_wait,
            sleep=clock.sleep,
        )
        for _ in replies:
            try:
                async with aclosing(model.stream(HELLO)) as chunks:
                    told.extend([chunk async for chunk in chunks if not isinstance(chunk, ModelResponse)])
            except ModelFailure as failure:
                told.append(failure)
        await model.close()

    with ModelServer(replies) as server:
        asyncio.run(main())
    return told


class TestWaits:
    def test_a_request_waits_for_its_turn(self, tmp_path: Path) -> None:
        clock = Clock()
        assert ask(tmp_path, clock, text_reply("One"), text_reply("Two")) == [TextDelta("One"), TextDelta("Two")]
        assert clock.slept == [1.0]

    def test_a_long_wait_is_reported_once(self, tmp_path: Path) -> None:
        clock = Clock()
        for _ in range(5):
            limit(tmp_path, clock).take_turn(StopToken())
        delayed, said = ask(tmp_path, clock, text_reply("One"))
        assert isinstance(delayed, Delayed)
        assert delayed.reason == "Waiting for the shared rate limit of gemini (60 requests per minute)."
        assert said == TextDelta("One")
        assert sum(clock.slept) == pytest.approx(3.0)

    def test_a_block_that_comes_during_the_wait_is_kept(self, tmp_path: Path) -> None:
        clock = Clock(lambda: limit(tmp_path, clock).block(30, StopToken()))
        limit(tmp_path, clock).take_turn(StopToken())
        delayed, said = ask(tmp_path, clock, text_reply("One"))
        assert isinstance(delayed, Delayed)
        assert (delayed.reason, delayed.wait) == ("Waiting: gemini is rate limiting another run.", 29.0)
        assert said == TextDelta("One")
        assert clock.now == pytest.approx(1030.0)

    def test_a_429_blocks_for_as_long_as_the_service_says(self, tmp_path: Path) -> None:
        clock = Clock()
        failure, delayed, said = ask(
            tmp_path, clock, error_reply(429, "slow", retry_after="7"), text_reply("One"), rate=None
        )
        assert isinstance(failure, ModelFailure)
        assert (failure.kind, delayed, said) == (
            FailureKind.RATE_LIMITED,
            Delayed("Waiting: gemini is rate limiting another run.", 7.0),
            TextDelta("One"),
        )

    @pytest.mark.parametrize("reply", [error_reply(429, "slow"), error_reply(503, "busy", retry_after="7")])
    def test_other_failures_block_nobody(self, tmp_path: Path, reply: Reply) -> None:
        clock = Clock()
        assert ask(tmp_path, clock, reply, text_reply("One"), rate=None)[1:] == [TextDelta("One")]
        assert clock.slept == []

    def test_a_block_that_is_too_long_fails_as_it_did_there(self, tmp_path: Path) -> None:
        clock = Clock()
        limit(tmp_path, clock).block(121, StopToken())
        (failure,) = ask(tmp_path, clock, text_reply("One"))
        assert isinstance(failure, ModelFailure)
        assert (failure.kind, failure.retry_after, failure.can_retry) == (FailureKind.RATE_LIMITED, 121.0, True)
        assert failure.message == "gemini is rate limiting another run."
        assert clock.slept == []

    def test_a_wait_can_be_cancelled(self, tmp_path: Path) -> None:
        async def main() -> None:
            variables = environment(server, tmp_path / "rates.json")
            model = open_model("gemini-2.5-pro", ModelOptions(variables))
            async with aclosing(model.stream(HELLO)) as chunks:
                assert isinstance(await anext(chunks), TextDelta)
            waiting = model.stream(HELLO)
            assert isinstance(await anext(waiting), Delayed)
            going_on = asyncio.ensure_future(anext(waiting))
            await asyncio.sleep(0)
            going_on.cancel()
            with pytest.raises(asyncio.CancelledError):
                await going_on
            await waiting.aclose()
            await model.close()

        create_rate_file(str(tmp_path / "rates.json"), {"gemini": 0.1})
        with TimedServer() as server:
            asyncio.run(main())
        assert len(server.times) == 1


class TestOpening:
    def test_a_retry_waits_for_its_turn_too(self, tmp_path: Path) -> None:
        async def main() -> list[Chunk]:
            model = open_model("gemini-2.5-pro", ModelOptions(environment(server, rates)))
            chunks = [chunk async for chunk in model.stream(HELLO)]
            await model.close()
            return chunks

        rates = tmp_path / "rates.json"
        create_rate_file(str(rates), {"gemini": 120})
        with TimedServer(error_reply(503, "busy", retry_after="0")) as server:
            began = seconds_since_boot()
            chunks = asyncio.run(main())
        assert [type(chunk) for chunk in chunks] == [Retry, TextDelta, ModelResponse]
        assert server.times[1] >= began + 0.5

    def test_a_scripted_model_has_a_rate_too(self, tmp_path: Path) -> None:
        async def main() -> list[Chunk]:
            variables = {"TEJAT_RATE_LIMITS": str(tmp_path / "rates.json")}
            model = open_model(f"scripted:{tmp_path / 'script.toml'}", ModelOptions(variables))
            assert await model.prepare() == ()
            first = [chunk async for chunk in model.stream(HELLO)]
            return first + [chunk async for chunk in model.stream(HELLO)]

        (tmp_path / "script.toml").write_text('[[answer]]\nsay = "One"\n[[answer]]\nsay = "Two"\n')
        create_rate_file(str(tmp_path / "rates.json"), {"scripted": 1200})
        began = seconds_since_boot()
        assert len(asyncio.run(main())) == 4
        assert seconds_since_boot() >= began + 0.05

    def test_a_state_that_cannot_be_shared_is_reported(self, tmp_path: Path) -> None:
        async def main() -> None:
            variables = {"GEMINI_API_KEY": "key", "TEJAT_RATE_LIMITS": str(tmp_path / "missing" / "rates.json")}
            model = open_model("gemini-2.5-pro", ModelOptions(variables))
            (notice,) = await model.prepare()
            assert notice == "The rate limits are not shared with other runs: No such file or directory."
            await model.close()

        asyncio.run(main())

    def test_an_invalid_file(self, tmp_path: Path) -> None:
        (tmp_path / "rates.json").write_text("{")
        variables = {"GEMINI_API_KEY": "key", "TEJAT_RATE_LIMITS": str(tmp_path / "rates.json")}
        with pytest.raises(UsageError, match="TEJAT_RATE_LIMITS: could not read the rate limits in "):
            open_model("gemini-2.5-pro", ModelOptions(variables))

    def test_without_the_variable_nothing_of_it_is_loaded(self) -> None:
        program = (
            "import sys; from tejat.models import ModelOptions, open_model;"
            "open_model('gemini-2.5-pro', ModelOptions({'GEMINI_API_KEY': 'key'}));"
            "print(*[name for name in sys.modules if 'rate_limits' in name])"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
        assert done.stdout.strip() == ""
