"""Task files in JSONL: an object per line. Blank lines are ignored."""

from collections.abc import Iterator
from typing import cast

from tejat.batch.plan.fields import show_value
from tejat.batch.plan.text_lines import UnusableLine, decode_line, line_source, read_lines
from tejat.batch.plan.types import RejectedTask, TaskRecord
from tejat.batch.result import TaskFailure
from tejat.core.i18n import _
from tejat.core.json_text import InvalidJson, load_json


def read_jsonl(path: str) -> Iterator[TaskRecord | RejectedTask]:
    """The records of a file, one line in memory at a time. Raises UsageError if it cannot be read."""
    for number, line in read_lines(path):
        if line is not None and not line.strip():
            continue
        source, fallback_id = line_source(path, number), f"line-{number}"
        try:
            values = load_json(decode_line(line).rstrip("\r\n"), unique_keys=True)
        except UnusableLine as error:
            yield RejectedTask(fallback_id, TaskFailure.INPUT, str(error), source)
            continue
        except InvalidJson as error:
            # The text is one line, and the source has its number.
            why = str(error).replace("at line 1, column", "at column")
            yield RejectedTask(fallback_id, TaskFailure.INPUT, _("Invalid JSON: {why}.", why=why), source)
            continue
        if isinstance(values, dict):
            yield TaskRecord(cast("dict[str, object]", values), fallback_id, source)
        else:
            message = _(
                "A task must be an object such as {example}, not {value}.", example=_EXAMPLE, value=show_value(values)
            )
            yield RejectedTask(fallback_id, TaskFailure.INPUT, message, source)


_EXAMPLE = '{"id": "a", "repo": "path", "prompt": "text"}'
