"""Lines of a file as a model is shown them: as they are, but never too much of them."""

from collections.abc import Sequence

from tejat.tools.edit.folding import without_strange_bytes

LONGEST = 300
"""Characters of a line that are shown."""
_BEFORE = 100
"""Of them, how many before the place that matters."""
_MOST_LINES = 12
_MOST_CHARACTERS = 1_200


def shown(lines: Sequence[str], about: Sequence[str] = (), *, most: int = _MOST_LINES) -> str:
    """The first lines, each with its end, and how many more there are; `about` are words that matter in long ones."""
    parts: list[str] = []
    left = _MOST_CHARACTERS * most // _MOST_LINES
    for line in lines[:most]:
        part = cut(line, place_of(line, about))
        left -= len(part)
        if parts and left < 0:
            break
        parts.append(part)
    rest = len(lines) - len(parts)
    return "\n".join(parts) + (f"\n[{rest} more {'line' if rest == 1 else 'lines'}]" if rest else "")


def cut(line: str, at: int = 0) -> str:
    """The line, or of a long one what stands around the character `at`."""
    if len(line) <= LONGEST:
        return without_strange_bytes(line)
    start = max(min(at - _BEFORE, len(line) - LONGEST), 0)
    end = start + LONGEST
    before, behind = "..." if start else "", "..." if end < len(line) else ""
    return f"{before}{without_strange_bytes(line[start:end])}{behind} [characters {start + 1}-{end} of {len(line)}]"


def place_of(line: str, about: Sequence[str]) -> int:
    """Where the first of the words stands that is in a line which is too long to be shown whole."""
    if len(line) <= LONGEST:
        return 0
    return next((at for word in about if (at := line.find(word)) >= 0), 0)
