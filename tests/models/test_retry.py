import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Never

import pytest

from support.model_servers.client_use import joined_text
from support.model_servers.gemini import ModelServer, Reply, chunk, error_reply, function_call, stream, text_reply
from tejat import SyncAgent, function_model
from tejat.core.frozen import replace
from tejat.core.messages.history import user_message
from tejat.core.model import (
    Capability,
    Chunk,
    FailureKind,
    FinishReason,
    ModelClient,
    ModelFailure,
    ModelRequest,
    ModelResponse,
    Retry,
    TextDelta,
)
from tejat.models import ModelOptions
from tejat.models.gemini.client import open_gemini
from tejat.models.retry import MAX_CALLS, RetryingModel

HELLO = ModelRequest([user_message("hi")])
BUSY = "The service is unavailable. (HTTP 503) busy"


@dataclass
class Outcome:
    """What came of one request: all chunks, the failure if there was one, and how long it slept in between."""

    chunks: list[Chunk] = field(default_factory=list[Chunk])
    failure: ModelFailure | None = None
    slept: list[float] = field(default_factory=list[float])
    requests: int = 0

    @property
    def retries(self) -> list[Retry]:
        return [found for found in self.chunks if isinstance(found, Retry)]

    @property
    def text(self) -> str:
        assert isinstance(self.chunks[-1], ModelResponse)
        return self.chunks[-1].text


def client_of(server: ModelServer) -> ModelClient:
    environment = {"GEMINI_API_KEY": "hunter22", "GOOGLE_GEMINI_BASE_URL": server.address}
    return open_gemini("gemini-2.5-pro", ModelOptions(environment))


def ask(*replies: Reply, request: ModelRequest = HELLO, attempts: int = 5, patience: float = 120.0) -> Outcome:
    outcome = Outcome()

    async def sleep(seconds: float) -> None:
        outcome.slept.append(seconds)

    async def run() -> None:
        model = RetryingModel(
            client_of(server),
            max_attempts=attempts,
            max_total_wait=patience,
            sleep=sleep,
            jitter=lambda: 0.5,
            now=lambda: 0.0,
        )
        try:
            async for found in model.stream(request):
                outcome.chunks.append(found)
        except ModelFailure as failure:
            outcome.failure = failure
        finally:
            await model.close()

    with ModelServer(replies) as server:
        asyncio.run(run())
        outcome.requests = len(server.requests)
    return outcome


def test_a_good_answer_is_left_alone() -> None:
    outcome = ask(text_reply("Hel", "lo"))
    assert joined_text(outcome.chunks[:-1]) == "Hello"
    assert (outcome.text, outcome.slept, outcome.failure) == ("Hello", [], None)


def test_waits_grow_and_each_is_told() -> None:
    outcome = ask(*[error_reply(503, "busy")] * 4, text_reply("Hello"))
    assert outcome.retries == [
        Retry(FailureKind.UNAVAILABLE, BUSY, attempt, 5, wait)
        for attempt, wait in [(1, 1.0), (2, 2.0), (3, 4.0), (4, 8.0)]
    ]
    assert (outcome.slept, outcome.text) == ([1.0, 2.0, 4.0, 8.0], "Hello")


def test_no_wait_is_longer_than_half_a_minute() -> None:
    outcome = ask(*[error_reply(503, "busy")] * 8, attempts=8, patience=1000.0)
    assert outcome.slept == [1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]


def test_attempts_come_to_an_end() -> None:
    outcome = ask(*[error_reply(503, "busy")] * 9, attempts=3)
    assert (outcome.requests, len(outcome.retries)) == (3, 2)
    assert outcome.failure is not None
    assert outcome.failure.message == f"{BUSY}. Gave up after 3 attempts."
    assert (outcome.failure.kind, outcome.failure.status) == (FailureKind.UNAVAILABLE, 503)


@pytest.mark.parametrize(("message", "shown"), [("no room", "no room."), ("Why?", "Why?")])
def test_a_message_of_a_program_becomes_a_sentence(message: str, shown: str) -> None:
    def fail(*_: object) -> Never:
        raise ModelFailure(message, FailureKind.UNAVAILABLE, can_retry=True, retry_after=0)

    with SyncAgent(model=function_model(fail), keeps_session=False) as agent:
        assert agent.ask("Hello").message == f"{shown} Gave up after 5 attempts."


def test_who_wants_a_single_attempt_gets_the_failure_as_it_is() -> None:
    outcome = ask(error_reply(503, "busy"), text_reply("never"), attempts=0)
    assert (outcome.requests, outcome.chunks, str(outcome.failure)) == (1, [], BUSY)


