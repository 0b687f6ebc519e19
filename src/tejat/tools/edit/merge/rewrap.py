"""Search for text that the file wraps differently.

The words must be equal and occur once. Line breaks may differ where they are insignificant: in brackets, in comments
and in prose. Unchanged text keeps the line breaks of the file.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from tejat.core.frozen import Frozen
from tejat.tools.edit.match.indexed_file import IndexedFile, LineReplacement
from tejat.tools.edit.match.normalize import line_key
from tejat.tools.edit.match.related_lines import distinctive_words
from tejat.tools.edit.match.search_block import split_lines
from tejat.tools.edit.merge.token_merge import merge_tokens
from tejat.tools.edit.merge.tokens import CLOSING_BRACKETS, TokenSequence, find_comment_prefix
from tejat.tools.edit.request import EditRequest
from tejat.workspace.text.line_edits import compute_line_edits

_MIN_WORDS = 4
_MIN_LENGTH = 12
"""Minimal size of a text that identifies its place."""
_MAX_LENGTH = 100_000
_MAX_SEARCHED = 4
_COMMENT = re.compile(r"(?:^|\s)(?:#|//)", re.MULTILINE)
"""Text after such a sign ends with its line."""
_PROSE_WINDOW = 8
_MIN_PROSE_WORDS = 6
_PROSE_PUNCTUATION = frozenset(".,;:!?'\"()-’“”`")


class RewrappedMatch(Frozen):
    """Lines with the text. `edits` is None if the change cannot be transferred."""

    start: int
    end: int
    edits: tuple[LineReplacement, ...] | None


def find_rewrapped(request: EditRequest, target: IndexedFile) -> RewrappedMatch | None:
    """Find the only place with the same words and other line breaks; None if there are none or several."""
    if request.expected not in {1, None} or len(request.old) > _MAX_LENGTH:
        return None
    lines = split_lines(request.old)
    mark = find_comment_prefix(lines)
    # Words are never split, which rules out most texts quickly.
    is_there = all(line_key(word) in target.key_text for word in distinctive_words(request.old)[:_MAX_SEARCHED])
    place = _find_line_range(_normalized_lines(lines, mark), target, mark) if is_there else None
    if place is None:
        return None
    old = TokenSequence(request.old, mark)
    if len(old) < _MIN_WORDS:
        return None
    start, end = place
    there = "\n".join(target.lines[start:end])
    if len(there) > _MAX_LENGTH or find_comment_prefix(target.lines[start:end]) != mark:
        return None
    found = TokenSequence(there, mark)
    firsts = [at for at in range(len(found) - len(old) + 1) if found.keys[at : at + len(old)] == old.keys]
    if len(firsts) != 1:
        return None
    first = firsts[0]
    differing = [at for at in range(1, len(old)) if (old.line_breaks(at) > 0) != (found.line_breaks(first + at) > 0)]
    if not differing:
        return None
    if not mark and (
        _COMMENT.search(f"{there}\n{request.new}")
        or not all(_is_insignificant_break(old, found, first, at) for at in differing)
    ):
        return RewrappedMatch(start, end, None)
    is_prose = bool(mark) or _is_prose(old.words)
    becomes = merge_tokens(old, found, TokenSequence(request.new, mark), first, there, is_prose=is_prose)
    if becomes is None:
        return RewrappedMatch(start, end, None)
    before, after = there.split("\n"), becomes.split("\n")
    edits = (
        LineReplacement(start + edit.old_start, start + edit.old_end, tuple(after[edit.new_start : edit.new_end]))
        for edit in compute_line_edits(before, after)
    )
    return RewrappedMatch(start, end, tuple(edits))


def _normalized_lines(lines: Sequence[str], mark: str) -> list[str]:
    """Keys of the lines without what belongs to their line breaks."""
    text = "\n".join(["", *map(line_key, lines)])
    return _strip_prefixes(text, mark).split("\n")[1:]


def _strip_prefixes(keys: str, mark: str) -> str:
    """Strip comment prefixes, and commas before lines that close a bracket, from keys that start with an empty line."""
    for bracket in CLOSING_BRACKETS:
        keys = keys.replace(f",\n{bracket}", f"\n{bracket}")
    return keys.replace(f"\n{mark}", "\n") if mark else keys


def _find_line_range(wanted: Sequence[str], target: IndexedFile, mark: str) -> tuple[int, int] | None:
    """Find the lines that contain the wanted ones, however they are wrapped; None if there are none or several."""
    sought = "".join(wanted)
    if len(sought) < _MIN_LENGTH:
        return None
    start = sought[:_MIN_LENGTH]
    may_be_stripped = bool(mark) or not set(CLOSING_BRACKETS).isdisjoint(start)
    if not may_be_stripped and start not in target.key_text.replace("\n", ""):
        return None
    keys = _strip_prefixes(f"\n{target.key_text}", mark)[1:]
    flat = keys.replace("\n", "")
    at = flat.find(sought)
    if at < 0 or flat.find(sought, at + 1) >= 0:
        return None
    starts = list(accumulate((len(key) for key in keys.split("\n")), initial=0))
    return bisect_right(starts, at) - 1, bisect_right(starts, at + len(sought) - 1)


def _is_insignificant_break(old: TokenSequence, found: TokenSequence, first: int, at: int) -> bool:
    """Check whether a line break is insignificant: in brackets, or in prose within a paragraph."""
    if found.depths[first + at] > found.depths[first] and old.depths[at] > 0:
        return True
    is_one = max(old.line_breaks(at), found.line_breaks(first + at)) == 1
    return is_one and old.words[at].isalpha() and _is_prose(old.words[max(at - _PROSE_WINDOW, 0) : at + _PROSE_WINDOW])


def _is_prose(words: Sequence[str]) -> bool:
    """Check for sentences rather than code."""
    letters = sum(map(str.isalpha, words))
    return (
        letters >= _MIN_PROSE_WORDS
        and 5 * letters >= 4 * len(words)
        and all(word.isalnum() or word in _PROSE_PUNCTUATION for word in words)
    )
