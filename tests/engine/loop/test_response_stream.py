"""An answer while it arrives."""

import pytest

from tejat.core.agent.events import AgentEvent, TextStreamed, ThoughtStreamed
from tejat.core.model import FailureKind, Retry, TextDelta, ThoughtDelta
from tejat.engine.loop.loop_detector import LoopDetector
from tejat.engine.loop.response_stream import RepetitionDetected, ResponseStream
from tejat.engine.sessions.event_bus import EventBus


def open_stream() -> tuple[ResponseStream, list[AgentEvent]]:
    events = EventBus[AgentEvent]()
    seen: list[AgentEvent] = []
    events.subscribe(seen.append)
    return ResponseStream(events, LoopDetector()), seen


def test_text_and_thoughts_are_emitted_and_text_is_kept() -> None:
    stream, seen = open_stream()
    for chunk in (ThoughtDelta("Hm."), TextDelta("a "), TextDelta("b")):
        stream.receive(chunk)
    assert seen == [ThoughtStreamed("Hm."), TextStreamed("a "), TextStreamed("b")]
    assert stream.text == "a b"


def test_a_retry_makes_the_text_void() -> None:
    stream, _ = open_stream()
    stream.receive(TextDelta("half an ans"))
    stream.receive(Retry(FailureKind.UNAVAILABLE, "busy", 1, 3, 0.0))
    stream.receive(TextDelta("whole"))
    assert stream.text == "whole"


def test_text_that_repeats_itself_ends_it() -> None:
    stream, _ = open_stream()
    sentence = TextDelta("the same sentence again and again, without any end. ")

    def repeat() -> None:
        for _ in range(2000):
            stream.receive(sentence)

    with pytest.raises(RepetitionDetected):
        repeat()
