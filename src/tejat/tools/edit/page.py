"""A file as lines with their keys, and the way from lines back to its bytes."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate

from tejat.core.value import value
from tejat.tools.edit.folding import keys_of
from tejat.workspace.splice import TextEdit, TextFile

_LINE_ENDS = (b"\n", b"\r")


@value
class LineEdit:
    """`lines` take the place of the lines from `start` up to `end`."""

    start: int
    end: int
    lines: tuple[str, ...]


class Page:
    """The lines of a file without their ends. Lines end at LF, or at CR in a file where all do."""

    def __init__(self, file: TextFile) -> None:
        self._file = file
        # The same length, so that places in one are places in the other.
        self._text = file.text.replace("\r", "\n") if file.line_ending == "\r" else file.text
        self._raw_lines = self._text.split("\n")
        self._ends_with_line_end = not self._raw_lines[-1] and len(self._raw_lines) > 1
        if self._ends_with_line_end:
            self._raw_lines.pop()

    @cached_property
    def lines(self) -> Sequence[str]:
        return [line.removesuffix("\r") for line in self._raw_lines] if "\r" in self._text else self._raw_lines

    @cached_property
    def keys(self) -> list[str]:
        return self.key_text.split("\n")

    @cached_property
    def key_set(self) -> frozenset[str]:
        return frozenset(self.keys)

    @cached_property
    def key_text(self) -> str:
        """All keys, each on a line."""
        return "\n".join(keys_of(self._text)[: len(self._raw_lines)])

    def line_of_key(self, offset: int) -> int:
        """Which line a place in `key_text` belongs to."""
        return bisect_right(self._key_starts, offset) - 1

    @cached_property
    def _key_starts(self) -> list[int]:
        return list(accumulate((len(key) + 1 for key in self.keys), initial=0))

    @cached_property
    def _starts(self) -> list[int]:
        return list(accumulate((len(line) + 1 for line in self._raw_lines), initial=0))

    def lines_at(self, start: int, end: int) -> tuple[int, int]:
        """The lines that a range of bytes touches, from the first up to the one behind the last."""
        first, last = (bisect_right(self._byte_starts, at) - 1 for at in (start, max(end - 1, start)))
        return max(first, 0), min(last + 1, len(self._raw_lines))

    @cached_property
    def _byte_starts(self) -> list[int]:
        starts = [min(start, len(self._text)) for start in self._starts]
        return self._file.encoding.byte_offsets(self._file.raw, self._file.text, starts)

    def has_word(self, word: str) -> bool:
        """Whether it stands anywhere in the file as a whole word."""
        return re.search(rf"\b{re.escape(word)}\b", self._text) is not None

    def holds_whole_lines(self, start: int, end: int) -> bool:
        """Whether a range of bytes begins and ends where lines do."""
        raw, unit, body = self._file.raw, self._file.encoding.unit, len(self._file.encoding.bom)
        before, last, behind = raw[max(start - unit, 0) : start], raw[max(end - unit, 0) : end], raw[end : end + unit]
        begins = start <= body or before.strip(b"\0") in _LINE_ENDS
        return begins and (end == len(raw) or behind.strip(b"\0") in _LINE_ENDS or last.strip(b"\0") in _LINE_ENDS)

    def text_edits(self, edits: Sequence[LineEdit]) -> list[TextEdit]:
        """The same edits as bytes and text. They are in order and do not overlap."""
        spans = [self._span(edit) for edit in edits]
        positions = [position for start, end, _ in spans for position in (start, end)]
        offsets = self._file.encoding.byte_offsets(self._file.raw, self._file.text, positions)
        return [
            TextEdit(start, end, text)
            for start, end, (_, _, text) in zip(offsets[::2], offsets[1::2], spans, strict=True)
        ]

    def _span(self, edit: LineEdit) -> tuple[int, int, str]:
        """Where the edit begins and ends in the text, and what is written there."""
        size, count = len(self._text), len(self._raw_lines)
        text = "\n".join(edit.lines)
        if edit.start == edit.end:
            if edit.start < count or self._ends_with_line_end:
                at = min(self._starts[edit.start], size)
                return at, at, f"{text}\n"
            return size, size, f"\n{text}"
        start = self._starts[edit.start]
        if not edit.lines:
            return start, min(self._starts[edit.end], size), ""
        end = start + len(self.lines[edit.start])
        if edit.end - edit.start == len(edit.lines) == 1:
            return self._trimmed(start, end, text)
        return start, self._starts[edit.end - 1] + len(self.lines[edit.end - 1]), text

    def _trimmed(self, start: int, end: int, text: str) -> tuple[int, int, str]:
        """Without what stays at both ends of a line: it may hold bytes that are no text and cannot be written anew."""
        most = min(end - start, len(text))
        front = 0
        while front < most and self._text[start + front] == text[front]:
            front += 1
        back = 0
        while back < most - front and self._text[end - 1 - back] == text[-1 - back]:
            back += 1
        return start + front, end - back, text[front : len(text) - back]
