"""Changed words of paired lines, in bounded time."""

import re
from collections.abc import Iterator, Sequence
from typing import TypeVar

from tejat.core.frozen import Frozen

_Style = TypeVar("_Style")
Spans = tuple[tuple[int, int], ...]

# Words; characters of scripts without blanks between words one by one; runs of blanks; any other character.
_WORDS = r"[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+|\s+|."
_MAX_LINE = 2000
_MAX_COMPARISON = 10_000
_TOTAL_COMPARISON = 400_000
"""Bounds for one pair of lines and for a whole diff, as products of their numbers of words."""
_MAX_CANDIDATES = 4
"""New lines that an old one is compared with when there are not as many of both."""
_MIN_SIMILARITY = 0.4
_MIN_UNCHANGED = 3
"""Characters of an unchanged stretch between two changes; a shorter one is marked with them."""


class _Comparison(Frozen):
    similarity: float
    old_marks: Spans
    new_marks: Spans


class WordComparer:
    """Compares lines of one diff. When its budget is used up, lines stay unmarked."""

    def __init__(self) -> None:
        self._budget = _TOTAL_COMPARISON

    def pair_lines(self, old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int, Spans, Spans]]:
        """Pair similar lines in order, with the spans that differ in each. Lines without a partner are left out."""
        start = 0
        for index, line in enumerate(old):
            if self._budget <= 0:
                return
            candidates = [index] if len(old) == len(new) else range(start, min(start + _MAX_CANDIDATES, len(new)))
            for candidate in candidates:
                found = self._compare(line, new[candidate])
                if found is not None and found.similarity >= _MIN_SIMILARITY:
                    yield index, candidate, found.old_marks, found.new_marks
                    start = candidate + 1
                    break

    def _compare(self, old: str, new: str) -> _Comparison | None:
        if max(len(old), len(new)) > _MAX_LINE or self._budget <= 0:
            return None
        old_words, new_words = re.findall(_WORDS, old), re.findall(_WORDS, new)
        cost = len(old_words) * len(new_words) + 10
        self._budget -= min(cost, _MAX_COMPARISON)
        if cost > _MAX_COMPARISON:
            return None
        from difflib import SequenceMatcher

        blocks = SequenceMatcher(None, old_words, new_words, autojunk=False).get_matching_blocks()
        old_ends, new_ends = _word_ends(old_words), _word_ends(new_words)
        kept = [
            (old_ends[block.a], old_ends[block.a + block.size], new_ends[block.b], new_ends[block.b + block.size])
            for block in blocks
        ]
        stretches = [each for each in kept if _is_kept(old, new, each)]
        same = sum(len("".join(old[start:end].split())) for start, end, _, _ in stretches)
        longest = max(len("".join(line.split())) for line in (old, new))
        return _Comparison(
            same / longest if longest else 0.0,
            _changed_spans(old, [(start, end) for start, end, _, _ in stretches]),
            _changed_spans(new, [(start, end) for _, _, start, end in stretches]),
        )


def split_at_marks(runs: Sequence[tuple[str, _Style]], marks: Spans, end: int) -> Iterator[tuple[str, _Style, bool]]:
    """Yield the runs of a line up to `end`, split where marks begin and end, and whether each is marked."""
    borders = sorted({border for mark in marks for border in mark if border < end} | {end})
    at = 0
    for text, style in runs:
        start = at
        at += len(text)
        for border in [*(each for each in borders if start < each < at), at]:
            piece = text[start - at + len(text) : min(border, end) - at + len(text)] if start < end else ""
            if piece:
                yield piece, style, any(first <= start < last for first, last in marks)
            start = border


def _word_ends(words: Sequence[str]) -> list[int]:
    """Return where each word starts, and the end of the last one."""
    ends = [0]
    for word in words:
        ends.append(ends[-1] + len(word))
    return ends


def _is_kept(old: str, new: str, stretch: tuple[int, int, int, int]) -> bool:
    """Whether an unchanged stretch stays unmarked: at either end of the lines, or long enough to stand out."""
    start, end, new_start, new_end = stretch
    if start == new_start == 0 or (end == len(old) and new_end == len(new)):
        return True
    return len(old[start:end].strip()) >= _MIN_UNCHANGED


def _changed_spans(text: str, kept: Sequence[tuple[int, int]]) -> Spans:
    """Return what lies between the kept stretches, without blanks around the words that changed."""
    spans: list[tuple[int, int]] = []
    at = 0
    for start, end in [*kept, (len(text), len(text))]:
        if start > at:
            changed = text[at:start]
            words = changed.strip() or changed
            first = at + changed.index(words)
            spans.append((first, first + len(words)))
        at = max(at, end)
    return tuple(spans)
