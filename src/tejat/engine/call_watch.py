"""Hands on what happens to calls once it is written down, and writes down together what ends together."""

import asyncio

from tejat.core.agent_events import Tell
from tejat.core.events import CallFinished, CallState, Event, StateChanged
from tejat.engine.journal import Journal

_FINAL = frozenset({CallState.SUCCESS, CallState.ERROR, CallState.CANCELLED})


class CallWatch:
    """Watches one batch of calls. `flush` is to be called when the batch is over.

    The end of a call is told when its response is in the journal. Calls that end in the same moment are written in one
    go. What `tell` raises is kept as `failure`, and after it nothing more is told; the journal is written all the same.
    """

    def __init__(self, journal: Journal | None, tell: Tell) -> None:
        self.failure: Exception | None = None
        self._journal = journal
        self._tell = tell
        self._held: list[Event] = []

    def __call__(self, event: Event) -> None:
        if not self._held and not _is_end(event):
            self._hand_on(event)
            return
        if not self._held:
            asyncio.get_running_loop().call_soon(self.flush)
        self._held.append(event)

    def flush(self) -> None:
        held, self._held = self._held, []
        ended = [(event.index, event.response) for event in held if isinstance(event, CallFinished)]
        if self._journal is not None and ended:
            self._journal.responses(ended)
        for event in held:
            self._hand_on(event)

    def _hand_on(self, event: Event) -> None:
        if self.failure is None:
            try:
                self._tell(event)
            except Exception as error:  # noqa: BLE001 -- whoever runs the batch raises it
                self.failure = error


def _is_end(event: Event) -> bool:
    return isinstance(event, CallFinished) or (isinstance(event, StateChanged) and event.state in _FINAL)
