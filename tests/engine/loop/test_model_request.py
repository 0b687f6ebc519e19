"""One request: its chunks, its answer, and what is told when there is none."""

import asyncio
from collections.abc import AsyncGenerator, Sequence

import pytest

from support.agent_run import RecordingModel, text_answer
from tejat.core.agent.events import AgentEvent, AwaitingModel, Noticed, RequestFailed, Retrying, Severity
from tejat.core.frozen import replace
from tejat.core.messages.history import model_message, user_message
from tejat.core.model import (
    Chunk,
    Delayed,
    FailureKind,
    ModelFailure,
    ModelRequest,
    ModelResponse,
    Retry,
    TextDelta,
    ThoughtDelta,
)
from tejat.engine.loop.model_request import request_model

REQUEST = ModelRequest([user_message("go")], purpose="testing")
ANSWER = ModelResponse(model_message("one two"))


class Model(RecordingModel):
    """Gives the chunks that it is told to, or fails."""

    def __init__(self, *chunks: Chunk | Exception) -> None:
        super().__init__([text_answer("Never said.")])
        self.chunks = chunks
        self.is_ended = False

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        try:
            for chunk in self.chunks:
                await asyncio.sleep(0)
                if isinstance(chunk, Exception):
                    raise chunk
                yield chunk
        finally:
            self.is_ended = True


def asked(model: Model, seen: list[Chunk] | None = None) -> tuple[ModelResponse | ModelFailure, list[AgentEvent]]:
    told: list[AgentEvent] = []

    async def main() -> ModelResponse | ModelFailure:
        try:
            answer, seconds = await request_model(
                model, REQUEST, told.append, on_chunk=None if seen is None else seen.append
            )
        except ModelFailure as failure:
            return failure
        assert seconds >= 0
        return answer

    return asyncio.run(main()), told


def test_a_wait_before_the_request_is_reported() -> None:
    assert asked(Model(Delayed("Waiting for the rate limit.", 3.0), TextDelta("one two"), ANSWER)) == (
        ANSWER,
        [Noticed("Waiting for the rate limit.", Severity.NOTE)],
    )


@pytest.mark.parametrize("chunks", [(), (ThoughtDelta("Hm."), TextDelta("one "), TextDelta("two"))])
def test_every_chunk_before_the_answer_is_seen(chunks: Sequence[Chunk]) -> None:
    seen: list[Chunk] = []
    model = Model(*chunks, ANSWER, TextDelta("too late"))
    assert asked(model, seen) == (ANSWER, [])
    assert (seen, model.is_ended) == ([*chunks], True)


def test_nobody_need_watch() -> None:
    assert asked(Model(TextDelta("one two"), ANSWER)) == (ANSWER, [])


def test_another_attempt_is_told() -> None:
    seen: list[Chunk] = []
    retry = Retry(FailureKind.UNAVAILABLE, "busy", 1, 5, 2.5)
    answer, told = asked(Model(TextDelta("void"), retry, ANSWER), seen)
    assert (answer, told) == (ANSWER, [Retrying(FailureKind.UNAVAILABLE, "busy", 1, 5, 2.5, "testing")])
    assert seen == [TextDelta("void"), retry]


def test_a_failure_is_told_and_raised() -> None:
    failure = ModelFailure("not found", FailureKind.BAD_REQUEST)
    raised, (told,) = asked(Model(TextDelta("one "), failure))
    assert raised is failure
    assert isinstance(told, RequestFailed)
    assert told.seconds >= 0
    assert replace(told, seconds=0.0) == RequestFailed(FailureKind.BAD_REQUEST, "not found", 0.0, "testing")


def test_an_answer_that_never_comes_is_a_failure_too() -> None:
    raised, (told,) = asked(Model(TextDelta("one ")))
    assert isinstance(raised, ModelFailure)
    assert (raised.kind, raised.message) == (
        FailureKind.STREAM_CUT,
        "The response was cut off.",
    )
    assert isinstance(told, RequestFailed)
    assert told.kind is FailureKind.STREAM_CUT


def test_whoever_watches_can_stop_it_and_the_stream_is_closed() -> None:
    model = Model(TextDelta("one "), TextDelta("two"), ANSWER)
    told: list[AgentEvent] = []

    def refuse(_: Chunk) -> None:
        raise ZeroDivisionError

    async def main() -> None:
        with pytest.raises(ZeroDivisionError):
            await request_model(model, REQUEST, told.append, on_chunk=refuse)
        assert model.is_ended

    asyncio.run(main())
    assert told == []


def test_a_silent_model_is_reported() -> None:
    class Silent(Model):
        async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
            await enough.wait()
            async for chunk in super().stream(request):
                yield chunk

    told: list[AgentEvent] = []
    enough = asyncio.Event()

    def tell(event: AgentEvent) -> None:
        told.append(event)
        if len(told) == 2:
            enough.set()

    async def main() -> None:
        await request_model(Silent(TextDelta("one"), ANSWER), REQUEST, tell, report_after=0.01)
        await asyncio.sleep(0.1)

    asyncio.run(main())
    first, second = told
    assert isinstance(first, AwaitingModel)
    assert isinstance(second, AwaitingModel)
    assert (first.tokens, first.purpose) == (1, "testing")
    assert 0 < first.seconds < second.seconds
