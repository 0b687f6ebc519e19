"""A file as lines and normalized keys, with line edits translated back to byte offsets."""

import re
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from itertools import accumulate, compress, count

from tejat.core.frozen import Frozen
from tejat.tools.edit.match.line_comparer import LineComparer, has_escapes
from tejat.tools.edit.match.normalize import normalize_text
from tejat.workspace.text.line_edits import common_prefix, common_suffix
from tejat.workspace.text.text_edits import TextEdit, TextFile

_COUNT_AFTER = 32
_LINE_ENDS = (b"\n", b"\r")
_CONTEXT_LINES = 40
_BLOCK_SIZE = 1 << 11


class LineReplacement(Frozen):
    """Replacement of the lines from `start` up to `end` by `lines`."""

    start: int
    end: int
    lines: tuple[str, ...]


class IndexedFile:
    """Lines of a file without line ends. Lines end with LF, or with CR in a file that has only CR."""

    def __init__(self, file: TextFile) -> None:
        self._file = file
        # Of equal length, so that offsets are valid in both.
        self._text = file.text.replace("\r", "\n") if file.line_ending == "\r" else file.text
        self._ends_with_line_end = self._text.endswith("\n")
        self._word_cache: dict[str, bool] = {}
        self._substring_cache: dict[tuple[str, int], list[int]] = {}
        self._lines_by_key: dict[str, list[int]] = {}
        self._comparers: dict[tuple[str, bool, bool], LineComparer] = {}
        self._counted_to = 0, 0
        self._measured_to = 0, 0

    @cached_property
    def _raw_lines(self) -> list[str]:
        lines = self._text.split("\n")
        if self._ends_with_line_end:
            lines.pop()
        return lines

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
        """All keys, one per line."""
        keys = normalize_text(self._text)
        return keys[:-1] if self._ends_with_line_end else keys

    @cached_property
    def has_escapes(self) -> bool:
        """Whether the file contains backslashes or ampersands."""
        return has_escapes(self.key_text)

    @property
    def line_count(self) -> int:
        """Number of lines of the file."""
        return len(self._raw_lines)

    def line_number(self, line: int) -> int:
        """Line number, counted from 1."""
        return line + 1

    def lines_by_key(self, keys: Collection[str]) -> dict[str, list[int]]:
        """Find the lines with each of the keys; keys that do not occur are omitted."""
        asked = self.key_set.intersection(keys)
        unknown = asked.difference(self._lines_by_key)
        if unknown:
            self._lines_by_key.update((key, []) for key in unknown)
            for at in compress(count(), map(unknown.__contains__, self.keys)):
                self._lines_by_key[self.keys[at]].append(at)
        return {key: self._lines_by_key[key] for key in asked}

    def find_runs(self, keys: Sequence[str], *, limit: int) -> list[int]:
        """Find the lines where the keys occur consecutively, the first `limit` ones."""
        text, sought = f"\n{self.key_text}\n", "\n".join(["", *keys, ""])
        runs: list[int] = []
        at, line, end = 0, 0, text.find(sought)
        while end >= 0 and len(runs) < limit:
            line += text.count("\n", at, end)
            runs.append(line)
            at, end = end, text.find(sought, end + 1)
        return runs

    def find_lines_containing(self, part: str, *, limit: int) -> Sequence[int]:
        """Find the line of each occurrence in a key; empty if there are more than `limit`."""
        if (part, limit) not in self._substring_cache:
            found: list[int] = []
            at = self.key_text.find(part)
            while at >= 0 and len(found) <= limit:
                found.append(at)
                # Count at once if there are many.
                if len(found) == _COUNT_AFTER and self.key_text.count(part) > limit:
                    break
                at = self.key_text.find(part, at + 1)
            is_complete = at < 0 and len(found) <= limit
            self._substring_cache[part, limit] = self._lines_at_key_offsets(found) if is_complete else []
        return self._substring_cache[part, limit]

    def _lines_at_key_offsets(self, offsets: Iterable[int]) -> list[int]:
        """Lines at offsets of `key_text`."""
        text, above = self.key_text, self._lines_above_blocks
        starts = ((offset, offset // _BLOCK_SIZE) for offset in offsets)
        return [above[block] + text.count("\n", block * _BLOCK_SIZE, offset) for offset, block in starts]

    @cached_property
    def _lines_above_blocks(self) -> list[int]:
        """Number of lines that end before each block of `key_text`."""
        text = self.key_text
        counts = (text.count("\n", at, at + _BLOCK_SIZE) for at in range(0, len(text), _BLOCK_SIZE))
        return list(accumulate(counts, initial=0))

    def _line_start(self, line: int) -> int:
        """Offset of a line, or of the end of the text and one more. Fastest in ascending order."""
        at, offset = self._measured_to if self._measured_to[0] <= line else (0, 0)
        offset += sum(map(len, self._raw_lines[at:line])) + line - at
        self._measured_to = line, offset
        return offset

    def line_range(self, start: int, end: int) -> tuple[int, int]:
        """Half-open range of lines that a range of bytes touches.

        Fastest in ascending order, because lines are counted from the previous offset.
        """
        return self._line_at(start), self._line_at(max(end - self._file.encoding.code_unit_size, start)) + 1

    def _line_at(self, offset: int) -> int:
        at, line = self._counted_to if self._counted_to[0] <= offset else (0, 0)
        ends = "\r\n" if self._file.line_ending == "\r" else "\n"
        if self._file.encoding.is_wide:
            line += sum(map(self._file.encoding.decode(self._file.raw[at:offset]).count, ends))
        else:
            line += sum(self._file.raw.count(end.encode(), at, offset) for end in ends)
        self._counted_to = offset, line
        return line

    def context_lines(self, start: int, end: int) -> Sequence[str]:
        """Lines of a range and around it, which show the indentation used there."""
        return self.lines[max(start - _CONTEXT_LINES, 0) : end + _CONTEXT_LINES]

    def has_line_starting_with(self, start: str) -> bool:
        """Check whether any line starts with this text."""
        return self._text.startswith(start) or f"\n{start}" in self._text

    def has_word(self, word: str) -> bool:
        """Check whether a whole word occurs in the file."""
        if word not in self._word_cache:
            # Finding the letters first is much faster.
            whole, at = re.compile(rf"\b{re.escape(word)}\b"), self._text.find(word)
            while at >= 0 and not whole.match(self._text, at):
                at = self._text.find(word, at + 1)
            self._word_cache[word] = at >= 0
        return self._word_cache[word]

    def line_comparer(self, line: str, key: str, *, is_first: bool, is_last: bool) -> LineComparer:
        """Get the comparer of a given line, which caches its results for this file."""
        asked = line, is_first, is_last
        if asked not in self._comparers:
            self._comparers[asked] = LineComparer(line, key, is_first=is_first, is_last=is_last)
        return self._comparers[asked]

    def is_whole_lines(self, start: int, end: int) -> bool:
        """Check whether a range of bytes starts and ends at line boundaries."""
        raw, unit, body = self._file.raw, self._file.encoding.code_unit_size, len(self._file.encoding.bom)
        before, last, behind = raw[max(start - unit, 0) : start], raw[max(end - unit, 0) : end], raw[end : end + unit]
        begins = start <= body or before.strip(b"\0") in _LINE_ENDS
        return begins and (end == len(raw) or behind.strip(b"\0") in _LINE_ENDS or last.strip(b"\0") in _LINE_ENDS)

    def to_text_edits(self, edits: Sequence[LineReplacement]) -> list[TextEdit]:
        """Translate edits that are in order and do not overlap."""
        spans = [self._span(edit) for edit in edits]
        positions = [position for start, end, _ in spans for position in (start, end)]
        offsets = self._file.encoding.byte_offsets(self._file.raw, self._file.text, positions)
        return list(map(TextEdit, offsets[::2], offsets[1::2], (text for _, _, text in spans)))

    def _span(self, edit: LineReplacement) -> tuple[int, int, str]:
        """Start, end and text of an edit."""
        size, count = len(self._text), len(self._raw_lines)
        text = "\n".join(edit.lines)
        if edit.start == edit.end:
            if edit.start < count or self._ends_with_line_end:
                at = min(self._line_start(edit.start), size)
                return at, at, f"{text}\n"
            return size, size, f"\n{text}"
        start = self._line_start(edit.start)
        if not edit.lines:
            return start, min(self._line_start(edit.end), size), ""
        end = start + len(self.lines[edit.start])
        if edit.end - edit.start == len(edit.lines) == 1:
            return self._trim_common_ends(start, end, text)
        return start, self._line_start(edit.end - 1) + len(self.lines[edit.end - 1]), text

    def _trim_common_ends(self, start: int, end: int, text: str) -> tuple[int, int, str]:
        """Exclude the unchanged ends of a line, which may contain undecodable bytes."""
        line = self._text[start:end]
        most = min(len(line), len(text))
        front = common_prefix(line, text, limit=most)
        back = common_suffix(line, text, limit=most - front)
        return start + front, end - back, text[front : len(text) - back]
