"""The changed lines of a file after an edit."""

from collections.abc import Sequence

from tejat.tools.edit.report.snippet import MAX_LINE_LENGTH, truncate_line
from tejat.workspace.text.line_edits import common_prefix, common_suffix

_CONTEXT_LINES = 1
_MAX_LINES = 40


def describe_changed_lines(before: str, after: str) -> str:
    """Describe which lines an edit has changed and show them; long output is truncated."""
    if "\n" not in before:
        before, after = before.replace("\r", "\n"), after.replace("\r", "\n")
    start, tail = _common_ends(before, after)
    above = before.count("\n", 0, start)
    old, new = before[start : len(before) - tail].split("\n"), after[start : len(after) - tail].split("\n")
    shorter = min(len(old), len(new))
    front = common_prefix(old, new, limit=shorter)
    back = common_suffix(old, new, limit=shorter - front)
    first, end = max(front - _CONTEXT_LINES, 0), min(len(new) - back + _CONTEXT_LINES, len(new))
    if end == len(new) and not new[-1]:
        end -= 1
    where = f"Line {above + first + 1} is" if end <= first + 1 else f"Lines {above + first + 1}-{above + end} are"
    offset = _first_difference(old[front : front + 1], new[front : front + 1])
    return f"{where} now:\n{_format_lines(new[first:end], offset)}"


def _common_ends(before: str, after: str) -> tuple[int, int]:
    """Count equal characters at both ends, except for some lines of context."""
    shorter = min(len(before), len(after))
    start = common_prefix(before, after, limit=shorter)
    for _ in range(_CONTEXT_LINES + 1):
        start = max(before.rfind("\n", 0, start), 0)
    start = start and start + 1
    tail = common_suffix(before, after, limit=shorter - start)
    end = len(before) - tail
    for _ in range(_CONTEXT_LINES + 2):
        end = before.find("\n", end + 1)
        if end < 0:
            return start, 0
    return start, len(before) - end


def _format_lines(lines: Sequence[str], at: int) -> str:
    parts = [truncate_line(line.removesuffix("\r"), at) for line in lines]
    if len(parts) > _MAX_LINES:
        half = _MAX_LINES // 2
        parts = [*parts[:half], f"[{len(parts) - _MAX_LINES} more lines]", *parts[-half:]]
    return "\n".join(parts)


def _first_difference(old: Sequence[str], new: Sequence[str]) -> int:
    """Offset of the first difference in the first changed line: the part to show of a very long line."""
    if not old or not new or len(new[0]) <= MAX_LINE_LENGTH:
        return 0
    return common_prefix(old[0], new[0], limit=len(new[0]))
