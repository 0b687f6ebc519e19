"""Line breaks that were given for the escapes `\\n` and `\\r` of the file, written as escapes again."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from tejat.tools.edit.folding import key_of
from tejat.tools.edit.literals import is_amid_a_literal, is_literal
from tejat.tools.edit.page import Page

_ESCAPES = ("\\n", "\\r")
_PLAIN = str.maketrans("“”‘’", "\"\"''")
_MOST_JOINED = 8
_MOST_STRANGE = 100
"""Lines that the file has not; where there are more, it is not for their breaks, and each is sought in all of it."""


def with_escaped_breaks(lines: Sequence[str], page: Page) -> list[list[str]]:
    """The lines, those together that make one line of the file when they are joined, with the escapes between them."""
    strange = {key for key in map(key_of, lines) if key not in page.key_set}
    if not 0 < len(strange) <= _MOST_STRANGE or not any(escape in page.key_text for escape in _ESCAPES):
        return [[line] for line in lines]
    text = f"\n{page.key_text}"
    starts = {key for key in strange if any(f"\n{key}{escape}" in text for escape in _ESCAPES)}
    keys = frozenset(_with_escapes(page.key_text)) if starts else frozenset[str]()
    groups: list[list[str]] = []
    index = 0
    while index < len(lines):
        key = key_of(lines[index])
        group = _group(lines, index, keys) if key in starts else [lines[index]]
        groups.append(group)
        index += len(group) // 2 + 1
    return groups


def with_the_same_breaks(lines: Sequence[str], groups: "Sequence[Sequence[str]]") -> list[str]:
    """Other lines, joined where the groups have such a break: the same text stands around it."""
    groups = [[part.translate(_PLAIN) for part in group] for group in groups]
    plain = [line.translate(_PLAIN) for line in lines]
    breaks = [(group[at - 1], group[at], group[at + 1]) for group in groups for at in range(1, len(group), 2)]
    if len({escape for _, escape, _ in breaks}) == 1 and all(is_literal(group[::2]) for group in groups if group[1:]):
        return _joined_literals(lines, plain, {group[0] for group in groups if not group[1:]}, breaks[0][1])
    joined = list(lines[:1])
    for line, (last, this) in zip(lines[1:], pairwise(plain), strict=True):
        escape = next((sign for left, sign, right in breaks if _is_same_break(last, this, left, right, sign)), None)
        if escape is None:
            joined.append(line)
        else:
            joined[-1] += escape + line
    return joined


def _joined_literals(lines: Sequence[str], plain: Sequence[str], known: "set[str]", escape: str) -> list[str]:
    """The lines, those joined that a literal spans; not those that are known to be lines of their own."""
    joined: list[str] = []
    index = 0
    while index < len(lines):
        ends = range(index + 2, min(index + _MOST_JOINED, len(lines)) + 1)
        end = next((end for end in ends if is_literal(plain[index:end])), index + 1)
        end = end if known.isdisjoint(filter(str.strip, plain[index:end])) else index + 1
        joined.append(escape.join(lines[index:end]))
        index = end
    return joined


def _is_same_break(last: str, line: str, left: str, right: str, escape: str) -> bool:
    last, line, right = last.rstrip(), line.rstrip(), right.rstrip()
    left = left.rstrip()
    if escape in last and escape not in left:
        return False  # it is written as it should be
    if line == right and is_amid_a_literal(left, right) and is_amid_a_literal(last, line):
        return True
    is_like_left = last == left or (line == right and (_ends_alike(last, left, right) or _begin_alike(last, left)))
    is_like_right = line == right or (
        last == left and (len(left.strip()) >= _LONG or line[:_TELLING] == right[:_TELLING])
    )
    return is_like_left and is_like_right


def _ends_alike(last: str, left: str, right: str) -> bool:
    return bool(right) and last[-_TELLING:] == left[-_TELLING:]


def _begin_alike(last: str, left: str) -> bool:
    """Whether the greater part is the same, so that it is the same line with a change in it."""
    mine, theirs = last.strip(), left.strip()
    most = max(_LONG, len(theirs) // 2)
    return len(theirs) >= _LONG and mine[:most] == theirs[:most]


_TELLING = 2
_LONG = 8


def _with_escapes(keys: str) -> Iterator[str]:
    """The keys that have an escape; once for each of its kinds."""
    for escape in _ESCAPES:
        at = keys.find(escape)
        while at >= 0:
            end = keys.find("\n", at)
            end = len(keys) if end < 0 else end
            yield keys[keys.rfind("\n", 0, at) + 1 : end]
            at = keys.find(escape, end)


def _group(lines: Sequence[str], index: int, keys: "frozenset[str]") -> list[str]:
    """The line that begins here: its parts, with the escapes between them."""
    ways = [[lines[index]]]
    for taken in range(1, min(_MOST_JOINED, len(lines) - index)):
        ways = [[*way, escape, lines[index + taken]] for way in ways for escape in _ESCAPES][:16]
        for way in ways:
            if key_of("".join(way)) in keys:
                return way
    return [lines[index]]
