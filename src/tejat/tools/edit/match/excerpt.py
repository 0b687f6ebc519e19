"""The stretches of a large file in which a text could stand, as a small file of their own.

They are found by the rare lines and words of the text, among the bytes of the file: it is never split into lines, nor
turned into text as a whole.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate

from tejat.core.frozen import frozen
from tejat.tools.edit.match.alignment import MAX_ELIDED_LINES
from tejat.tools.edit.match.indexed_file import IndexedFile
from tejat.tools.edit.match.related_lines import distinctive_words
from tejat.tools.edit.match.search_block import is_elision, split_lines
from tejat.workspace.text.encoding import TextEncoding
from tejat.workspace.text.text_edits import TextEdit, TextFile

_MAX_LINES_SEARCHED = 8
_MAX_WORDS_SEARCHED = 16
_MAX_HITS = 400
"""A line or word that stands more often in the file is not rare."""
_MIN_TERM_LENGTH = 4
_BLOCK_SIZE = 1 << 12
_MAX_BLOCKS = 64
_CONTEXT_LINES = 60
"""Lines around a hit that are taken along."""
_MAX_CONTEXT_BYTES = 1 << 18
"""Bytes that are taken along on either side; a block with longer lines is none for this."""
_SEPARATOR = "\0\n" * 8
"""Between two stretches: lines that are like no other, so that nothing reaches over them."""


@frozen
class Excerpt:
    """`file` has the stretches of bytes of the large file, one behind the other."""

    file: TextFile
    target: IndexedFile
    spans: tuple["_Span", ...]

    def translate_edits(self, edits: Sequence[TextEdit]) -> list[TextEdit] | None:
        """The same edits in the large file; None if one of them is not within a stretch."""
        moved: list[TextEdit] = []
        for edit in edits:
            span = next(
                (
                    span
                    for span in self.spans
                    if span.excerpt_start <= edit.start and edit.end <= span.excerpt_start + span.size
                ),
                None,
            )
            if span is None:
                return None
            shift = span.start - span.excerpt_start
            moved.append(TextEdit(edit.start + shift, edit.end + shift, edit.text))
        return moved


@frozen
class _Span:
    """`size` bytes from `start` of the large file, which stand at `at` of the small one."""

    start: int
    size: int
    excerpt_start: int


class _ExcerptFile(IndexedFile):
    """The lines of an excerpt, which know their numbers in the large file."""

    def __init__(self, file: TextFile, whole: TextFile, spans: Sequence[_Span]) -> None:
        super().__init__(file)
        self._excerpt, self._original, self._spans = file, whole, spans

    @property
    def line_count(self) -> int:
        ends = self._original.raw.endswith(self._original.encoding.encode_new("\n"))
        return self._original.count_lines(0, len(self._original.raw)) + (not ends)

    def line_number(self, line: int) -> int:
        span = max(bisect_right(self._first_lines, line) - 1, 0)
        return self._numbers[span] + line - self._first_lines[span]

    @cached_property
    def _first_lines(self) -> list[int]:
        """Which line of the excerpt each stretch begins with."""
        return list(_lines_before(self._excerpt, [span.excerpt_start for span in self._spans]))

    @cached_property
    def _numbers(self) -> list[int]:
        """The numbers that these lines have in the large file."""
        return [before + 1 for before in _lines_before(self._original, [span.start for span in self._spans])]


def find_excerpt(file: TextFile, old: str) -> Excerpt | None:
    """Where the text could stand; None if it has nothing rare that is there, or the lines are too long."""
    lines = split_lines(old)
    around = _CONTEXT_LINES + 2 * len(lines) + (MAX_ELIDED_LINES if any(map(is_elision, lines)) else 0)
    ranges = [_widen_block(file, block * _BLOCK_SIZE, around) for block in _relevant_blocks(file, old, lines)]
    joined = list(_merge_ranges(sorted(each for each in ranges if each is not None)))
    if not joined:
        return None
    encoding = file.encoding
    seam = encoding.encode_new(_SEPARATOR)
    pieces, spans, at = [encoding.bom], list[_Span](), len(encoding.bom)
    for start, end in joined:
        spans.append(_Span(start, end - start, at))
        pieces += [file.raw[start:end], seam]
        at += end - start + len(seam)
    small = TextFile(b"".join(pieces[:-1]), encoding)
    return Excerpt(small, _ExcerptFile(small, file, spans), tuple(spans))


def _relevant_blocks(file: TextFile, old: str, lines: Sequence[str]) -> list[int]:
    """The blocks of the file that hold most of what is rare in the text."""
    bare = sorted({line.strip() for line in lines}, key=lambda line: (-len(line), line))
    weights: Counter[int] = Counter()
    for part in (*bare[:_MAX_LINES_SEARCHED], *distinctive_words(old)[:_MAX_WORDS_SEARCHED]):
        if len(part) < _MIN_TERM_LENGTH:
            continue
        hits = file.find_first(part, _MAX_HITS + 1)
        if len(hits) <= _MAX_HITS:
            weights.update({hit // _BLOCK_SIZE: len(part) for hit in hits})
    return [block for block, _ in weights.most_common(_MAX_BLOCKS)]


def _widen_block(file: TextFile, at: int, around: int) -> tuple[int, int] | None:
    """From where to where whole lines stand around a block; None if they are too long."""
    encoding, raw = file.encoding, file.raw
    body = len(encoding.bom) if raw.startswith(encoding.bom) else 0
    low, high = max(at - _MAX_CONTEXT_BYTES, body), min(at + _BLOCK_SIZE + _MAX_CONTEXT_BYTES, len(raw))
    before = _line_starts(raw, encoding, low, max(at, body))
    behind = _line_starts(raw, encoding, min(at + _BLOCK_SIZE, high), high)
    if (low > body and not before) or (high < len(raw) and not behind):
        return None
    start = body if len(before) < around and low == body else before[-around:][0]
    end = len(raw) if len(behind) < around and high == len(raw) else behind[:around][-1]
    return start, end


def _line_starts(raw: bytes, encoding: TextEncoding, start: int, end: int) -> list[int]:
    """Where lines begin between two places, both of them included."""
    line_end, unit = encoding.encode_new("\n"), encoding.code_unit_size
    starts: list[int] = []
    at = raw.find(line_end, start, end)
    while at >= 0:
        if at % unit == 0:
            starts.append(at + unit)
        at = raw.find(line_end, at + 1, end)
    return starts


def _merge_ranges(ranges: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
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
