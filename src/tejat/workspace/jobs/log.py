"""Reading parts of a growing job log, cut between lines if possible, never inside a character or an escape sequence."""

import os
import re
import stat
from typing import BinaryIO

from tejat.core.frozen import Frozen
from tejat.workspace.text.terminal_text import render_terminal_text

MAX_BYTES = 1 << 16

_MAX_PARTIAL_BYTES = 3  # bytes of one that is not complete
_INCOMPLETE = re.compile(
    rb"(?:\x1b(?:\[[0-?]*[ -/]*|[ -/]+)?"  # a terminal code without its end
    rb"|[\xc2-\xf4]|[\xe0-\xf4][\x80-\xbf]|[\xf0-\xf4][\x80-\xbf]{2})\Z"  # the first bytes of a character
)


class LogChunk(Frozen):
    """The log from `offset` up to `next_offset`, as a terminal would show it. All numbers are bytes."""

    text: str
    offset: int
    next_offset: int
    size: int


def read_log(log: BinaryIO, offset: int, *, lines: int | None, is_finished: bool) -> LogChunk:
    """Read the log from `offset` on. An incomplete end is left for the next call unless the job `is_finished`.

    Raises OSError.
    """
    size = _log_size(log)
    offset = min(offset, size)
    raw = os.pread(log.fileno(), MAX_BYTES, offset)
    has_more = offset + len(raw) < size
    if lines is not None:
        raw = _first_lines(raw, lines)
    raw = raw[: _complete_length(raw, has_more=has_more, is_over=is_finished)]
    return LogChunk(_decode(raw), offset, offset + len(raw), size)


def read_log_tail(log: BinaryIO, *, lines: int | None, is_finished: bool) -> LogChunk:
    """Read the last `lines` of the log, or as much of its end as may be read at once. Raises OSError."""
    size = _log_size(log)
    begin = max(size - MAX_BYTES, 0)
    raw = os.pread(log.fileno(), MAX_BYTES, begin)
    if begin > 0:
        skipped = raw.find(b"\n") + 1 or _leading_continuation_bytes(raw)
        begin, raw = begin + skipped, raw[skipped:]
    if lines is not None:
        kept = _last_lines(raw, lines)
        begin, raw = begin + len(raw) - len(kept), kept
    raw = raw[: _complete_length(raw, has_more=False, is_over=is_finished)]
    return LogChunk(_decode(raw), begin, begin + len(raw), size)


def _log_size(log: BinaryIO) -> int:
    status = os.fstat(log.fileno())
    if not stat.S_ISREG(status.st_mode):
        raise OSError(22, "Not a regular file")
    return status.st_size


def _first_lines(raw: bytes, lines: int) -> bytes:
    end = -1
    for _ in range(lines):
        end = raw.find(b"\n", end + 1)
        if end < 0:
            return raw
    return raw[: end + 1]


def _last_lines(raw: bytes, lines: int) -> bytes:
    start = len(raw) - raw.endswith(b"\n")
    for _ in range(lines):
        start = raw.rfind(b"\n", 0, start)
        if start < 0:
            return raw
    return raw[start + 1 :]


def _complete_length(raw: bytes, *, has_more: bool, is_over: bool) -> int:
    """Return the number of complete bytes; 0 only if the rest is yet to come."""
    if has_more and (end := raw.rfind(b"\n") + 1):
        return end
    if is_over and not has_more:
        return len(raw)
    unfinished = _INCOMPLETE.search(raw, max(len(raw) - 64, 0))
    return unfinished.start() if unfinished else len(raw)


def _leading_continuation_bytes(raw: bytes) -> int:
    """Return the number of leading bytes of a character whose first byte is missing."""
    for count in range(_MAX_PARTIAL_BYTES + 1):
        if not 0x80 <= raw[count : count + 1][0] < 0xC0:
            return count
    return 0


def _decode(raw: bytes) -> str:
    return render_terminal_text(raw.decode("utf-8", "replace"))
