"""Lines of a file as shown to the model, limited in number and length."""

from collections.abc import Sequence

from tejat.tools.edit.match.normalize import replace_undecodable

MAX_LINE_LENGTH = 300
"""Limit for a shown line."""
_CONTEXT_BEFORE = 100
"""Characters shown before the relevant one."""
_MAX_LINES = 12
_MAX_CHARACTERS = 1_200


def format_lines(lines: Sequence[str], about: Sequence[str] = (), *, max_lines: int = _MAX_LINES) -> str:
    """Format the first lines and the number of further ones; `about` are the relevant words of long lines."""
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
    """Truncate a long line to the text around the character `at`."""
    if len(line) <= MAX_LINE_LENGTH:
        return replace_undecodable(line)
    start = max(min(at - _CONTEXT_BEFORE, len(line) - MAX_LINE_LENGTH), 0)
    end = start + MAX_LINE_LENGTH
    before, behind = "..." if start else "", "..." if end < len(line) else ""
    return f"{before}{replace_undecodable(line[start:end])}{behind} [characters {start + 1}-{end} of {len(line)}]"


def find_focus(line: str, about: Sequence[str]) -> int:
    """Offset of the first relevant word in a long line."""
    if len(line) <= MAX_LINE_LENGTH:
        return 0
    return next((at for word in about if (at := line.find(word)) >= 0), 0)