@pytest.mark.parametrize(
    "reply",
    [
        error_reply(429, "slow", retry_after="7"),
        error_reply(429, "slow", retry_delay="7s"),
        error_reply(503, "slow", retry_after="7"),
    ],
)
def test_the_service_says_how_long(reply: Reply) -> None:
    outcome = ask(reply, text_reply("Hello"))
    assert (outcome.slept, outcome.text, outcome.retries[0].wait) == ([7.0], "Hello", 7.0)


def test_a_service_that_wants_more_than_our_patience_is_not_waited_for() -> None:
    outcome = ask(
        error_reply(429, "slow", retry_after="100"), error_reply(429, "slow", retry_after="7200"), text_reply("never")
    )
    assert (outcome.slept, outcome.requests) == ([100.0], 2)
    assert outcome.failure is not None
    assert (outcome.failure.kind, outcome.failure.retry_after) == (FailureKind.RATE_LIMITED, 7200.0)
    assert "The service asks to retry in 2.0 hours, at 1970-01-0" in outcome.failure.message


def test_patience_is_for_all_waits_together() -> None:
    outcome = ask(*[error_reply(503, "busy")] * 5, patience=5.0)
    assert outcome.slept == [1.0, 2.0]
    assert str(outcome.failure) == f"{BUSY}. Gave up after waiting 5 seconds."


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (error_reply(400, "bad"), FailureKind.BAD_REQUEST),
        (error_reply(401, "who?"), FailureKind.AUTHENTICATION),
        (error_reply(403, "no"), FailureKind.AUTHENTICATION),
        (error_reply(404, "none"), FailureKind.BAD_REQUEST),
        (error_reply(400, "input token count exceeds the maximum number of tokens"), FailureKind.CONTEXT_FULL),
        (text_reply("Some", reason="SAFETY"), FailureKind.BLOCKED),
        (stream({"promptFeedback": {"blockReason": "SAFETY"}}), FailureKind.BLOCKED),
        (stream(7), FailureKind.PROTOCOL),
    ],
)
def test_what_is_never_tried_again(reply: Reply, kind: FailureKind) -> None:
    outcome = ask(reply, text_reply("never"))
    assert outcome.failure is not None
    assert (outcome.failure.kind, outcome.requests, outcome.retries) == (kind, 1, [])


CUT = stream(chunk("Hel"), chunk("lo", reason="STOP"), cut_after=300)


@pytest.mark.parametrize("reply", [CUT, stream(chunk("Hel")), stream(chunk("Hel"), {"error": {"code": 503}})])
def test_after_a_cut_stream_it_begins_anew(reply: Reply) -> None:
    outcome = ask(reply, text_reply("Hello"))
    first, retry, second, answer = outcome.chunks
    assert (first, second) == (TextDelta("Hel"), TextDelta("Hello"))
    assert isinstance(retry, Retry)
    assert isinstance(answer, ModelResponse)
    assert answer.text == "Hello"


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (text_reply(), FailureKind.EMPTY),
        (text_reply(" \n"), FailureKind.EMPTY),
        (text_reply("\u200b", "\u2060\ufeff\n"), FailureKind.EMPTY),
        (text_reply({"text": "Hm", "thought": True}), FailureKind.EMPTY),
        (text_reply(reason="OTHER"), FailureKind.EMPTY),
        (text_reply(function_call("f", {}), reason="MALFORMED_FUNCTION_CALL"), FailureKind.MALFORMED_CALL),
        (text_reply("x", reason="UNEXPECTED_TOOL_CALL"), FailureKind.MALFORMED_CALL),
    ],
)
def test_answers_of_no_use_are_asked_for_three_times(reply: Reply, kind: FailureKind) -> None:
    outcome = ask(*[reply] * 9)
    assert (outcome.requests, [retry.max_attempts for retry in outcome.retries]) == (3, [3, 3])
    assert outcome.failure is not None
    assert (outcome.failure.kind, {retry.kind for retry in outcome.retries}) == (kind, {kind})
    assert outcome.failure.message.endswith("Gave up after 3 attempts.")


def test_silence_is_an_answer_where_it_is_allowed() -> None:
    request = replace(HELLO, allows_silence=True)
    outcome = ask(text_reply(), request=request)
    assert (outcome.failure, outcome.requests, outcome.text) == (None, 1, "")
    failed = ask(*[text_reply(reason="OTHER")] * 3, request=request)
    assert failed.failure is not None
    assert (failed.failure.kind, failed.requests) == (FailureKind.EMPTY, 3)


def test_one_of_no_use_and_then_a_good_one() -> None:
    outcome = ask(error_reply(503, "busy"), text_reply(), error_reply(503, "busy"), text_reply("Hello"))
    assert [(retry.attempt, retry.max_attempts) for retry in outcome.retries] == [(1, 5), (2, 4), (3, 5)]
    assert outcome.text == "Hello"


