"""Reading a range of lines from a file of any size in bounded memory."""

import os
import re
import threading
from collections.abc import Callable, Iterator
from itertools import accumulate, islice
from typing import cast

from tejat.core.frozen import Frozen
from tejat.workspace.files.regular_file import read_bytes
from tejat.workspace.text.encoding import TextEncoding
from tejat.workspace.threads.stop import never_stop

TRUNCATION_MARK = "... [truncated]"
_MAX_IN_MEMORY = 1 << 20
_BLOCK = 1 << 19  # stays in the cache of a core between the read and the count
_BLOCKS_PER_CLAIM = 16  # blocks that a thread counts before it synchronises
_MAX_THREADS = 4
_LONGEST_CHARACTER = 4  # bytes, in every encoding
_NEWLINE_TO_ONE = bytes(1 if byte == 0x0A else 0 for byte in range(256))
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class LineSlice(Frozen):
    """Lines without their line endings; undecodable bytes are U+FFFD.

    A file that ends with a newline has an empty last line, which counts, and an empty file has one line.
    """

    lines: list[str]
    first: int
    """Index of the first line, from 0, as requested; it may be beyond the last line."""
    total: int
    """Number of lines in the file."""
    has_truncated_lines: bool
    """Whether a line was longer than allowed and was truncated."""
    reaches_end: bool
    """Whether no line of the file follows."""


def read_line_slice(
    fd: int,
    size: int,
    encoding: TextEncoding,
    *,
    offset: int,
    limit: int,
    max_line_length: int,
    max_characters: int | None = None,
    stop: Callable[[], None],
    small: int = _MAX_IN_MEMORY,
    block_size: int = _BLOCK,
) -> LineSlice:
    """Read at most `limit` lines, starting at line `offset`, from the first `size` bytes of the open file.

    Lines end at a newline; a carriage return before it is removed. Lines longer than `max_line_length` are truncated
    and marked. With more than `max_characters` the last lines are left out. `stop` is called now and then. The file may
    grow or shrink meanwhile. `block_size` is a multiple of 4.

    Raises OSError if the file cannot be read, and whatever `stop` raises.
    """
    if size <= small:
        text = encoding.decode(read_bytes(fd, 0, size))
        return slice_lines(
            text, offset=offset, limit=limit, max_line_length=max_line_length, max_characters=max_characters
        )
    file = _File(fd, size, encoding, block_size, stop)
    limits = _Limits(limit, max_line_length, max_characters)
    shown, total = _slice_file(file, offset, limits)
    return _build_slice(shown, total, offset, limits)


def slice_lines(
    text: str, *, offset: int, limit: int, max_line_length: int, max_characters: int | None = None
) -> LineSlice:
    """Return at most `limit` lines of a text, as `read_line_slice` does for a file."""
    shown, total = _slice_text(text, offset=offset, limit=limit)
    return _build_slice(shown, total, offset, _Limits(limit, max_line_length, max_characters))


class _Limits(Frozen):
    lines: int
    line_length: int
    characters: int | None


def _build_slice(shown: list[str], total: int, offset: int, limits: _Limits) -> LineSlice:
    cut_lines = max(map(len, shown), default=0) > limits.line_length
    if cut_lines or not all(map(str.isascii, shown)):
        shown = [_truncate_line(line, limits.line_length) for line in shown]
    if limits.characters is not None and limits.lines * (limits.line_length + 1) > limits.characters:
        ends = accumulate(len(line) + 1 for line in shown)
        shown = shown[: max(sum(end <= limits.characters for end in ends), 1)]
    reaches_end = offset + len(shown) >= total
    return LineSlice(shown, offset, total, has_truncated_lines=cut_lines, reaches_end=reaches_end)


def _truncate_line(line: str, max_line_length: int) -> str:
    if len(line) > max_line_length:
        line = line[:max_line_length] + TRUNCATION_MARK
    return _LONE_SURROGATE.sub("\ufffd", line)


def _slice_text(text: str, *, offset: int, limit: int) -> tuple[list[str], int]:
    behind = min(offset + limit, len(text) + 1)
    lines = text.split("\n", behind)
    rest = lines.pop()
    shown = [line.removesuffix("\r") for line in lines[offset:]]
    if len(lines) == behind:
        return shown, behind + 1 + rest.count("\n")
    if offset <= len(lines):
        shown.append(rest)
    return shown, len(lines) + 1


class _File(Frozen):
    descriptor: int
    size: int
    encoding: TextEncoding
    block_size: int
    stop: Callable[[], None]

    def read_block(self, index: int, buffer: memoryview) -> int:
        """Fill the buffer from a block and return the number of bytes, 0 beyond the current end of the file."""
        start = index * self.block_size
        size_wanted = min(self.block_size, self.size - start)
        filled = 0
        while filled < size_wanted:
            read = os.preadv(self.descriptor, [buffer[filled:size_wanted]], start + filled)
            if read == 0:
                break
            filled += read
        return filled


