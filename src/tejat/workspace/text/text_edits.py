"""Byte-exact edits of a text file that preserve its encoding and line endings."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from io import StringIO
from typing import cast

import stringzilla

from tejat.core.errors import UsageError
from tejat.core.frozen import Frozen
from tejat.workspace.text.encoding import TextEncoding, UnencodableCharacter
from tejat.workspace.text.line_edits import DiffEdit, compute_line_edits

_LINE_END = re.compile(r"\r\n|\n|\r")
_LONE_CR = re.compile(r"\r(?!\n)")
# One line end of any kind, but never half of one.
_ANY_LINE_END = r"(?:\r\n|(?<!\r)\n|\r(?!\n))"
_SURROGATE = re.compile("[\ud800-\udfff]")
_SHORT = 1 << 8
_BLOCK = 1 << 18  # stays in the cache of a core between the two passes over it

# The package ships no types.
_translate = cast("Callable[[memoryview, bytes], bytes]", stringzilla.translate)
_sum_of_bytes = cast("Callable[[bytes], int]", stringzilla.bytesum)
_count = cast("Callable[[bytes, bytes], int]", stringzilla.count)
_find = cast("Callable[[bytes, bytes, int], int]", stringzilla.find)


class ByteRange(Frozen):
    """The bytes from `start` up to `end`."""

    start: int
    end: int


class TextEdit(Frozen):
    """Replace the bytes from `start` up to `end` with `text`."""

    start: int
    end: int
    text: str


class ByteEdit(Frozen):
    """Replace the bytes from `start` up to `end` with `new`."""

    start: int
    end: int
    new: bytes


class EditedContent(Frozen):
    """New content as pieces in order, the edits that made it, and its size in bytes.

    Without a change there are no edits.
    """

    pieces: list[bytes | memoryview]
    edits: list[ByteEdit]
    size: int


class TextFile:
    """The content of a text file as it was read."""

    __slots__ = ("_endings", "_text", "_unit", "encoding", "raw")

    def __init__(self, raw: bytes, encoding: TextEncoding) -> None:
        self.raw = raw
        self.encoding = encoding
        self._unit = encoding.code_unit_size
        self._text: str | None = None
        self._endings: tuple[str, ...] | None = None

    @property
    def text(self) -> str:
        """The decoded content without byte order mark, line endings unchanged."""
        if self._text is None:
            self._text = self.encoding.decode(self.raw)
        return self._text

    @property
    def line_ending(self) -> str | None:
        """The most frequent line ending, None if no line ends."""
        return next(iter(self._line_endings()), None)

    def find_all(self, needle: str) -> list[ByteRange]:
        """Find all occurrences, from left to right, without overlaps.

        Any line ending in the needle matches any line ending in the file. An empty needle matches nothing.
        """
        lines = _LINE_END.split(needle)
        endings = self._line_endings()
        if not needle or (len(lines) > 1 and not endings):
            return []
        mixed = len(lines) > 1 and len(endings) > 1
        is_searchable = _is_self_synchronizing(self.encoding.codec) and not (mixed and self.encoding.is_wide)
        if _SURROGATE.search(needle) or not is_searchable:
            return self._find_in_text(lines)
        try:
            if mixed:
                pattern = _ANY_LINE_END.encode().join(re.escape(self.encoding.encode_new(line)) for line in lines)
                found = re.compile(pattern).finditer(self.raw, self._body_start())
                return [ByteRange(*match.span()) for match in found]
            needle_bytes = self.encoding.encode_new("".join(endings[:1]).join(lines))
        except UnencodableCharacter:
            return []
        return self._find_bytes(needle_bytes)

    def find_first(self, word: str, limit: int) -> list[int]:
        """Find the first occurrences of a text without line endings, fast in very large files.

        In encodings whose characters share bytes, some may be false matches.
        """
        try:
            needle_bytes = self.encoding.encode_new(word)
        except UnencodableCharacter:
            return []
        places: list[int] = []
        at = _find(self.raw, needle_bytes, self._body_start()) if needle_bytes else -1
        while at >= 0 and len(places) < limit:
            if at % self._unit == 0:
                places.append(at)
            at = _find(self.raw, needle_bytes, at + 1)
        return places

    def count_lines(self, start: int, end: int) -> int:
        """Count the LF line endings between two offsets."""
        if not self.encoding.is_wide:
            return count_byte(self.raw, b"\n", start, end)
        bare = self._encoding_without_bom()
        blocks = (self.raw[at : min(at + _BLOCK, end)] for at in range(start, end, _BLOCK))
        return sum(bare.decode(block).count("\n") for block in blocks)

    def apply_edits(self, edits: Sequence[TextEdit]) -> EditedContent:
        """Apply edits, which are in order, do not overlap, and begin and end between characters.

        A line ending in an edit's text, LF or CRLF, becomes that of the neighbouring lines in the file. Lines that an
        edit does not change keep their bytes. The byte order mark is never part of an edit.

        Raises UnencodableCharacter, and UsageError for edits out of order or out of range.
        """
        body = at = self._body_start()
        mixed = len(self._line_endings()) > 1
        made: list[ByteEdit] = []
        # The same text is often inserted in many places.
        encoded: dict[str, bytes] = {}
        for edit in edits:
            start, end = max(edit.start, body), max(edit.end, body)
            if not at <= start <= end <= len(self.raw):
                raise UsageError(f"The edit of bytes {edit.start} to {edit.end} is out of order or out of range.")
            at = end
            replaced = self.raw[start:end]
            if mixed or not self._round_trips(replaced):
                made += self._edit_lines(start, replaced, edit.text)
                continue
            if edit.text not in encoded:
                encoded[edit.text] = self.encoding.encode_new(_normalize_line_endings(edit.text, self.line_ending))
            if encoded[edit.text] != replaced:
                made.append(ByteEdit(start, end, encoded[edit.text]))
        return self._build_content(made)

    def replace_content(self, content: str) -> EditedContent:
        """Replace the content, keeping encoding, byte order mark and line endings. Raises UnencodableCharacter."""
        body = self._body_start()
        # The mark is kept as bytes; one that came with the content would be a second one.
        return self.apply_edits([TextEdit(body, len(self.raw), content.removeprefix("\ufeff") if body else content)])

    def _body_start(self) -> int:
        """Offset of the end of the byte order mark."""
        return len(self.encoding.bom) if self.raw.startswith(self.encoding.bom) else 0

    def _line_endings(self) -> tuple[str, ...]:
        """The kinds of line endings in the file, most frequent first."""
        if self._endings is None:
            counts = _count_line_endings(self.text if self.encoding.is_wide else self.raw)
            self._endings = tuple(sorted((kind for kind in counts if counts[kind]), key=lambda kind: -counts[kind]))
        return self._endings

    def _find_in_text(self, lines: list[str]) -> list[ByteRange]:
        pattern = re.compile(_ANY_LINE_END.join(re.escape(line) for line in lines))
        positions = [position for match in pattern.finditer(self.text) for position in match.span()]
        offsets = self.encoding.byte_offsets(self.raw, self.text, positions)
        return [ByteRange(*pair) for pair in zip(offsets[::2], offsets[1::2], strict=True)]

    def _find_bytes(self, needle_bytes: bytes) -> list[ByteRange]:
        ranges: list[ByteRange] = []
        at = self._find_aligned(needle_bytes, self._body_start())
        while at >= 0:
            end = at + len(needle_bytes)
            ranges.append(ByteRange(at, end))
            at = self._find_aligned(needle_bytes, end)
        return ranges

    def _find_aligned(self, needle_bytes: bytes, start: int) -> int:
        at = self.raw.find(needle_bytes, start)
        while at > 0 and at % self._unit:
            at = self.raw.find(needle_bytes, at + 1)
        return at

    def _rfind_aligned(self, needle_bytes: bytes, end: int) -> int:
        at = self.raw.rfind(needle_bytes, self._body_start(), end)
        while at > 0 and at % self._unit:
            at = self.raw.rfind(needle_bytes, self._body_start(), at + len(needle_bytes) - 1)
        return at

    def _round_trips(self, replaced: bytes) -> bool:
        """Whether decoding and encoding returns the same bytes, so that no line needs to keep its own."""
        if self._unit == 1 and replaced.isascii():
            return True
        bare = self._encoding_without_bom()
        try:
            return bare.encode_new(bare.decode(replaced)) == replaced
        except UnencodableCharacter:
            return False

    def _encoding_without_bom(self) -> TextEncoding:
        """The encoding for a part of the file, where a byte order mark is an ordinary character."""
        return TextEncoding(self.encoding.codec, b"")

    def _edit_lines(self, start: int, replaced: bytes, given: str) -> list[ByteEdit]:
        """Return edits of the lines that differ in more than their line ending."""
        bare = self._encoding_without_bom()
        text = bare.decode(replaced)
        # A lone CR in the new text is a character, and then also in the file, unless its lines end with CR.
        cr_ends_lines = self.line_ending == "\r" or not _LONE_CR.search(given)
        old, new = _Lines(text, cr_ends_lines=cr_ends_lines), _Lines(given, cr_ends_lines=cr_ends_lines)
        changes = compute_line_edits(old.keys, new.keys)
        offsets = iter(bare.byte_offsets(replaced, text, list(_old_positions(changes, old))))
        around = self._nearby_line_ending(start, start + len(replaced))
        return [
            ByteEdit(start + first, start + last, self.encoding.encode_new(_new_lines_text(change, old, new, around)))
            for change, first, last in zip(changes, offsets, offsets, strict=True)
        ]

    def _nearby_line_ending(self, start: int, end: int) -> str:
        """Return the ending of the line that contains `end`, else of the one before `start`; "" if the file has none.

        A lone CR counts only where lines end with it: elsewhere it is a stray character.
        """
        marks = [self.encoding.encode_new(mark) for mark in ("\n\r" if self.line_ending == "\r" else "\n")]
        found = [at for mark in marks if (at := self._find_aligned(mark, end)) >= 0]
        at = min(found) if found else max(self._rfind_aligned(mark, start) for mark in marks)
        if at < 0:
            return self.line_ending or ""
        unit = self._unit
        around = self._encoding_without_bom().decode(self.raw[max(at - unit, self._body_start()) : at + 2 * unit])
        if "\r\n" in around:
            return "\r\n"
        return "\n" if self.raw[at : at + unit] == marks[0] else "\r"

    def _build_content(self, edits: list[ByteEdit]) -> EditedContent:
        raw, view = self.raw, memoryview(self.raw)
        pieces: list[bytes | memoryview] = []
        size = at = 0
        for start, end, new in (*((edit.start, edit.end, edit.new) for edit in edits), (len(raw), len(raw), b"")):
            size += start - at + len(new)
            if start > at:
                # A view takes more memory than a copy of a few bytes.
                pieces.append(raw[at:start] if start - at < _SHORT else view[at:start])
            if new:
                pieces.append(new)
            at = end
        return EditedContent(pieces, edits, size)


def count_byte(raw: bytes, byte: bytes, start: int, end: int) -> int:
    """Count a byte between two offsets; several times as fast as bytes.count on large ranges."""
    if end - start < _BLOCK:
        return raw.count(byte, start, end)
    view = memoryview(raw)
    table = bytes(1 if value == byte[0] else 0 for value in range(256))
    return sum(_sum_of_bytes(_translate(view[at : min(at + _BLOCK, end)], table)) for at in range(start, end, _BLOCK))


@cache
def _is_self_synchronizing(codec: str) -> bool:
    """Whether the bytes of one character are never part of another, so that text can be searched as bytes.

    In East Asian double-byte codecs, the second byte of a character may be the first or only byte of another.
    """
    every_byte = bytes(range(256))
    return codec.startswith("utf-") or len(every_byte.decode(codec, "surrogateescape")) == len(every_byte)


def _count_line_endings(content: str | bytes) -> dict[str, int]:
    # Where two kinds are as frequent, the one named first wins.
    if isinstance(content, str):
        both, feeds, returns = content.count("\r\n"), content.count("\n"), content.count("\r")
    elif b"\r" not in content:
        both, feeds, returns = 0, int(b"\n" in content), 0
    else:
        both = _count(content, b"\r\n")
        feeds, returns = (count_byte(content, byte, 0, len(content)) for byte in (b"\n", b"\r"))
    return {"\r\n": both, "\n": feeds - both, "\r": returns - both}


def _normalize_line_endings(given: str, ending: str | None) -> str:
    """Convert LF and CRLF to the given line ending."""
    if ending is None or (ending == "\n" and "\r" not in given):
        return given
    return given.replace("\r\n", "\n").replace("\n", ending)


class _Lines:
    """The lines of a text, and keys that are equal for lines that differ only in their line ending."""

    __slots__ = ("keys", "lines")

    def __init__(self, text: str, *, cr_ends_lines: bool) -> None:
        if cr_ends_lines:
            self.lines = StringIO(text, newline="").readlines()
            self.keys = StringIO(text, newline=None).readlines()
        else:
            self.lines = StringIO(text, newline="\n").readlines()
            self.keys = StringIO(text.replace("\r\n", "\n"), newline="\n").readlines()

    def ending(self, index: int) -> str:
        """Return the line ending of a line, "" for an unterminated last line."""
        return self.lines[index][len(self.keys[index].removesuffix("\n")) :]


def _old_positions(changes: list[DiffEdit], old: _Lines) -> Iterator[int]:
    """Yield the start and end of each change's old lines in the text."""
    line = position = 0
    for change in changes:
        for index in (change.old_start, change.old_end):
            position += sum(map(len, old.lines[line:index]))
            line = index
            yield position


def _new_lines_text(change: DiffEdit, old: _Lines, new: _Lines, around: str) -> str:
    """Return the new lines, each with the ending of the line it replaces, else of the nearest one."""
    replaced = [old.ending(index) for index in range(change.old_start, change.old_end)]
    # The lines of the edit itself come first, the last of them foremost; then the line before, then the one after.
    near = [*reversed(replaced), *map(old.ending, range(max(0, change.old_start - 1), change.old_start))]
    near += map(old.ending, range(change.old_end, min(change.old_end + 1, len(old.lines))))
    nearest = next(filter(None, near), around)
    parts: list[str] = []
    for index in range(change.new_start, change.new_end):
        line, given = new.lines[index], new.ending(index)
        if given:
            turn = index - change.new_start
            own = replaced[turn] if turn < len(replaced) else ""
            line = line.removesuffix(given) + (own or nearest or given)
        parts.append(line)
    return "".join(parts)
