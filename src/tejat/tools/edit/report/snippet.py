"""Lines of a file as a model is shown them: as they are, but never too much of them."""

from collections.abc import Sequence

from tejat.tools.edit.match.normalize import replace_undecodable

MAX_LINE_LENGTH = 300
"""Characters of a line that are shown."""
_CONTEXT_BEFORE = 100
"""Of them, how many before the place that matters."""
_MAX_LINES = 12
_MAX_CHARACTERS = 1_200


def format_lines(lines: Sequence[str], about: Sequence[str] = (), *, max_lines: int = _MAX_LINES) -> str:
    """The first lines, each with its end, and how many more there are; `about` are words that matter in long ones."""
    parts: list[str] = []
    left = _MAX_CHARACTERS * max_lines // _MAX_LINES
    for line in lines[:max_lines]:
        part = truncate_line(line, find_focus(line, about))
        left -= len(part)
        if parts and left < 0:
            break
        parts.append(part)
    rest = len(lines) - len(parts)
    return "\n".join(parts) + (f"\n[{rest} more {'line' if rest == 1 else 'lines'}]" if rest else "")


def truncate_line(line: str, at: int = 0) -> str:
    """The line, or of a long one what stands around the character `at`."""
    if len(line) <= MAX_LINE_LENGTH:
        return replace_undecodable(line)
    start = max(min(at - _CONTEXT_BEFORE, len(line) - MAX_LINE_LENGTH), 0)
    end = start + MAX_LINE_LENGTH
    before, behind = "..." if start else "", "..." if end < len(line) else ""
    return f"{before}{replace_undecodable(line[start:end])}{behind} [characters {start + 1}-{end} of {len(line)}]"


def find_focus(line: str, about: Sequence[str]) -> int:
    """Where the first of the words stands that is in a line which is too long to be shown whole."""
    if len(line) <= MAX_LINE_LENGTH:
        return 0
    return next((at for word in about if (at := line.find(word)) >= 0), 0)
