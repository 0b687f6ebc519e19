"""The events of a session process, for front ends that come later."""

from collections import deque
from collections.abc import Sequence

from tejat.core.agent.events import (
    AgentEvent,
    Noticed,
    Prompted,
    RunEnded,
    SessionStarted,
    Severity,
    TextStreamed,
    ThoughtStreamed,
)
from tejat.core.i18n import _

_MAX_EVENTS = 20_000


class EventLog:
    """Keeps the latest events, with the pieces of a streamed text as one."""

    def __init__(self, *, max_events: int = _MAX_EVENTS) -> None:
        self._events: deque[AgentEvent] = deque(maxlen=max_events)
        self._streamed: type[TextStreamed | ThoughtStreamed] | None = None
        self._pieces: list[str] = []
        self.is_running = False

    def record(self, event: AgentEvent) -> None:
        """Keep an event."""
        if isinstance(event, TextStreamed | ThoughtStreamed):
            if type(event) is not self._streamed:
                self._end_stream()
            self._streamed = type(event)
            self._pieces.append(event.text)
            return
        self._end_stream()
        self._events.append(event)
        if isinstance(event, SessionStarted):
            self.is_running = True
        elif isinstance(event, RunEnded):
            self.is_running = False

    def recent_runs(self, count: int) -> Sequence[AgentEvent]:
        """The events of the latest runs, with the one in progress."""
        return [event for run in self._runs()[-count:] for event in run]

    def complete(self, replayed: Sequence[AgentEvent]) -> Sequence[AgentEvent]:
        """The whole conversation: what is known of it from its messages, and the logged runs in place of their part.

        Runs that were rewound, and those of other conversations, are left out.
        """
        places = {id(event.message): index for index, event in enumerate(replayed) if isinstance(event, Prompted)}
        runs = self._runs()
        if self.is_running and not isinstance(runs[-1][0], SessionStarted):
            # The beginning of the run in progress is lost, and its messages are a part of the replayed ones.
            end = max(places.values(), default=-1) + 1
            gap = Noticed(_("The beginning of this run is not shown: it has too many events."), Severity.NOTE)
            return (*replayed[:end], gap, *runs[-1])
        cut, kept = len(replayed), list[AgentEvent]()
        for run in runs:
            prompt = next((event for event in run if isinstance(event, Prompted)), None)
            place = None if prompt is None else places.get(id(prompt.message))
            if place is not None:
                cut = min(cut, place)
                kept += run
        current = runs[-1] if self.is_running else ()
        if not any(isinstance(event, Prompted) for event in current):
            kept += current
        return (*replayed[:cut], *kept)

    def _runs(self) -> list[list[AgentEvent]]:
        """The events of each run, with those after it. Without its beginning only the last one counts."""
        self._end_stream()
        runs: list[list[AgentEvent]] = [[]]
        for event in self._events:
            if isinstance(event, SessionStarted):
                runs.append([])
            runs[-1].append(event)
        return runs if len(runs) == 1 else runs[1:]

    def _end_stream(self) -> None:
        """Keep the pieces that came one after the other as one event."""
        if self._streamed is not None:
            self._events.append(self._streamed("".join(self._pieces)))
            self._streamed = None
            self._pieces.clear()
