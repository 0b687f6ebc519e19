"""The timeline of a run."""

from tejat.core.frozen import Frozen
from tejat.core.text.str_enum import StrEnum


class SpanKind(StrEnum):
    REQUEST = "request"
    """A request to a model."""
    CALL = "call"
    """A tool call, without the time that it waited for the user."""
    WAIT = "wait"
    """A question to the user."""
    AGENT = "agent"
    """A run of a sub-agent."""


class TimelineSpan(Frozen):
    """A part of a run, in seconds since 1970. `label` is the model, the tool or the sub-agent.

    `outcome` is the state of a call, the reply to a question or the reason why a sub-agent ended. `agent` is the
    sub-agent that did it, empty for the session itself.
    """

    kind: SpanKind
    label: str
    start: float
    end: float
    outcome: str = ""
    agent: str = ""

    @property
    def seconds(self) -> float:
        return self.end - self.start


class RunTimeline(Frozen):
    """The spans of the run with this number, by their start. Spans at the same time overlap.

    `missing` counts the requests and calls whose times were not recorded.
    """

    number: int
    prompt: str
    started: float
    ended: float
    spans: tuple[TimelineSpan, ...] = ()
    missing: int = 0
