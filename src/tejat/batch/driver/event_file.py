"""`events.jsonl`: what happened in a batch, run after run."""

import os
from collections.abc import Callable

from tejat.batch.directory import BatchDirectory
from tejat.batch.driver.commits import missing_line_end
from tejat.batch.driver.results import append_line
from tejat.batch.event_json import event_to_json
from tejat.batch.events import BatchEvent, TaskProgressed
from tejat.core.json_text import dump_json
from tejat.workspace.files.private_files import open_private_file


class BatchEventFile:
    """A listener that appends every event but progress. It is a convenience: a full disk ends it, not the batch."""

    def __init__(self, directory: BatchDirectory, now: Callable[[], float]) -> None:
        """Raises OSError."""
        self._now = now
        self._descriptor = open_private_file(directory.events, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        self._prefix = missing_line_end(self._descriptor)
        self._has_failed = False

    def __call__(self, event: BatchEvent) -> None:
        if isinstance(event, TaskProgressed) or self._has_failed:
            return
        line = dump_json(event_to_json(event, now=self._now())).encode() + b"\n"
        try:
            append_line(self._descriptor, self._prefix + line)
        except OSError:
            self._has_failed = True
        self._prefix = b""

    def close(self) -> None:
        os.close(self._descriptor)