@pytest.mark.parametrize("reply", [text_reply("So far", reason="MAX_TOKENS"), text_reply(reason="MAX_TOKENS")])
def test_an_answer_cut_at_its_length_is_an_answer(reply: Reply) -> None:
    outcome = ask(reply)
    (*_, answer) = outcome.chunks
    assert isinstance(answer, ModelResponse)
    assert answer.reason is FinishReason.MAX_TOKENS


def test_a_picture_is_an_answer() -> None:
    outcome = ask(text_reply({"inlineData": {"mimeType": "image/png", "data": "AAAA"}}))
    assert outcome.failure is None


def test_more_calls_than_anybody_can_follow_are_of_no_use() -> None:
    listing = function_call("list_directory", {"path": "."})
    many = stream(chunk(*[listing] * (MAX_CALLS + 1), reason="STOP"))
    outcome = ask(many, many, many)
    assert outcome.failure is not None
    assert (outcome.failure.kind, outcome.requests) == (FailureKind.MALFORMED_CALL, 3)
    assert outcome.failure.message == (
        "The model made 10001 calls at once; at most 10000 are allowed. Gave up after 3 attempts."
    )
    taken = ask(stream(chunk(*[listing] * MAX_CALLS, reason="STOP"))).chunks[-1]
    assert isinstance(taken, ModelResponse)
    assert len(taken.calls) == MAX_CALLS


def test_an_answer_of_no_use_is_not_asked_for_at_the_same_temperature() -> None:
    bodies = []
    with ModelServer([error_reply(503, "busy"), text_reply(), text_reply("Hello")]) as server:

        async def run() -> None:
            model = RetryingModel(client_of(server), first_wait=0.0)
            async for _ in model.stream(ModelRequest([user_message("hi")], temperature=0.0)):
                pass
            await model.close()

        asyncio.run(run())
        bodies = [json.loads(request.raw)["generationConfig"].get("temperature") for request in server.requests]
    assert bodies == [0.0, 0.0, None]


def test_cancelling_while_it_waits_ends_it_at_once() -> None:
    async def run() -> None:
        model = RetryingModel(client_of(server), first_wait=100.0)
        reader = asyncio.ensure_future(anext(aiter(skip_first(model.stream(HELLO)))))
        await asyncio.sleep(0.3)
        reader.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(reader, 60)
        await model.close()

    with ModelServer([error_reply(503, "busy")]) as server:
        asyncio.run(asyncio.wait_for(run(), 60))
        assert len(server.requests) == 1


async def skip_first(chunks: AsyncGenerator[Chunk]) -> AsyncGenerator[Chunk]:
    async with aclosing(chunks):
        assert isinstance(await anext(chunks), Retry)
        async for found in chunks:
            yield found


def test_it_is_the_model_that_it_stands_for() -> None:
    async def run() -> None:
        inner = client_of(server)
        plain, named = RetryingModel(inner), RetryingModel(inner, name="gemini:gemini-2.5-pro")
        assert (plain.name, named.name) == ("gemini-2.5-pro", "gemini:gemini-2.5-pro")
        assert (plain.context_window, plain.capabilities) == (1_048_576, frozenset(Capability))
        assert await plain.count_tokens(HELLO) == 42
        await plain.close()

    with ModelServer(count=42) as server:
        asyncio.run(run())


def test_chance_spreads_the_waits() -> None:
    async def run() -> list[float]:
        slept: list[float] = []

        async def sleep(seconds: float) -> None:
            slept.append(seconds)

        for _ in range(20):
            model = RetryingModel(client_of(server), max_attempts=2, sleep=sleep)
            with pytest.raises(ModelFailure):
                async for _ in model.stream(HELLO):
                    pass
            await model.close()
        return slept

    with ModelServer([error_reply(503, "busy")] * 40) as server:
        slept = asyncio.run(run())
    assert all(0.7 <= wait <= 1.3 for wait in slept)
    assert len(set(slept)) > 3


def test_connections_are_final_if_the_user_wants_that() -> None:
    async def attempts(*, retries_connections: bool) -> int:
        model = RetryingModel(
            client_of(server), sleep=_no_sleep, max_attempts=3, retries_connections=retries_connections
        )
        chunks = model.stream(HELLO)
        retries = 0
        while True:
            try:
                retries += isinstance(await anext(chunks), Retry)
            except ModelFailure:
                await model.close()
                return retries + 1

    with ModelServer([]) as server:
        pass
    assert asyncio.run(attempts(retries_connections=True)) == 3
    assert asyncio.run(attempts(retries_connections=False)) == 1


async def _no_sleep(_: float) -> None:
    pass
