"""Incremental parser for server-sent events."""

import re

from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy

MAX_EVENT_BYTES = 64 * 2**20
"""Maximum size of one event: more than any answer with pictures needs."""
MAX_STREAM_BYTES = 4 * MAX_EVENT_BYTES
"""Maximum size of a stream: an endless one must not fill the memory."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_MAX_RETRY_DIGITS = 12
_PLAIN_EVENT = rb"(?:event: ?([^\r\n]*)\r?\n)?data: ?([^\r\n]*)\r?\n\r?\n"
"""A whole event as nearly all servers send it. Line by line it would take several times as long."""
_LINE_END = rb"\r\n?|\n"


class SseEvent(Frozen):
    """One event. `event` is its type, empty if the server sent none."""

    event: str
    data: str


class EventTooLong(ValueError):
    """An event is longer than any well-meaning server would send."""


class SseParser:
    """Parser of one stream. Comments are ignored.

    `last_id` is the id of the last complete event that had one, also without data. `retry` is the reconnection delay in
    seconds requested by the server, None if there is none.
    """

    def __init__(self, max_bytes: int = MAX_EVENT_BYTES) -> None:
        self.last_id = ""
        self.retry: float | None = None
        self._max_bytes = max_bytes
        self._id = b""
        self._line: list[bytes] = []
        self._event = b""
        self._data: list[bytes] = []
        self._size = 0
        self._at_start = True
        self._after_return = False

    def feed(self, data: bytes) -> list[SseEvent]:
        """Return the events that these bytes complete. Raises EventTooLong."""
        if self._after_return and data:
            # The second half of a split CRLF.
            data = data.removeprefix(b"\n")
            self._after_return = False
        events: list[SseEvent] = []
        match_event, find_line_end = re.compile(_PLAIN_EVENT).match, re.compile(_LINE_END).search
        place = 0
        while place < len(data):
            is_between_events = not (self._size or self._line or self._data)
            if is_between_events and (found := match_event(data, place)) and len(found[0]) <= self._max_bytes:
                kind, content = found.groups()
                events.append(SseEvent(_decode(kind) if kind else "", _decode(content)))
                place = found.end()
                self._at_start = self._after_return = False
                continue
            found = find_line_end(data, place)
            end = found.end() if found else len(data)
            self._read_line(data[place:end], events)
            place = end
        return events

    def _read_line(self, piece: bytes, events: list[SseEvent]) -> None:
        """Read a line, or a part of one without its end. Raises EventTooLong."""
        self._size += len(piece)
        if self._size > self._max_bytes:
            raise EventTooLong(lazy("an event longer than {most} bytes", most=self._max_bytes))
        self._line.append(piece)
        self._after_return = piece.endswith(b"\r")
        if self._after_return or piece.endswith(b"\n"):
            self._end_line(events)

    def end(self) -> list[SseEvent]:
        """Return the last event if the stream ended without an empty line. It may be incomplete."""
        events: list[SseEvent] = []
        if self._line:
            self._end_line(events)
        self._end_event(events)
        return events

    def restart(self) -> None:
        """Start with another stream that continues after `last_id`; an incomplete event is dropped."""
        self._line.clear()
        self._data.clear()
        self._event = b""
        self._id = self.last_id.encode()
        self._size = 0
        self._at_start = True
        self._after_return = False

    def _end_line(self, events: list[SseEvent]) -> None:
        line = b"".join(self._line).rstrip(b"\r\n")
        self._line.clear()
        if self._at_start:
            line = line.removeprefix(_BYTE_ORDER_MARK)
            self._at_start = False
        if not line:
            self._end_event(events)
            return
        field, _, value = line.partition(b":")
        if field == b"data":
            self._data.append(value.removeprefix(b" "))
        elif field == b"event":
            self._event = value.removeprefix(b" ")
        elif field == b"id" and b"\0" not in value:
            self._id = value.removeprefix(b" ")
        elif field == b"retry" and value.strip().isdigit() and len(value) <= _MAX_RETRY_DIGITS:
            self.retry = int(value) / 1000

    def _end_event(self, events: list[SseEvent]) -> None:
        if self._data:
            events.append(SseEvent(_decode(self._event), _decode(b"\n".join(self._data))))
        self.last_id = _decode(self._id)
        self._data.clear()
        self._event = b""
        self._size = 0


def _decode(text: bytes) -> str:
    return text.decode("utf-8", "replace")
