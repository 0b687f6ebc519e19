"""Repair of real line breaks where the file has the escapes `\\n` and `\\r`."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from tejat.tools.edit.match.indexed_file import IndexedFile
from tejat.tools.edit.match.normalize import line_key
from tejat.tools.edit.repair.string_literals import breaks_inside_literal, spans_literal

_ESCAPES = ("\\n", "\\r")
_PLAIN = str.maketrans("“”‘’", "\"\"''")
_MAX_JOINED = 8
_MAX_UNKNOWN_LINES = 100
"""With more unknown lines, their breaks are not the reason, and each is searched for in the whole file."""


def group_escaped_breaks(lines: Sequence[str], target: IndexedFile) -> list[list[str]]:
    """Group the lines that form one line of the file when joined with escapes."""
    unknown = {key for key in map(line_key, lines) if key not in target.key_set}
    if not 0 < len(unknown) <= _MAX_UNKNOWN_LINES or not any(escape in target.key_text for escape in _ESCAPES):
        return [[line] for line in lines]
    text = f"\n{target.key_text}"
    starts = {key for key in unknown if any(f"\n{key}{escape}" in text for escape in _ESCAPES)}
    keys = frozenset(_keys_with_escapes(target.key_text)) if starts else frozenset[str]()
    groups: list[list[str]] = []
    index = 0
    while index < len(lines):
        key = line_key(lines[index])
        group = _join_group(lines, index, keys) if key in starts else [lines[index]]
        groups.append(group)
        index += len(group) // 2 + 1
    return groups


def join_like_groups(lines: Sequence[str], groups: "Sequence[Sequence[str]]") -> list[str]:
    """Join other lines at the same breaks, recognized by the text around them."""
    groups = [[part.translate(_PLAIN) for part in group] for group in groups]
    plain = [line.translate(_PLAIN) for line in lines]
    breaks = [(group[at - 1], group[at], group[at + 1]) for group in groups for at in range(1, len(group), 2)]
    are_literals = all(spans_literal(group[::2]) for group in groups if group[1:])
    if are_literals and len({escape for _, escape, _ in breaks}) == 1:
        return _join_literals(lines, plain, {group[0] for group in groups if not group[1:]}, breaks[0][1])
    joined = list(lines[:1])
    for line, (last, this) in zip(lines[1:], pairwise(plain), strict=True):
        escape = next((sign for left, sign, right in breaks if _is_same_break(last, this, left, right, sign)), None)
        if escape is None:
            joined.append(line)
        else:
            joined[-1] += escape + line
    return joined


def _join_literals(lines: Sequence[str], plain: Sequence[str], known: "set[str]", escape: str) -> list[str]:
    """Join the lines that a string literal spans, except for lines known to be separate."""
    joined: list[str] = []
    index = 0
    while index < len(lines):
        ends = range(index + 2, min(index + _MAX_JOINED, len(lines)) + 1)
        end = next((end for end in ends if spans_literal(plain[index:end])), index + 1)
        end = end if known.isdisjoint(filter(str.strip, plain[index:end])) else index + 1
        joined.append(escape.join(lines[index:end]))
        index = end
    return joined


def _is_same_break(last: str, line: str, left: str, right: str, escape: str) -> bool:
    last, line, left, right = last.rstrip(), line.rstrip(), left.rstrip(), right.rstrip()
    if escape in last and escape not in left:
        return False  # The escape is written correctly here.
    if line == right and breaks_inside_literal(left, right) and breaks_inside_literal(last, line):
        return True
    if last == left:
        return line == right or len(left.strip()) >= _MIN_PREFIX or line[:_MIN_COMMON] == right[:_MIN_COMMON]
    has_same_end = bool(right) and last[-_MIN_COMMON:] == left[-_MIN_COMMON:]
    return line == right and (has_same_end or _have_same_start(last, left))


def _have_same_start(last: str, left: str) -> bool:
    """Check that the greater part is equal, so that it is the same line with a change in it."""
    mine, theirs = last.strip(), left.strip()
    most = max(_MIN_PREFIX, len(theirs) // 2)
    return len(theirs) >= _MIN_PREFIX and mine[:most] == theirs[:most]


_MIN_COMMON = 2
_MIN_PREFIX = 8


def _keys_with_escapes(keys: str) -> Iterator[str]:
    """Keys that contain an escape, once for each kind of escape."""
    for escape in _ESCAPES:
        at = keys.find(escape)
        while at >= 0:
            end = keys.find("\n", at)
            end = len(keys) if end < 0 else end
            yield keys[keys.rfind("\n", 0, at) + 1 : end]
            at = keys.find(escape, end)


def _join_group(lines: Sequence[str], index: int, keys: "frozenset[str]") -> list[str]:
    """Parts of the line that starts here, with the escapes between them."""
    ways = [[lines[index]]]
    for taken in range(1, min(_MAX_JOINED, len(lines) - index)):
        ways = [[*way, escape, lines[index + taken]] for way in ways for escape in _ESCAPES][:16]
        for way in ways:
            if line_key("".join(way)) in keys:
                return way
    return [lines[index]]
