"""Shows the lines of a file as they are after an edit."""

from collections.abc import Sequence

from tejat.tools.edit.showing import LONGEST, cut
from tejat.workspace.line_edits import common_prefix, common_suffix

_AROUND = 1
_MOST_LINES = 40


def changed_lines(before: str, after: str) -> str:
    """Which lines an edit has changed and what they are now, as a sentence and the lines; bounded."""
    if "\n" not in before:
        before, after = before.replace("\r", "\n"), after.replace("\r", "\n")
    start, tail = _alike(before, after)
    above = before.count("\n", 0, start)
    old, new = before[start : len(before) - tail].split("\n"), after[start : len(after) - tail].split("\n")
    shorter = min(len(old), len(new))
    front = common_prefix(old, new, limit=shorter)
    back = common_suffix(old, new, limit=shorter - front)
    first, end = max(front - _AROUND, 0), min(len(new) - back + _AROUND, len(new))
    if end == len(new) and not new[-1]:
        end -= 1
    where = f"Line {above + first + 1} is" if end <= first + 1 else f"Lines {above + first + 1}-{above + end} are"
    return f"{where} now:\n{_shown(new[first:end], _changed_from(old[front : front + 1], new[front : front + 1]))}"


def _alike(before: str, after: str) -> tuple[int, int]:
    """How many characters at the beginning and at the end are the same, but for some lines around what differs."""
    shorter = min(len(before), len(after))
    start = common_prefix(before, after, limit=shorter)
    for _ in range(_AROUND + 1):
        start = max(before.rfind("\n", 0, start), 0)
    start = start and start + 1
    tail = common_suffix(before, after, limit=shorter - start)
    end = len(before) - tail
    for _ in range(_AROUND + 2):
        end = before.find("\n", end + 1)
        if end < 0:
            return start, 0
    return start, len(before) - end


def _shown(lines: Sequence[str], at: int) -> str:
    parts = [cut(line.removesuffix("\r"), at) for line in lines]
    if len(parts) > _MOST_LINES:
        half = _MOST_LINES // 2
        parts = [*parts[:half], f"[{len(parts) - _MOST_LINES} more lines]", *parts[-half:]]
    return "\n".join(parts)


def _changed_from(old: Sequence[str], new: Sequence[str]) -> int:
    """From which character on the first line differs: of a very long one, that is the part to be shown."""
    if not old or not new or len(new[0]) <= LONGEST:
        return 0
    return common_prefix(old[0], new[0], limit=len(new[0]))
