"""A file as lines with their keys, and the way from lines back to its bytes."""

import re
from bisect import bisect_right
from collections.abc import Collection, Sequence
from functools import cached_property
from itertools import accumulate, compress, count
from operator import add

from tejat.core.value import value
from tejat.tools.edit.folding import folded
from tejat.tools.edit.likeness import Likeness, may_be_escaped
from tejat.workspace.line_edits import common_prefix, common_suffix
from tejat.workspace.splice import TextEdit, TextFile

_SOME = 32
_LINE_ENDS = (b"\n", b"\r")
_AROUND = 40


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
        self._ends_with_line_end = self._text.endswith("\n")
        self._words: dict[str, bool] = {}
        self._parts: dict[tuple[str, int], list[int]] = {}
        self._lines_of: dict[str, list[int]] = {}
        self._likenesses: dict[tuple[str, bool, bool], Likeness] = {}
        self._counted = 0, 0

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
        """All keys, each on a line."""
        keys = folded(self._text)
        return keys[:-1] if self._ends_with_line_end else keys

    @cached_property
    def is_escaped(self) -> bool:
        """Whether anything in it could be an escape or an entity."""
        return may_be_escaped(self.key_text)

    @property
    def count(self) -> int:
        """How many lines the file has."""
        return len(self._raw_lines)

    def number(self, line: int) -> int:
        """The number of a line, as people count."""
        return line + 1

    def lines_of(self, keys: Collection[str]) -> dict[str, list[int]]:
        """The lines that have each of the keys, without those that none has."""
        asked = self.key_set.intersection(keys)
        unknown = asked.difference(self._lines_of)
        if unknown:
            self._lines_of.update((key, []) for key in unknown)
            for at in compress(count(), map(unknown.__contains__, self.keys)):
                self._lines_of[self.keys[at]].append(at)
        return {key: self._lines_of[key] for key in asked}

    def runs_of(self, keys: Sequence[str], *, most: int) -> list[int]:
        """Each line where the keys stand, one below the other; only the first ones if there are more than `most`."""
        text, sought = f"\n{self.key_text}\n", "\n".join(["", *keys, ""])
        runs: list[int] = []
        at, line, end = 0, 0, text.find(sought)
        while end >= 0 and len(runs) < most:
            line += text.count("\n", at, end)
            runs.append(line)
            at, end = end, text.find(sought, end + 1)
        return runs

    def lines_with(self, part: str, *, most: int) -> Sequence[int]:
        """The line of each place where a part of a key stands; none if there are more than `most`."""
        if (part, most) not in self._parts:
            found: list[int] = []
            at = self.key_text.find(part)
            while at >= 0 and len(found) <= most:
                found.append(at)
                # A word that stands all over the file is best found out at once.
                if len(found) == _SOME and self.key_text.count(part) > most:
                    break
                at = self.key_text.find(part, at + 1)
            lines = [] if at >= 0 or len(found) > most else [self.line_of_key(at) for at in found]
            self._parts[part, most] = lines
        return self._parts[part, most]

    def line_of_key(self, offset: int) -> int:
        """Which line a place in `key_text` belongs to."""
        return bisect_right(self._key_starts, offset) - 1

    @cached_property
    def _key_starts(self) -> list[int]:
        return _starts_of(self.keys)

    @cached_property
    def _starts(self) -> list[int]:
        return _starts_of(self._raw_lines)

    def lines_at(self, start: int, end: int) -> tuple[int, int]:
        """The lines that a range of bytes touches, from the first up to the one behind the last.

        Ranges are best asked for in their order, because lines are counted on from the last one.
        """
        return self._line_at(start), self._line_at(max(end - self._file.encoding.unit, start)) + 1

    def _line_at(self, offset: int) -> int:
        at, line = self._counted if self._counted[0] <= offset else (0, 0)
        ends = "\r\n" if self._file.line_ending == "\r" else "\n"
        if self._file.encoding.is_wide:
            line += sum(map(self._file.encoding.decode(self._file.raw[at:offset]).count, ends))
        else:
            line += sum(self._file.raw.count(end.encode(), at, offset) for end in ends)
        self._counted = offset, line
        return line

    def around(self, start: int, end: int) -> Sequence[str]:
        """A stretch of lines and those about it, which show how the file is indented there."""
        return self.lines[max(start - _AROUND, 0) : end + _AROUND]

    def has_line_with(self, start: str) -> bool:
        """Whether any line begins so."""
        return self._text.startswith(start) or f"\n{start}" in self._text

    def has_word(self, word: str) -> bool:
        """Whether it stands anywhere in the file as a whole word."""
        if word not in self._words:
            # To look for the letters first is many times as fast.
            whole, at = re.compile(rf"\b{re.escape(word)}\b"), self._text.find(word)
            while at >= 0 and not whole.match(self._text, at):
                at = self._text.find(word, at + 1)
            self._words[word] = at >= 0
        return self._words[word]

    def likeness(self, line: str, key: str, *, is_first: bool, is_last: bool) -> Likeness:
        """What compares a given line with those of this file: one and the same whenever it is asked for."""
        asked = line, is_first, is_last
        if asked not in self._likenesses:
            self._likenesses[asked] = Likeness(line, key, is_first=is_first, is_last=is_last)
        return self._likenesses[asked]

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
        line = self._text[start:end]
        most = min(len(line), len(text))
        front = common_prefix(line, text, limit=most)
        back = common_suffix(line, text, limit=most - front)
        return start + front, end - back, text[front : len(text) - back]


def _starts_of(lines: Sequence[str]) -> list[int]:
    """Where each line begins, and where one more would, if one character is between them."""
    return list(map(add, accumulate(map(len, lines), initial=0), count()))
