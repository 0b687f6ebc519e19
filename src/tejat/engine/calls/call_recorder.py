"""Hands on what happens to calls once it is written down, and writes down together what ends together."""

import asyncio

from tejat.core.agent.events import EventSink
from tejat.core.tools.call_events import CallFinished, CallState, Event, StateChanged
from tejat.engine.sessions.journal import SessionJournal

_FINAL_STATES = frozenset({CallState.SUCCESS, CallState.ERROR, CallState.CANCELLED})


class CallRecorder:
    """Watches one batch of calls. `flush` is to be called when the batch is over.

    The end of a call is told when its response is in the journal. Calls that end in the same moment are written in one
    go. What `tell` raises is kept as `failure`, and after it nothing more is told; the journal is written all the same.
    """

    def __init__(self, journal: SessionJournal | None, emit: EventSink) -> None:
        self.sink_error: Exception | None = None
        self._journal = journal
        self._emit = emit
        self._pending: list[Event] = []

    def __call__(self, event: Event) -> None:
        if not self._pending and not _is_final(event):
            self._forward(event)
            return
        if not self._pending:
            asyncio.get_running_loop().call_soon(self.flush)
        self._pending.append(event)

    def flush(self) -> None:
        held, self._pending = self._pending, []
        ended = [(event.index, event.response) for event in held if isinstance(event, CallFinished)]
        if self._journal is not None and ended:
            self._journal.record_responses(ended)
        for event in held:
            self._forward(event)

    def _forward(self, event: Event) -> None:
        if self.sink_error is None:
            try:
                self._emit(event)
            except Exception as error:  # noqa: BLE001 -- whoever runs the batch raises it
                self.sink_error = error


def _is_final(event: Event) -> bool:
    return isinstance(event, CallFinished) or (isinstance(event, StateChanged) and event.state in _FINAL_STATES)
