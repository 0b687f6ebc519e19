"""Indentation of a new text that was written at the left margin, beside an old text that is indented."""

import re
from collections import Counter
from collections.abc import Sequence

from tejat.tools.edit.match.search_block import indent_of, split_lines
from tejat.tools.edit.merge.similar_lines import pair_similar_lines

_BLOCK_OPENERS = (":", "{", "(", "[")
_WORD = re.compile(r"\w+")


def indent_like_old(old: str, new: str) -> str:
    """Indent the new text as far as the old one, if it lacks that indentation throughout or in its first line.

    A text that is only moved to the left is meant to be.
    """
    old_lines, new_lines = _nonblank(split_lines(old)), _nonblank(split_lines(new))
    if not any(map(indent_of, old_lines)) or all(map(indent_of, new_lines)):
        return new
    if [line.strip() for line in split_lines(old)] == [line.strip() for line in split_lines(new)]:
        return new
    similar = [
        (left, right)
        for left, right in pair_similar_lines(old_lines, new_lines)
        if _share_words(old_lines[left], new_lines[right])
        or (left == right == 0 and old_lines[0].strip() == new_lines[0].strip())
    ]
    # A first line that begins otherwise may be cut, and what is before it is no indentation.
    begins_alike = old_lines[0].split()[0] == new_lines[0].split()[0]
    # Of the lines that the change touches, only the first one is known to stay at its depth.
    kept = [
        pair
        for pair in similar
        if (pair == (0, 0) and begins_alike) or old_lines[pair[0]].strip() == new_lines[pair[1]].strip()
    ]
    pairs = kept or [pair for pair in similar if pair != (0, 0) or begins_alike]
    prefix = _missing_prefix(old_lines, new_lines, pairs) if pairs else ""
    # Tabs and spaces together do not tell what is missing.
    if prefix and set("".join(map(indent_of, (*old_lines, *new_lines)))) == set(prefix):
        return _indent(new, prefix, every_line=True)
    is_first_bare = not indent_of(new_lines[0]) and pairs[:1] == [(0, 0)] and len(pairs) > 1
    if is_first_bare and all(indent_of(old_lines[left]) == indent_of(new_lines[right]) for left, right in pairs[1:]):
        return _indent(new, indent_of(old_lines[0]), every_line=False)
    return new


def _missing_prefix(old: Sequence[str], new: Sequence[str], pairs: Sequence[tuple[int, int]]) -> str:
    """Indentation that all new lines lack; empty if it is not certain that they do."""
    moved = [(indent_of(old[left]), indent_of(new[right])) for left, right in pairs]
    if pairs[0] == (0, 1) and not indent_of(new[0]) and new[0].endswith(_BLOCK_OPENERS):
        # Wrapped in a block that was written at the margin.
        return moved[0][0] if all(had.startswith(moved[0][0]) for had, _ in moved) else ""
    if prefix := _prefix_of_first_line(old, new, pairs):
        return prefix
    # Of the lines that moved farthest, the first one of both texts, else the outermost one.
    shifts = [
        (len(had) - len(given), pair == (0, 0), -len(had)) for pair, (had, given) in zip(pairs, moved, strict=True)
    ]
    farthest = shifts.index(max(shifts))
    had, given = moved[farthest]
    prefix = had.removesuffix(given) if had.endswith(given) else ""
    unwrapped = any(len(indent_of(line)) < len(had) for line in old[: pairs[0][0]])
    if not prefix or unwrapped or (given and pairs[farthest] != (0, 0)):
        return ""
    known = {right for _, right in pairs}
    for right, (had_there, given_there) in zip(sorted(known), moved, strict=True):
        # Lines that moved less were put into a new block as well.
        less = len(prefix) - (len(had_there) - len(given_there))
        if less and not _is_in_new_block(new, right, known):
            return ""
    return prefix


def _prefix_of_first_line(old: Sequence[str], new: Sequence[str], pairs: Sequence[tuple[int, int]]) -> str:
    """Indentation that the first line of both texts lacks, and most others do; empty unless all of them are explained.

    Lines that moved farther were taken out of a block that is gone.
    """
    had, given = indent_of(old[0]), indent_of(new[0])
    prefix = had.removesuffix(given) if had.endswith(given) else ""
    if pairs[0] != (0, 0) or not given or not prefix or old[0].strip() != new[0].strip():
        return ""
    shifts = [len(indent_of(old[left])) - len(indent_of(new[right])) for left, right in pairs]
    known = {left for left, _ in pairs}
    is_explained = all(
        shift == len(prefix) or (shift > len(prefix) and _is_in_new_block(old, left, known))
        for shift, (left, _) in zip(shifts, pairs, strict=True)
    )
    return prefix if is_explained and 2 * shifts.count(len(prefix)) > len(pairs) else ""


def _is_in_new_block(new: Sequence[str], at: int, known: "set[int]") -> bool:
    return any(new[index].endswith(_BLOCK_OPENERS) for index in range(at) if index not in known)


def _share_words(old: str, new: str) -> bool:
    """Check that two lines have words, and at least half of them in common."""
    if old == new:
        return _WORD.search(old) is not None
    one, other = Counter(_WORD.findall(old)), Counter(_WORD.findall(new))
    return 2 * (one & other).total() >= max(one.total(), other.total(), 1)


def _indent(text: str, prefix: str, *, every_line: bool) -> str:
    lines = text.split("\n")
    first = next(index for index, line in enumerate(lines) if line.strip())
    return "\n".join(
        prefix + line if line.strip() and (every_line or index == first) else line for index, line in enumerate(lines)
    )


def _nonblank(lines: Sequence[str]) -> list[str]:
    return [line for line in lines if line.strip()]
