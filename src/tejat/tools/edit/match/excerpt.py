"""Excerpt of a large file: the ranges in which a text may occur, as a small file.

The ranges are found by searching the bytes for rare lines and words of the text. The file is never decoded or split as
a whole.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate

from tejat.core.frozen import Frozen
from tejat.tools.edit.match.alignment import MAX_ELIDED_LINES
from tejat.tools.edit.match.indexed_file import IndexedFile
from tejat.tools.edit.match.related_lines import distinctive_words
from tejat.tools.edit.match.search_block import is_elision, split_lines
from tejat.workspace.text.encoding import TextEncoding
from tejat.workspace.text.text_edits import TextEdit, TextFile

_MAX_LINES_SEARCHED = 8
_MAX_WORDS_SEARCHED = 16
_MAX_HITS = 400
"""A line or word with more occurrences is not rare."""
_MIN_TERM_LENGTH = 4
_BLOCK_SIZE = 1 << 12
_MAX_BLOCKS = 64
_CONTEXT_LINES = 60
"""Lines of context around a hit."""
_MAX_CONTEXT_BYTES = 1 << 18
"""Limit for the context on each side; blocks with longer lines are skipped."""
_SEPARATOR = "\0\n" * 8
"""Lines between two ranges that match nothing, so that no alignment crosses them."""


class Excerpt(Frozen):
    """Ranges of a large file, concatenated in `file`."""

    file: TextFile
    target: IndexedFile
    spans: tuple["_Span", ...]

    def translate_edits(self, edits: Sequence[TextEdit]) -> list[TextEdit] | None:
        """Translate edits to the large file; None if an edit is outside of the ranges."""
        moved: list[TextEdit] = []
        for edit in edits:
            span = next((span for span in self.spans if span.contains(edit)), None)
            if span is None:
                return None
            shift = span.start - span.excerpt_start
            moved.append(TextEdit(edit.start + shift, edit.end + shift, edit.text))
        return moved


class _Span(Frozen):
    """`size` bytes at `start` of the large file and `excerpt_start` of the excerpt."""

    start: int
    size: int
    excerpt_start: int

    def contains(self, edit: TextEdit) -> bool:
        return self.excerpt_start <= edit.start and edit.end <= self.excerpt_start + self.size


class _ExcerptFile(IndexedFile):
    """Lines of an excerpt with their line numbers in the large file."""

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
        """First line of each range in the excerpt."""
        return list(_lines_before(self._excerpt, [span.excerpt_start for span in self._spans]))

    @cached_property
    def _numbers(self) -> list[int]:
        """Line numbers of these lines in the large file."""
        return [before + 1 for before in _lines_before(self._original, [span.start for span in self._spans])]


def find_excerpt(file: TextFile, old: str) -> Excerpt | None:
    """Find where the text may occur; None if nothing rare of it does, or the lines are too long."""
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
    """Blocks of the file with most of the rare text."""
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
    """Extend a block to whole lines with context; None if they are too long."""
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
    """Line starts between two offsets, both included."""
    line_end, unit = encoding.encode_new("\n"), encoding.code_unit_size
    starts: list[int] = []
    at = raw.find(line_end, start, end)
    while at >= 0:
        if at % unit == 0:
            starts.append(at + unit)
        at = raw.find(line_end, at + 1, end)
    return starts


def _merge_ranges(ranges: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Merge overlapping and adjacent ranges."""
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
    """Number of lines before each of the ascending offsets."""
    counts = (file.count_lines(low, high) for low, high in zip((0, *offsets), offsets, strict=False))
    return accumulate(counts)
