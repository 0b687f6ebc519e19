"""The answer of a model while it arrives."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tejat.core.agent.events import TextStreamed, ThoughtStreamed
from tejat.core.i18n import lazy
from tejat.core.model import (
    Chunk,
    Delayed,
    FailureKind,
    ModelFailure,
    ModelResponse,
    Retry,
    TextDelta,
    ThoughtDelta,
)
from tejat.engine.loop.loop_detector import LoopDetector
from tejat.engine.sessions.event_bus import EventBus

if TYPE_CHECKING:
    from tejat.core.agent.events import AgentEvent


def refuse_repetition(loop_detector: LoopDetector) -> Callable[[Chunk], None]:
    """Return a listener for the chunks of a summary, which raises ModelFailure if its text repeats itself."""

    def check(chunk: Chunk) -> None:
        if isinstance(chunk, TextDelta) and loop_detector.check_text(chunk.text):
            raise ModelFailure(lazy("The summary repeated itself."), FailureKind.EMPTY)

    loop_detector.reset_text()
    return check


class RepetitionDetected(Exception):
    """The text of an answer repeats itself."""


class ResponseStream:
    """Emits what arrives and keeps its text. Raises RepetitionDetected if it repeats itself."""

    def __init__(self, events: EventBus[AgentEvent], loop_detector: LoopDetector) -> None:
        self._events = events
        self._loop_detector = loop_detector
        self._texts: list[str] = []
        loop_detector.reset_text()

    @property
    def text(self) -> str:
        return "".join(self._texts)

    def receive(self, chunk: Chunk) -> None:
        """Handle the next part of the answer."""
        match chunk:
            case TextDelta(text):
                self._texts.append(text)
                self._events.emit(TextStreamed(text))
                repetition = self._loop_detector.check_text(text)
                if repetition:
                    raise RepetitionDetected(repetition)
            case ThoughtDelta(text):
                self._events.emit(ThoughtStreamed(text))
            case Retry():
                self._texts.clear()
                self._loop_detector.reset_text()
            case Delayed() | ModelResponse():
                pass
