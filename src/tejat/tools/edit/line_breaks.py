"""Line breaks that were given for the escapes `\\n` and `\\r` of the file, written as escapes again."""

from collections.abc import Sequence

from tejat.tools.edit.folding import key_of

_ESCAPES = ("\\n", "\\r")
_MOST_JOINED = 8


def with_escaped_breaks(lines: Sequence[str], keys: "frozenset[str]") -> list[str]:
    """The lines, those joined by escapes that make one line of the file so; `keys` are those of the file's lines."""
    joined: list[str] = []
    index = 0
    while index < len(lines):
        line, taken = _joined(lines, index, keys)
        joined.append(line)
        index += taken
    return joined


def _joined(lines: Sequence[str], index: int, keys: "frozenset[str]") -> tuple[str, int]:
    """The line that begins here, and of how many it was made."""
    ways = [lines[index]]
    if key_of(lines[index]) in keys:
        return lines[index], 1
    for taken in range(2, min(_MOST_JOINED, len(lines) - index) + 1):
        ways = [way + escape + lines[index + taken - 1] for way in ways for escape in _ESCAPES][:16]
        for way in ways:
            if key_of(way) in keys:
                return way, taken
    return lines[index], 1
