"""A late front end shows the same transcript from fewer events."""

from collections.abc import Sequence

from support.sample_events import ALL_EVENTS
from tejat.core.agent.events import AgentEvent, Answered
from tejat.core.messages.history import Message, Role
from tejat.core.messages.types import FunctionCall
from tejat.core.model import ModelResponse
from tejat.core.tools.base import ToolResult
from tejat.core.tools.call_events import CallFinished, CallState, OutputUpdated, StateChanged
from tejat.engine.sessions.event_digest import digest_events
from tejat.ui.html.transcript import HtmlTranscript

CALL = FunctionCall("glob", {"pattern": "*"}, "c1")
DONE = CallFinished(0, CALL, CallState.SUCCESS, ToolResult("x", "x"), (), 0.1)


def steps() -> list[AgentEvent]:
    states = (CallState.VALIDATING, CallState.SCHEDULED, CallState.EXECUTING)
    return [*(StateChanged(0, CALL, state) for state in states), OutputUpdated(0, CALL, "some")]


def markup(events: Sequence[AgentEvent]) -> list[str]:
    transcript = HtmlTranscript(root="/project", clock=lambda: 0.0)
    for event in events:
        transcript.handle_event(event)
    return [block.html for block in transcript.blocks()]


def test_steps_of_an_ended_call_are_left_out_and_those_of_a_running_one_stay() -> None:
    answered = Answered(ModelResponse(Message(Role.MODEL, (CALL,))), 0.1)
    assert digest_events([*steps(), DONE, answered, *steps()]) == [steps()[0], DONE, answered, *steps()]


def test_the_transcript_is_the_same() -> None:
    events = [*ALL_EVENTS, *steps(), DONE]
    assert markup(digest_events(events)) == markup(events)
