r"""File contents as searched: UTF-8 in blocks of whole lines with "\n" line ends; and the display of lines.

A file with a NUL anywhere is binary and is not searched. UTF-16 with a byte order mark is converted first, so that its
NULs do not count.
"""

import codecs
import errno
import os
import re
import stat
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Final

from tejat.core.errors import TejatError
from tejat.workspace.files.system_calls import O_TRAVERSE, openat2
from tejat.workspace.text.encoding import detect_encoding

MAX_SHOWN_CHARACTERS: Final = 2000
MAX_LINE_BYTES: Final = 4 * MAX_SHOWN_CHARACTERS + 192
"""A longer line exceeds MAX_SHOWN_CHARACTERS in any encoding."""
MIN_AFTER_FOCUS: Final = 200
"""Characters that must be visible from the beginning of a match on."""

_BLOCK = 1 << 20
_MAX_SEARCHED_LINE = 16 << 20
_ENCODING_PROBE = 64 * 1024
_TRUNCATION_MARK = "... [truncated]"
_OMISSION_MARK = "[truncated] ..."
_MAX_BEFORE_FOCUS = 500
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_OPEN_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC
_SURROGATE = re.compile("[\ud800-\udfff]")


class BinaryFile(TejatError):
    """A file contains a NUL."""


@contextmanager
def open_regular_file(directory_fd: int, path: bytes) -> Generator[int | None]:
    """Yield a descriptor of a regular file beneath a directory, None if it is unreadable or something else.

    A link that leads out of the directory, put there after the file was found, is not followed.
    """
    try:
        fd = _open(directory_fd, path)
    except OSError:
        yield None
        return
    try:
        yield fd if stat.S_ISREG(os.fstat(fd).st_mode) else None
    finally:
        os.close(fd)


def _open(directory_fd: int, path: bytes) -> int:
    try:
        return openat2(directory_fd, os.fsdecode(path), _OPEN_FLAGS)
    except OSError as error:
        if error.errno not in (errno.ENOSYS, errno.EPERM):
            raise
    return _open_by_parts(directory_fd, path)


def _open_by_parts(directory_fd: int, path: bytes) -> int:
    """Open without openat2. No link is followed: a found path contains none."""
    *parents, name = path.split(b"/")
    fd = os.dup(directory_fd)
    try:
        for parent in parents:
            deeper = os.open(parent, O_TRAVERSE | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=fd)
            os.close(fd)
            fd = deeper
        return os.open(name, _OPEN_FLAGS, dir_fd=fd)
    finally:
        os.close(fd)


class TextBlocks:
    """Reader of a file's text. `stop` may raise.

    `complete` becomes False when a line was too long to be searched whole.
    """

    def __init__(self, fd: int, stop: Callable[[], None], *, block_size: int = _BLOCK) -> None:
        self.complete = True
        self._stop = stop
        self._raw = _read_text(fd, stop, block_size)

    def __iter__(self) -> Iterator[bytes]:
        """Yield blocks of whole lines without the last line feed. Raises BinaryFile and OSError."""
        rest = b""
        for block in self._raw:
            end = block.rfind(b"\n")
            if end < 0:
                rest = self._append(rest, block)
                continue
            whole = self._append(rest, block[:end])
            yield whole.replace(b"\r\n", b"\n").removesuffix(b"\r")
            rest = block[end + 1 :]
        if rest:
            yield rest.replace(b"\r\n", b"\n")

    def drain(self) -> None:
        """Read the rest. Raises BinaryFile if it contains a NUL."""
        for _ in self._raw:
            pass

    def _append(self, rest: bytes, more: bytes) -> bytes:
        line_end = more.find(b"\n")
        line_end = len(more) if line_end < 0 else line_end
        room = max(_MAX_SEARCHED_LINE - len(rest), 0)
        if line_end <= room:
            return rest + more
        self.complete = False
        return rest + more[:room] + more[line_end:]


def format_line(raw: bytes, head: Callable[[], bytes], *, focus: int = 0) -> str:
    """Format a line, or at least the first MAX_LINE_BYTES bytes of a longer one, for display.

    `head` returns the first bytes of the file; it is called when the line is not UTF-8. Of a line that is too long, the
    beginning is shown or, if the byte `focus` is not in there, the text around it.
    """
    is_cut = len(raw) > MAX_LINE_BYTES
    text = _decode(raw[:MAX_LINE_BYTES], head, is_cut=is_cut)
    if not is_cut and len(text) <= MAX_SHOWN_CHARACTERS:
        return text.rstrip()
    if len(_decode(raw[:focus][:MAX_LINE_BYTES], head, is_cut=True)) <= MAX_SHOWN_CHARACTERS - MIN_AFTER_FOCUS:
        return text[:MAX_SHOWN_CHARACTERS] + _TRUNCATION_MARK
    start = max(focus - 4 * _MAX_BEFORE_FOCUS, 0)
    before = _decode(_skip_partial_character(raw[start:focus]), head, is_cut=True)[-_MAX_BEFORE_FOCUS:]
    rest = raw[focus : focus + MAX_LINE_BYTES]
    after = _decode(rest, head, is_cut=focus + len(rest) < len(raw))
    room = MAX_SHOWN_CHARACTERS - len(before)
    ending = after[:room] + _TRUNCATION_MARK if len(after) > room else after.rstrip()
    return f"{_OMISSION_MARK}{before}{ending}"


def _skip_partial_character(raw: bytes) -> bytes:
    """Remove the rest of a UTF-8 character at the beginning."""
    skipped = next((index for index, byte in enumerate(raw[:4]) if byte & 0xC0 != 0x80), 0)
    return raw[skipped:]


def read_head(fd: int) -> bytes:
    """Return the first bytes of a file, enough to detect its encoding."""
    return os.pread(fd, _ENCODING_PROBE, 0)


def _read_text(fd: int, stop: Callable[[], None], block_size: int) -> Iterator[bytes]:
    decoder: codecs.IncrementalDecoder | None = None
    at = 0
    while block := os.pread(fd, block_size, at):
        if at == 0 and block.startswith(_UTF16_MARKS):
            decoder = codecs.getincrementaldecoder("utf-16")("replace")
        text = block.removeprefix(codecs.BOM_UTF8) if at == 0 else block
        if decoder is not None:
            text = decoder.decode(block).encode("utf-8", "replace")
        if b"\0" in text:
            raise BinaryFile
        at += len(block)
        yield text
        stop()
    if decoder is not None:
        yield decoder.decode(b"", final=True).encode("utf-8", "replace")


def _decode(raw: bytes, head: Callable[[], bytes], *, is_cut: bool) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        if is_cut and error.end == len(raw) and error.reason == "unexpected end of data":
            return raw[: error.start].decode()
    encoding = detect_encoding(head(), whole=False)
    if encoding is None or encoding.is_wide:
        return raw.decode("utf-8", "replace")
    return _SURROGATE.sub("\ufffd", encoding.decode(raw))
