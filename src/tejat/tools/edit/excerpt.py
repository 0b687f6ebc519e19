"""The stretches of a large file in which a text could stand, as a small file of their own.

They are found by the rare lines and words of the text, among the bytes of the file: it is never split into lines, nor
turned into text as a whole.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate

from tejat.core.value import value
from tejat.tools.edit.alignment import MOST_ELIDED
from tejat.tools.edit.given import is_elision, plain_lines
from tejat.tools.edit.nearest import telling_words
from tejat.tools.edit.page import Page
from tejat.workspace.encoding import TextEncoding
from tejat.workspace.splice import TextEdit, TextFile

_MOST_LINES_SOUGHT = 8
_MOST_WORDS_SOUGHT = 16
_MOST_HITS = 400
"""A line or word that stands more often in the file is not rare."""
_SHORTEST = 4
_BLOCK = 1 << 12
_MOST_BLOCKS = 64
_AROUND = 60
"""Lines around a hit that are taken along."""
_WIDEST = 1 << 18
"""Bytes that are taken along on either side; a block with longer lines is none for this."""
_SEAM = "\0\n" * 8
"""Between two stretches: lines that are like no other, so that nothing reaches over them."""


@value
class Excerpt:
    """`file` has the stretches of bytes of the large file, one behind the other."""

    file: TextFile
    page: Page
    spans: tuple["_Span", ...]

    def edits(self, edits: Sequence[TextEdit]) -> list[TextEdit] | None:
        """The same edits in the large file; None if one of them is not within a stretch."""
        moved: list[TextEdit] = []
        for edit in edits:
            span = next(
                (span for span in self.spans if span.at <= edit.start and edit.end <= span.at + span.size), None
            )
            if span is None:
                return None
            shift = span.start - span.at
            moved.append(TextEdit(edit.start + shift, edit.end + shift, edit.text))
        return moved


@value
class _Span:
    """`size` bytes from `start` of the large file, which stand at `at` of the small one."""

    start: int
    size: int
    at: int


class _ExcerptPage(Page):
    """The lines of an excerpt, which know their numbers in the large file."""

    def __init__(self, file: TextFile, whole: TextFile, spans: Sequence[_Span]) -> None:
        super().__init__(file)
        self._small, self._whole, self._spans = file, whole, spans

    @property
    def count(self) -> int:
        ends = self._whole.raw.endswith(self._whole.encoding.encode_new("\n"))
        return self._whole.count_lines(0, len(self._whole.raw)) + (not ends)

    def number(self, line: int) -> int:
        span = max(bisect_right(self._first_lines, line) - 1, 0)
        return self._numbers[span] + line - self._first_lines[span]

    @cached_property
    def _first_lines(self) -> list[int]:
        """Which line of the excerpt each stretch begins with."""
        return list(_lines_before(self._small, [span.at for span in self._spans]))

    @cached_property
    def _numbers(self) -> list[int]:
        """The numbers that these lines have in the large file."""
        return [before + 1 for before in _lines_before(self._whole, [span.start for span in self._spans])]


def excerpt_of(file: TextFile, old: str) -> Excerpt | None:
    """Where the text could stand; None if it has nothing rare that is there, or the lines are too long."""
    lines = plain_lines(old)
    around = _AROUND + 2 * len(lines) + (MOST_ELIDED if any(map(is_elision, lines)) else 0)
    ranges = [_widened(file, block * _BLOCK, around) for block in _blocks(file, old, lines)]
    joined = list(_joined(sorted(each for each in ranges if each is not None)))
    if not joined:
        return None
    encoding = file.encoding
    seam = encoding.encode_new(_SEAM)
    pieces, spans, at = [encoding.bom], list[_Span](), len(encoding.bom)
    for start, end in joined:
        spans.append(_Span(start, end - start, at))
        pieces += [file.raw[start:end], seam]
        at += end - start + len(seam)
    small = TextFile(b"".join(pieces[:-1]), encoding)
    return Excerpt(small, _ExcerptPage(small, file, spans), tuple(spans))


def _blocks(file: TextFile, old: str, lines: Sequence[str]) -> list[int]:
    """The blocks of the file that hold most of what is rare in the text."""
    bare = sorted({line.strip() for line in lines}, key=lambda line: (-len(line), line))
    weights: Counter[int] = Counter()
    for part in (*bare[:_MOST_LINES_SOUGHT], *telling_words(old)[:_MOST_WORDS_SOUGHT]):
        if len(part) < _SHORTEST:
            continue
        hits = file.first_places(part, _MOST_HITS + 1)
        if len(hits) <= _MOST_HITS:
            weights.update({hit // _BLOCK: len(part) for hit in hits})
    return [block for block, _ in weights.most_common(_MOST_BLOCKS)]


def _widened(file: TextFile, at: int, around: int) -> tuple[int, int] | None:
    """From where to where whole lines stand around a block; None if they are too long."""
    encoding, raw = file.encoding, file.raw
    body = len(encoding.bom) if raw.startswith(encoding.bom) else 0
    low, high = max(at - _WIDEST, body), min(at + _BLOCK + _WIDEST, len(raw))
    before = _line_starts(raw, encoding, low, max(at, body))
    behind = _line_starts(raw, encoding, min(at + _BLOCK, high), high)
    if (low > body and not before) or (high < len(raw) and not behind):
        return None
    start = body if len(before) < around and low == body else before[-around:][0]
    end = len(raw) if len(behind) < around and high == len(raw) else behind[:around][-1]
    return start, end


def _line_starts(raw: bytes, encoding: TextEncoding, start: int, end: int) -> list[int]:
    """Where lines begin between two places, both of them included."""
    line_end, unit = encoding.encode_new("\n"), encoding.unit
    starts: list[int] = []
    at = raw.find(line_end, start, end)
    while at >= 0:
        if at % unit == 0:
            starts.append(at + unit)
        at = raw.find(line_end, at + 1, end)
    return starts


def _joined(ranges: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The same ranges, those that overlap or touch made one."""
    start, end = -1, -1
    for first, last in ranges:
        if start >= 0 and first <= end:
            end = max(end, last)
            continue
        if start >= 0:
            yield start, end
        start, end = first, last
    if start >= 0:
        yield start, end


def _lines_before(file: TextFile, offsets: Sequence[int]) -> Iterator[int]:
    """How many lines end before each of the offsets, which ascend."""
    counts = (file.count_lines(low, high) for low, high in zip((0, *offsets), offsets, strict=False))
    return accumulate(counts)
