"""Server-sent events out of bytes, however the bytes were cut on their way."""

from typing import NamedTuple

from tejat.core.i18n import gettext_lazy

MAX_EVENT_BYTES = 64 * 2**20
"""How long one event may be: more than any answer with pictures, less than what would hurt."""
MAX_STREAM_BYTES = 4 * MAX_EVENT_BYTES
"""How long a whole stream may be: a server that never comes to an end must not fill the memory."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_MAX_RETRY_DIGITS = 12


class SseEvent(NamedTuple):
    """One event. `event` is its type, empty where the server gave none."""

    event: str
    data: str


class EventTooLong(ValueError):
    """No event of a well-meaning server has that many bytes."""


class SseParser:
    """Reads one stream. Comments are passed over.

    `last_id` is where the stream has come to: the id of the last event that is whole and had one, or an event without
    data that only told it. `retry` is how many seconds the server wants to be left alone before somebody connects
    again, None where it did not say.
    """

    def __init__(self, most: int = MAX_EVENT_BYTES) -> None:
        self.last_id = ""
        self.retry: float | None = None
        self._most = most
        self._id = b""
        self._line: list[bytes] = []
        self._event = b""
        self._data: list[bytes] = []
        self._size = 0
        self._at_start = True
        self._after_return = False

    def feed(self, data: bytes) -> list[SseEvent]:
        """The events that these bytes complete. Raises EventTooLong."""
        if self._after_return and data:
            # The second half of a line end that was cut in two.
            data = data.removeprefix(b"\n")
            self._after_return = False
        events: list[SseEvent] = []
        for piece in data.splitlines(keepends=True):
            self._size += len(piece)
            if self._size > self._most:
                raise EventTooLong(gettext_lazy("an event is longer than {most} bytes", most=self._most))
            self._line.append(piece)
            self._after_return = piece.endswith(b"\r")
            if self._after_return or piece.endswith(b"\n"):
                self._end_line(events)
        return events

    def end(self) -> list[SseEvent]:
        """The event that the stream ended in, if it did not end with an empty line. It may be only half there."""
        events: list[SseEvent] = []
        if self._line:
            self._end_line(events)
        self._end_event(events)
        return events

    def restart(self) -> None:
        """Begin with another stream that goes on after `last_id`: the event that the old one broke off in is lost."""
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
            data = b"\n".join(self._data).decode("utf-8", "replace")
            events.append(SseEvent(self._event.decode("utf-8", "replace"), data))
        self.last_id = self._id.decode("utf-8", "replace")
        self._data.clear()
        self._event = b""
        self._size = 0
