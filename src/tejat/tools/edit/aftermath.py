"""Shows the lines of a file as they are after an edit."""

from collections.abc import Sequence

from tejat.workspace.line_edits import common_prefix, common_suffix

_AROUND = 1
_MOST_LINES = 40
_LONGEST = 300


def changed_lines(before: str, after: str) -> str:
    """Which lines an edit has changed and what they are now, as a sentence and the lines; bounded."""
    old, new = before.split("\n"), after.split("\n")
    shorter = min(len(old), len(new))
    front = common_prefix(old, new, limit=shorter)
    back = common_suffix(old, new, limit=shorter - front)
    start, end = max(front - _AROUND, 0), min(len(new) - back + _AROUND, len(new))
    if end == len(new) and not new[-1]:
        end -= 1
    where = f"Line {start + 1} is" if end <= start + 1 else f"Lines {start + 1}-{end} are"
    return f"{where} now:\n{_shown(new[start:end])}"


def _shown(lines: Sequence[str]) -> str:
    cut = [line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..." for line in lines]
    if len(cut) > _MOST_LINES:
        half = _MOST_LINES // 2
        cut = [*cut[:half], f"[{len(cut) - _MOST_LINES} more lines]", *cut[-half:]]
    return "\n".join(line.removesuffix("\r") for line in cut)