def _slice_file(file: _File, offset: int, limits: _Limits) -> tuple[list[str], int]:
    count = _count_newlines(file, target=offset)
    total = count.newlines + 1
    if offset >= total:
        return [], total
    # One more character reveals a truncated line, one may be a byte order mark, the last may be incomplete.
    keep = (limits.line_length + 3) * _LONGEST_CHARACTER
    size_wanted = min(limits.lines, total - offset)
    skip = offset - count.newlines_before_target
    lines = islice(_iter_lines(file, block=count.target_block, skip=skip, keep=keep), size_wanted)
    unmarked = TextEncoding(file.encoding.codec, b"")
    shown: list[str] = []
    characters = 0
    for raw, ended in lines:
        line = (file.encoding if offset + len(shown) == 0 else unmarked).decode(raw)
        shown.append(line.removesuffix("\r") if ended else line)
        characters += len(line)
        if limits.characters is not None and characters > limits.characters:
            return shown, total
    # The file may have become shorter since its lines were counted.
    return shown, total if len(shown) == size_wanted else offset + len(shown)


class _NewlineCount:
    """The newline count that threads share. Ranges are counted in any order and added up in file order."""

    def __init__(self, target: int) -> None:
        self.target = target
        self.claimed = 0
        self.added = 0
        self.waiting: dict[int, list[int]] = {}
        self.newlines = 0
        self.target_block = 0
        self.newlines_before_target = 0
        self.finished = False
        self.failure: OSError | MemoryError | None = None
        self.lock = threading.Lock()

    def claim(self) -> int:
        with self.lock:
            self.claimed += 1
            return self.claimed - 1

    def add(self, stretch: int, blocks: list[int]) -> None:
        with self.lock:
            self.waiting[stretch] = blocks
            while self.added in self.waiting:
                for index, newlines in enumerate(self.waiting.pop(self.added), self.added * _BLOCKS_PER_CLAIM):
                    if self.newlines < self.target:
                        self.target_block = index
                        self.newlines_before_target = self.newlines
                    self.newlines += newlines
                self.added += 1


def _count_newlines(file: _File, *, target: int) -> _NewlineCount:
    """Count all newlines and find the block in which line `target` begins, that is, the one with newline `target`."""
    count = _NewlineCount(target)
    blocks = -(-file.size // file.block_size)
    helpers = min(_MAX_THREADS, os.cpu_count() or 1, blocks) - 1
    threads = [threading.Thread(target=_count_in_thread, args=(file, count), daemon=True) for _ in range(helpers)]
    for thread in threads:
        thread.start()
    try:
        _count_blocks(file, count, file.stop)
    finally:
        count.finished = True
        for thread in threads:
            thread.join()
    if count.failure is not None:
        raise count.failure
    return count


def _count_in_thread(file: _File, count: _NewlineCount) -> None:
    try:
        _count_blocks(file, count, never_stop)
    except (OSError, MemoryError) as failure:
        count.failure = failure
    finally:
        count.finished = True


def _count_blocks(file: _File, count: _NewlineCount, stop: Callable[[], None]) -> None:
    buffer = memoryview(bytearray(file.block_size))
    wide_codec = file.encoding.codec if file.encoding.is_wide else None
    while not count.finished:
        stop()
        stretch = count.claim()
        blocks: list[int] = []
        for block in range(stretch * _BLOCKS_PER_CLAIM, (stretch + 1) * _BLOCKS_PER_CLAIM):
            filled = file.read_block(block, buffer)
            if filled == 0:
                break
            blocks.append(_count_block(buffer[:filled], wide_codec))
        if not blocks:
            return
        count.add(stretch, blocks)


def _count_block(block: memoryview, wide_codec: str | None) -> int:
    if wide_codec is not None:
        # Broken units are no newlines, and a surrogate pair that two blocks share is none either.
        return str(block, wide_codec, "ignore").count("\n")
    import stringzilla

    # The package ships no types.
    translate = cast("Callable[..., None]", stringzilla.translate)
    count = cast("Callable[[memoryview], int]", stringzilla.bytesum)
    # Several times as fast as bytes.count, which looks for one newline after the other.
    translate(block, _NEWLINE_TO_ONE, inplace=True)
    return count(block)


def _iter_lines(file: _File, *, block: int, skip: int, keep: int) -> Iterator[tuple[bytes, bool]]:
    """Yield the lines after the next `skip` newlines: the first `keep` bytes of each, and whether a newline ended it.

    A line is yielded as soon as that many bytes are known, without waiting for the end of the last one.
    """
    newline = "\n".encode(file.encoding.codec)
    unit = len(newline)
    buffer = memoryview(bytearray(file.block_size))
    line = b""
    given = False
    while filled := file.read_block(block, buffer):
        file.stop()
        block += 1
        raw = bytes(buffer[:filled])
        cursor = 0
        while cursor < filled:
            found = _find_aligned(raw, newline, cursor)
            end = filled if found < 0 else found
            if skip == 0 and not given:
                line += raw[cursor : min(end, cursor + keep - len(line))]
                if len(line) == keep or found >= 0:
                    yield line, found >= 0
                    given = True
            if found >= 0:
                skip = max(skip - 1, 0)
                line = b""
                given = False
            cursor = end + unit
    if skip == 0 and not given:
        yield line, False


def _find_aligned(raw: bytes, newline: bytes, start: int) -> int:
    found = raw.find(newline, start)
    while found >= 0 and found % len(newline):
        found = raw.find(newline, found + 1)
    return found
