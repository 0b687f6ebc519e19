"""Finds text that the file breaks into lines in another way, and makes the change there: E16.

The words and signs have to be the same, and to stand at one place only. Line breaks may differ where they mean nothing:
between brackets, in comments and in prose. What stays keeps the line breaks of the file.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from tejat.core.value import value
from tejat.tools.edit.folding import key_of
from tejat.tools.edit.given import plain_lines
from tejat.tools.edit.nearest import telling_words
from tejat.tools.edit.page import LineEdit, Page
from tejat.tools.edit.request import EditRequest
from tejat.tools.edit.rewrap_merge import merged_tokens
from tejat.tools.edit.tokens import Tokens, comment_mark
from tejat.workspace.line_edits import line_edits

_FEWEST_WORDS = 4
_SHORTEST = 12
"""Characters and words of a text that tells its place by itself."""
_LONGEST = 100_000
_MOST_SOUGHT = 4
_CLOSING = ")]}"
_COMMENT = re.compile(r"(?:^|\s)(?:#|//)", re.MULTILINE)
"""What stands behind such a sign ends with its line."""
_NEAR = 8
_FEWEST_IN_PROSE = 6
_SIGNS_OF_PROSE = frozenset(".,;:!?'\"()-’“”`")


@value
class Rewrapped:
    """Where the text stands: lines from `start` up to `end`. `edits` is None if the change cannot be carried over."""

    start: int
    end: int
    edits: tuple[LineEdit, ...] | None


def rewrapped(request: EditRequest, page: Page) -> Rewrapped | None:
    """The one place where the same words stand with other line breaks; None if there is none, or more than one."""
    if request.expected not in {1, None} or len(request.old) > _LONGEST:
        return None
    lines = plain_lines(request.old)
    mark = comment_mark(lines)
    # Words are never broken, so that most texts that are not there need not be looked for at all.
    is_there = all(key_of(word) in page.key_text for word in telling_words(request.old)[:_MOST_SOUGHT])
    place = _place(_bare(lines, mark), page, mark) if is_there else None
    if place is None:
        return None
    old = Tokens(request.old, mark)
    if len(old) < _FEWEST_WORDS:
        return None
    start, end = place
    there = "\n".join(page.lines[start:end])
    if len(there) > _LONGEST or comment_mark(page.lines[start:end]) != mark:
        return None
    found = Tokens(there, mark)
    firsts = [at for at in range(len(found) - len(old) + 1) if found.keys[at : at + len(old)] == old.keys]
    if len(firsts) != 1:
        return None
    first = firsts[0]
    differing = [at for at in range(1, len(old)) if (old.breaks(at) > 0) != (found.breaks(first + at) > 0)]
    if not differing:
        return None
    if not mark and (
        _COMMENT.search(f"{there}\n{request.new}") or not all(_means_nothing(old, found, first, at) for at in differing)
    ):
        return Rewrapped(start, end, None)
    is_prose = bool(mark) or _is_prose(old.words)
    becomes = merged_tokens(old, found, Tokens(request.new, mark), first, there, is_prose=is_prose)
    if becomes is None:
        return Rewrapped(start, end, None)
    before, after = there.split("\n"), becomes.split("\n")
    edits = (
        LineEdit(start + edit.old_start, start + edit.old_end, tuple(after[edit.new_start : edit.new_end]))
        for edit in line_edits(before, after)
    )
    return Rewrapped(start, end, tuple(edits))


def _bare(lines: Sequence[str], mark: str) -> list[str]:
    """The keys of lines without what belongs to their breaks."""
    text = "\n".join(["", *map(key_of, lines)])
    return _without_marks(text, mark).split("\n")[1:]


def _without_marks(keys: str, mark: str) -> str:
    """Keys on lines, the first one empty, without marks of comments and without commas before lines that close."""
    for bracket in _CLOSING:
        keys = keys.replace(f",\n{bracket}", f"\n{bracket}")
    return keys.replace(f"\n{mark}", "\n") if mark else keys


def _place(wanted: Sequence[str], page: Page, mark: str) -> tuple[int, int] | None:
    """The lines that hold the wanted ones, broken in whatever way; None if there are none, or several such places."""
    sought = "".join(wanted)
    if len(sought) < _SHORTEST:
        return None
    start = sought[:_SHORTEST]
    if not mark and not any(bracket in start for bracket in _CLOSING) and start not in page.key_text.replace("\n", ""):
        return None
    keys = _without_marks(f"\n{page.key_text}", mark)[1:]
    flat = keys.replace("\n", "")
    at = flat.find(sought)
    if at < 0 or flat.find(sought, at + 1) >= 0:
        return None
    starts = list(accumulate((len(key) for key in keys.split("\n")), initial=0))
    return bisect_right(starts, at) - 1, bisect_right(starts, at + len(sought) - 1)


def _means_nothing(old: Tokens, found: Tokens, first: int, at: int) -> bool:
    """Whether a line break before a word may be there or not: between brackets, and in prose, but not a paragraph's."""
    if found.depths[first + at] > found.depths[first] and old.depths[at] > 0:
        return True
    is_one = max(old.breaks(at), found.breaks(first + at)) == 1
    return is_one and old.words[at].isalpha() and _is_prose(old.words[max(at - _NEAR, 0) : at + _NEAR])


def _is_prose(words: Sequence[str]) -> bool:
    """Whether they are those of sentences, and no code."""
    letters = sum(map(str.isalpha, words))
    return (
        letters >= _FEWEST_IN_PROSE
        and 5 * letters >= 4 * len(words)
        and all(word.isalnum() or word in _SIGNS_OF_PROSE for word in words)
    )
