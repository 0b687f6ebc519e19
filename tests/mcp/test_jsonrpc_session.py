"""Requests and answers with a server that is a real program."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from support.mcp.clients import HOSTILE, SECONDS, first_text, open_supervisor, read_messages, read_methods
from support.raw_server import run_checked
from support.wait import wait_until_async
from tejat.core.messages.types import JsonObject
from tejat.mcp.errors import McpFailure, McpProblem, RequestNotSent
from tejat.mcp.jsonrpc_session import JsonRpcSession, RequestTimeouts
from tejat.mcp.server_requests import ServerRequestHandler
from tejat.mcp.transports.stdio import StdioTransport
from tejat.mcp.types import ClientCallbacks, McpProgress, McpRoot

LONG = RequestTimeouts(idle=SECONDS, total=SECONDS)


class RecordedSession:
    """A conversation, and what was heard in it besides answers."""

    def __init__(self, transport: StdioTransport, host: ClientCallbacks) -> None:
        self.notices: list[str] = []
        self.ends: list[McpFailure] = []
        self.talk = JsonRpcSession(
            transport, ServerRequestHandler("bad", host), on_notification=self.notices.append, on_end=self.ends.append
        )

    async def call(self, name: str, patience: RequestTimeouts = LONG, **arguments: object) -> JsonObject:
        params: JsonObject = {"name": name, "arguments": arguments}  # type: ignore[dict-item]
        return await self.talk.request("tools/call", params, timeouts=patience)

    async def ask(self, method: str, **more: Any) -> object:
        """What the server was answered when it asked."""
        return json.loads(first_text(await self.call("ask", method=method, **more)))


@asynccontextmanager
async def talking(*faults: str, host: ClientCallbacks = ClientCallbacks()) -> AsyncGenerator[RecordedSession]:  # noqa: B008
    async with open_supervisor() as supervisor:
        arguments = ("-SE", str(HOSTILE), *faults)
        transport = StdioTransport(supervisor, sys.executable, arguments, directory="/", environment=dict(os.environ))
        heard = RecordedSession(transport, host)
        try:
            await heard.talk.open()
            yield heard
        finally:
            await heard.talk.close()


async def failure_of(work: object) -> McpFailure:
    with pytest.raises(McpFailure) as caught:
        await work  # type: ignore[misc]
    return caught.value


def test_each_request_gets_its_own_answer() -> None:
    async def main() -> None:
        async with talking() as heard:
            slow = asyncio.create_task(heard.call("slow", steps=1, seconds=0.2))
            answers = await asyncio.gather(*(heard.call("echo", n=number) for number in range(30)))
            assert [json.loads(first_text(answer)) for answer in answers] == [{"n": number} for number in range(30)]
            assert first_text(await slow) == "slow and steady"
            assert not heard.talk.has_pending_requests
            assert (heard.notices, heard.ends) == ([], [])

    run_checked(main())


@pytest.mark.parametrize("fault", ["banner", "bad-utf8", "crlf", "batch", "empty-lines", "halves", "together"])
def test_noise_does_not_matter(fault: str) -> None:
    async def main() -> str:
        async with talking(fault) as heard:
            return first_text(await heard.call("echo", text="ü"))

    assert run_checked(main()) == '{"text": "\\u00fc"}'


def test_a_refusal_is_told_in_words_that_can_be_shown() -> None:
    async def main() -> McpFailure:
        async with talking("broken=tools/call") as heard:
            return await failure_of(heard.call("echo"))

    failure = run_checked(main())
    assert (failure.message, failure.problem, failure.code) == (
        "The server returned an error: It <U+001B>[31mbroke<U+001B>[0m (code -32603)",
        McpProblem.REFUSED,
        -32603,
    )


@pytest.mark.parametrize(
    ("fault", "problem"),
    [
        ("silent=tools/call", McpProblem.TIMED_OUT),
        ("wrong-id=tools/call", McpProblem.TIMED_OUT),
        ("odd=tools/call", McpProblem.MALFORMED),
    ],
)
def test_no_answer_that_is_one(tmp_path: Path, fault: str, problem: McpProblem) -> None:
    log = tmp_path / "log"

    async def main() -> McpFailure:
        async with talking(fault, f"record={log}") as heard:
            failure = await failure_of(heard.call("echo", RequestTimeouts(idle=0.5, total=9)))
            if problem is McpProblem.TIMED_OUT:
                await wait_until_async(lambda: "notifications/cancelled" in read_methods(log))
                assert read_messages(log)[-1]["params"] == {"requestId": 1, "reason": "nobody waits for it any more"}
            # The server can be used as before.
            assert await heard.talk.request("ping", timeouts=LONG) == {}
            assert not heard.talk.has_pending_requests
            return failure

    failure = run_checked(main())
    assert failure.problem is problem
    if problem is McpProblem.TIMED_OUT:
        assert failure.message == "The server did not answer within 0.5 seconds (tools/call)."
        assert read_methods(log) == ["tools/call", "notifications/cancelled", "ping"]


def test_second_and_late_answers_are_dropped() -> None:
    async def main() -> None:
        async with talking("twice=tools/call", "late=0.5") as heard:
            assert (
                await failure_of(heard.call("echo", RequestTimeouts(idle=0.2, total=9)))
            ).problem is McpProblem.TIMED_OUT
            assert first_text(await heard.call("echo", n=2)) == '{"n": 2}'
            assert first_text(await heard.call("echo", n=3)) == '{"n": 3}'

    run_checked(main())


def test_progress_gives_more_time_until_the_cap() -> None:
    told: list[McpProgress] = []

    async def slow(heard: RecordedSession, steps: int, patience: RequestTimeouts) -> JsonObject:
        params: JsonObject = {"name": "slow", "arguments": {"steps": steps, "seconds": 0.3}}
        return await heard.talk.request("tools/call", params, timeouts=patience, on_progress=told.append)

    async def main() -> McpFailure:
        async with talking() as heard:
            # Longer than the idle limit in all, and each step shorter.
            assert first_text(await slow(heard, 6, RequestTimeouts(idle=1.5, total=SECONDS))) == "slow and steady"
            return await failure_of(slow(heard, 1000, RequestTimeouts(idle=1.5, total=2.0)))

    failure = run_checked(main())
    assert told[:6] == [McpProgress(step, 6, f"step {step}") for step in range(1, 7)]
    assert failure.message == "The server did not answer within 2 seconds (tools/call)."


def test_progress_that_is_none_and_listeners_that_fail(caplog: pytest.LogCaptureFixture) -> None:
    def listen(progress: McpProgress) -> None:
        raise ValueError(progress)

    async def main() -> str:
        async with talking() as heard:
            told: list[object] = []
            asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context["message"]))
            params: JsonObject = {"name": "slow", "arguments": {"steps": 2, "seconds": 0}}
            answer = await heard.talk.request("tools/call", params, timeouts=LONG, on_progress=listen)
            assert told == ["progress could not be told"] * 2
            return first_text(answer)

    assert run_checked(main()) == "slow and steady"
    assert caplog.messages == []


def test_a_request_that_is_cancelled_is_taken_back(tmp_path: Path) -> None:
    log = tmp_path / "log"

    async def main() -> None:
        async with talking(f"record={log}") as heard:
            task = asyncio.create_task(heard.call("hang"))
            await wait_until_async(lambda: read_methods(log) == ["tools/call"])
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await wait_until_async(lambda: read_methods(log) == ["tools/call", "notifications/cancelled"])
            assert not heard.talk.has_pending_requests

    run_checked(main())


def test_the_handshake_is_never_taken_back(tmp_path: Path) -> None:
    log = tmp_path / "log"

    async def main() -> None:
        async with talking("silent=initialize", f"record={log}") as heard:
            task = asyncio.create_task(heard.talk.request("initialize", {}))
            await wait_until_async(lambda: read_methods(log) == ["initialize"])
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await heard.talk.request("ping", timeouts=LONG)

    run_checked(main())
    assert read_methods(log) == ["initialize", "ping"]


def test_a_server_that_ends_fails_everybody_who_waits_and_whoever_comes_later() -> None:
    async def main() -> None:
        async with talking("die=ping") as heard:
            waiting = [asyncio.create_task(heard.call("hang")) for _ in range(3)]
            failures = [await failure_of(heard.talk.request("ping", timeouts=LONG))]
            failures += [await failure_of(task) for task in waiting]
            assert [failure.message for failure in failures] == ["The server exited with code 3."] * 4
            assert not any(isinstance(failure, RequestNotSent) for failure in failures)
            late = [await failure_of(heard.call("echo")), await failure_of(heard.talk.notify("notifications/x"))]
            assert [(type(failure), failure.problem) for failure in late] == [(RequestNotSent, McpProblem.CLOSED)] * 2
            assert heard.talk.is_closed
            assert [failure.message for failure in heard.ends] == ["The server exited with code 3."]

    run_checked(main())


def test_closing_fails_whoever_waits_and_tells_nobody_else() -> None:
    async def main() -> None:
        async with talking() as heard:
            waiting = asyncio.create_task(heard.call("hang"))
            await heard.talk.request("ping", timeouts=LONG)
            await heard.talk.close()
            await heard.talk.close()
            failure = await failure_of(waiting)
            assert failure.message == "The connection to the server was closed."
            assert heard.ends == []

    run_checked(main())


async def accept(alias: str, params: JsonObject) -> JsonObject:
    return {"action": "accept", "content": {"alias": alias, **params}}


async def ponder(*_: object) -> JsonObject:
    await asyncio.sleep(3)
    return {"action": "decline"}


async def wait_for_ever(*_: object) -> JsonObject:
    await asyncio.sleep(SECONDS * 10)
    raise AssertionError


def test_the_server_is_answered() -> None:
    host = ClientCallbacks(lambda: [McpRoot("file:///w", "w")], accept, accept)

    async def main() -> list[object]:
        async with talking(host=host) as heard:
            asked = ("ping", "roots/list", "elicitation/create", "sampling/createMessage", "who/knows")
            return [await heard.ask(method, params={"a": 1}) for method in asked]

    accepted = {"action": "accept", "content": {"alias": "bad", "a": 1}}
    refused = {"code": -32601, "message": "There is no such method here."}
    assert run_checked(main()) == [{}, {"roots": [{"uri": "file:///w", "name": "w"}]}, accepted, accepted, refused]


def test_while_somebody_thinks_no_call_is_too_slow() -> None:
    async def main() -> object:
        async with talking(host=ClientCallbacks(elicit=ponder)) as heard:
            patience = RequestTimeouts(idle=2, total=SECONDS)
            params: JsonObject = {"name": "ask", "arguments": {"method": "elicitation/create"}}
            return first_text(await heard.talk.request("tools/call", params, timeouts=patience))

    assert run_checked(main()) == '{"action": "decline"}'


def test_questions_that_are_taken_back_or_asked_without_end(tmp_path: Path) -> None:
    log = tmp_path / "log"

    async def main() -> None:
        async with talking(f"record={log}", host=ClientCallbacks(elicit=wait_for_ever)) as heard:
            question: dict[str, Any] = {"method": "elicitation/create"}
            assert first_text(await heard.call("ask", cancel=True, **question)) == "taken back"
            await heard.talk.request("ping", timeouts=LONG)
            # The same question many times is one question; sixteen may be open.
            calls = [asyncio.create_task(heard.call("ask", times=3, **question)) for _ in range(18)]
            done, _ = await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED, timeout=SECONDS)
            await wait_until_async(lambda: sum(task.done() for task in calls) == 2)
            refused = {"code": -32603, "message": "There are too many questions open."}
            assert [json.loads(first_text(task.result())) for task in done] == [refused] * len(done)
            for task in calls:
                task.cancel()
            await asyncio.wait(calls)

    run_checked(main())
    # Nothing was answered to what was taken back.
    assert [
        message["id"] for message in read_messages(log) if "error" in message and message["id"] == "question-1"
    ] == []


def test_what_is_logged_is_kept_and_bounded() -> None:
    async def main() -> tuple[str, ...]:
        async with talking("together", "words=on stderr") as heard:
            for number in range(30):
                await heard.call("echo", n=number)
            return heard.talk.recent_output

    assert run_checked(main()) == ("hello",) * 20
