"""Task files in CSV: a header with the names of the fields. Every other column is a variable."""

import csv
from collections import deque
from collections.abc import Iterator, Mapping

from tejat.batch.plan.fields import (
    ALIASES,
    FIELD_NAMES,
    IGNORED_FIELDS,
    MAX_TEXT_BYTES,
    NUMBERS,
    SWITCHES,
)
from tejat.batch.plan.text_lines import UnusableLine, decode_line, line_source, read_lines
from tejat.batch.plan.types import RejectedTask, TaskRecord
from tejat.batch.result import TaskFailure
from tejat.core.errors import UsageError
from tejat.core.i18n import _, ngettext
from tejat.core.json_text import InvalidJson, load_json
from tejat.core.sanitize import sanitize_line

_SWITCH_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def read_csv(path: str) -> Iterator[TaskRecord | RejectedTask]:
    """The records of a file, one in memory at a time. Raises UsageError if it or its header cannot be read.

    An empty cell of a field means that the field is not set.
    """
    rows = _Rows(path)
    header = _read_header(rows, path)
    for number, row in rows:
        source, fallback_id = line_source(path, number), f"line-{number}"
        if isinstance(row, UnusableLine):
            yield RejectedTask(fallback_id, TaskFailure.INPUT, str(row), source)
        elif len(row) != len(header):
            count = ngettext("{count} column", "{count} columns", len(row))
            message = _("The line has {count}, the header {expected}.", count=count, expected=len(header))
            yield RejectedTask(fallback_id, TaskFailure.INPUT, message, source)
        else:
            yield TaskRecord(_to_values(dict(zip(header, row, strict=True))), fallback_id, source)


def _read_header(rows: "_Rows", path: str) -> list[str]:
    _number, header = next(rows, (0, None))
    if header is None:
        raise UsageError(_("{path} has no tasks.", path=path))
    if isinstance(header, UnusableLine):
        raise UsageError(_("{path}: invalid header: {why}", path=path, why=header))
    names = [name.strip() for name in header]
    for at, name in enumerate(names, 1):
        if not name:
            raise UsageError(_("{path}: column {at} has no name in the header.", path=path, at=at))
        if name in names[: at - 1]:
            raise UsageError(_("{path}: column {name} occurs twice.", path=path, name=sanitize_line(name)))
    if "repo" not in names:
        shown = sanitize_line(", ".join(names))[:_SHOWN_LENGTH]
        raise UsageError(
            _("{path} has no column repo. Columns: {names}. Separate columns by commas.", path=path, names=shown)
        )
    return names


class _Rows(Iterator[tuple[int, list[str] | UnusableLine]]):
    """The rows with the numbers of their first lines. Rows without any text are ignored.

    If a row cannot be parsed, only its first line is lost: a quote that is never closed does not swallow the rest.
    """

    def __init__(self, path: str) -> None:
        self._lines = read_lines(path)
        self._pending = deque[tuple[int, bytes | None]]()
        """Lines to be read again."""
        self._taken: list[tuple[int, bytes | None]] = []
        """The lines of the current row."""

    def __next__(self) -> tuple[int, list[str] | UnusableLine]:
        # The limit is that of the process. It is set late, for nobody else should have to expect it.
        csv.field_size_limit(MAX_TEXT_BYTES)
        while True:
            self._taken = []
            row = self._parse_row()
            if row is None:
                raise StopIteration
            if isinstance(row, UnusableLine) or any(map(str.strip, row)):
                return self._taken[0][0], row

    def _parse_row(self) -> list[str] | UnusableLine | None:
        try:
            return next(csv.reader(self._take_lines(), strict=True), None)
        except UnusableLine as error:
            problem = error
        except csv.Error as error:
            # Python's message is about how to open the file, which is no help to users.
            is_stray = str(error).startswith("new-line character")
            why = _("a carriage return outside quotes") if is_stray else str(error)
            problem = UnusableLine(_("Invalid CSV: {why}.", why=why))
        self._pending.extendleft(reversed(self._taken[1:]))
        return problem

    def _take_lines(self) -> Iterator[str]:
        size = 0
        while (line := self._next_line()) is not None:
            self._taken.append(line)
            size += len(line[1] or b"")
            if size > MAX_TEXT_BYTES:
                raise UnusableLine(_("The row is longer than {size} MB.", size=MAX_TEXT_BYTES // 2**20))
            yield decode_line(line[1])

    def _next_line(self) -> tuple[int, bytes | None] | None:
        return self._pending.popleft() if self._pending else next(self._lines, None)


def _to_values(row: Mapping[str, str]) -> dict[str, object]:
    values: dict[str, object] = {}
    variables: dict[str, object] = {}
    for name, cell in row.items():
        if name in FIELD_NAMES or name in ALIASES:
            values[name] = _to_value(name, cell)
        elif not (name in IGNORED_FIELDS and "instance_id" in row):
            variables[name] = cell
    given = values.get("vars")
    if given is None or isinstance(given, dict):
        values["vars"] = {**variables, **(given or {})}
    return values


def _to_value(name: str, cell: str) -> object:
    """The value of a cell. Text that is not what the field needs stays as it is, for the error message."""
    if not cell.strip():
        return None
    if name in SWITCHES:
        return _SWITCH_WORDS.get(cell.strip().lower(), cell)
    try:
        if name in NUMBERS:
            return float(cell)
        return load_json(cell, unique_keys=True) if name == "vars" else cell
    except (ValueError, InvalidJson):
        return cell


_SHOWN_LENGTH = 200
