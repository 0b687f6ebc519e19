"""Progress for programs: one JSON object per event."""

from collections.abc import Callable
from types import TracebackType

from tejat.batch.event_json import EVENT_VERSION, event_to_json
from tejat.batch.events import BatchEvent
from tejat.core.json_text import dump_json
from tejat.ui.headless.standard_streams import StandardStreams


class JsonEvents:
    """A listener that writes each event as a line of JSON, by default to standard output.

    The first line has the version of the format. `write` gets whole lines and must not raise; what happens when
    standard output is closed is up to `StandardStreams.on_failure`.
    """

    def __init__(self, write: Callable[[str], None] | None = None) -> None:
        self._write = StandardStreams().write_result if write is None else write
        self._is_first = True

    def __enter__(self) -> "JsonEvents":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def __call__(self, event: BatchEvent) -> None:
        line = event_to_json(event)
        if self._is_first:
            line = {**line, "version": EVENT_VERSION}
            self._is_first = False
        self._write(dump_json(line) + "\n")
