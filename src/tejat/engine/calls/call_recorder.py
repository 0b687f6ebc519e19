"""Recording of call responses before the end of the calls is reported."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tejat.core.agent.history_events import CallResponsesAdded, HistoryEventSink
from tejat.core.tools.call_events import CallFinished, CallState, StateChanged

if TYPE_CHECKING:
    from tejat.core.agent.events import EventSink
    from tejat.core.tools.call_events import Event

_FINAL_STATES = frozenset({CallState.SUCCESS, CallState.ERROR, CallState.CANCELLED})
_EARLY_STATES = frozenset({CallState.VALIDATING, CallState.AWAITING_APPROVAL})
"""States in which hooks and the approver hear of a call. They must know how the calls before it have ended."""


class CallRecorder:
    """A listener for the events of one batch of calls. Call `flush` when the batch is over.

    The end of a call is forwarded to `emit` after its response went to `record`. Calls that end in the same iteration
    of the event loop are recorded together, but before another call is validated or a question asked about it. The
    first error that `emit` raises is kept as `sink_error`.
    """

    def __init__(self, record: HistoryEventSink, emit: EventSink) -> None:
        self.sink_error: Exception | None = None
        self._record = record
        self._emit = emit
        self._pending: list[Event] = []

    def __call__(self, event: Event) -> None:
        if self._pending and _has_state(event, _EARLY_STATES):
            self.flush()
        if not self._pending and not _is_final(event):
            self._forward(event)
            return
        if not self._pending:
            asyncio.get_running_loop().call_soon(self.flush)
        self._pending.append(event)

    def flush(self) -> None:
        pending, self._pending = self._pending, []
        responses = [(event.index, event.response) for event in pending if isinstance(event, CallFinished)]
        if responses:
            self._record(CallResponsesAdded(responses))
        for event in pending:
            self._forward(event)

    def _forward(self, event: Event) -> None:
        try:
            self._emit(event)
        except Exception as error:  # noqa: BLE001 -- whoever runs the batch raises it
            self.sink_error = self.sink_error or error


def _is_final(event: Event) -> bool:
    return isinstance(event, CallFinished) or _has_state(event, _FINAL_STATES)


def _has_state(event: Event, states: frozenset[CallState]) -> bool:
    return isinstance(event, StateChanged) and event.state in states
