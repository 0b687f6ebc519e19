"""Tracked files, read from the git index without running git."""

import os
from bisect import bisect_left
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from tejat.workspace.files.regular_file import read_bytes, regular_file_opener
from tejat.workspace.paths.git_index_pages import IndexPages, UnreadableIndex

_MAX_BYTES = 512 * 1024 * 1024
_MAX_PARSED_BYTES = 256 * 1024
"""A larger index is not parsed: each lookup reads the pages that it needs."""
# Of each entry: times, device, inode, mode, owner, size; then an object name and two bytes of flags.
_STAT_BYTES = 40
_OBJECT_NAME_SIZES = (20, 32)
_LONG_NAME = 0x0FFF
_HAS_EXTENDED_FLAGS = 0x40
_CACHED_INDEXES = 4

_Signature = tuple[int, int, int]
_cache: dict[str, tuple[_Signature, "TrackedFiles"]] = {}


class TrackedFiles:
    """The paths in an index, relative to the top of the working tree."""

    def __init__(self, first_from: Callable[[bytes], bytes | None]) -> None:
        """`first_from` returns the first path that is not less than the given one, None if there is none."""
        self.first_from = first_from

    def __contains__(self, path: bytes) -> bool:
        return self.first_from(path) == path

    def has_files_beneath(self, directory: bytes) -> bool:
        """Whether a tracked file is anywhere beneath the directory."""
        beginning = directory + b"/"
        found = self.first_from(beginning)
        return found is not None and found.startswith(beginning)


NO_TRACKED_FILES = TrackedFiles(lambda _: None)


def read_git_index(index: str) -> TrackedFiles:
    """Read the tracked files of an index file; `NO_TRACKED_FILES` if it is missing or not understood.

    An index is cached until the file changes.
    """
    try:
        with open(index, "rb", opener=regular_file_opener) as file:
            status = os.fstat(file.fileno())
            signature = (status.st_mtime_ns, status.st_size, status.st_ino)
            known = _cache.get(index)
            if known is not None and known[0] == signature:
                return known[1]
            tracked = _open_pages(file.fileno(), status.st_size) or _parse_whole(file.fileno(), status.st_size)
    except OSError:
        return NO_TRACKED_FILES
    while len(_cache) >= _CACHED_INDEXES:
        _cache.pop(next(iter(_cache)), None)
    _cache[index] = (signature, tracked)
    return tracked


def _open_pages(descriptor: int, size: int) -> TrackedFiles | None:
    """Open a large index for lookups; None if it has to be parsed."""
    version = int.from_bytes(os.pread(descriptor, 4, 4), "big")
    if size <= _MAX_PARSED_BYTES or os.pread(descriptor, 4, 0) != b"DIRC" or version not in (2, 3):
        return None
    for object_name_size in _OBJECT_NAME_SIZES:
        with suppress(UnreadableIndex):
            return TrackedFiles(_PagedIndex(IndexPages(descriptor, size, object_name_size), size).first_from)
    return None


def _parse_whole(descriptor: int, size: int) -> TrackedFiles:
    return NO_TRACKED_FILES if size > _MAX_BYTES else parse_git_index(read_bytes(descriptor, 0, size))


class _PagedIndex:
    """Lookups in pages and, once a page is not as expected, in the whole index."""

    def __init__(self, pages: IndexPages, size: int) -> None:
        self._pages = pages
        self._size = size
        self._whole: TrackedFiles | None = None

    def first_from(self, path: bytes) -> bytes | None:
        if self._whole is None:
            try:
                return self._pages.first_from(path)
            except (UnreadableIndex, OSError):
                self._whole = self._parse()
        return self._whole.first_from(path)

    def _parse(self) -> TrackedFiles:
        try:
            return _parse_whole(self._pages.descriptor, self._size)
        except OSError:
            return NO_TRACKED_FILES


def parse_git_index(content: bytes) -> TrackedFiles:
    """Parse an index of version 2, 3 or 4; `NO_TRACKED_FILES` for anything else."""
    version = int.from_bytes(content[4:8], "big")
    if content[:4] != b"DIRC" or version not in (2, 3, 4):
        return NO_TRACKED_FILES
    count = int.from_bytes(content[8:12], "big")
    # Nothing in the index says how long its object names are: only the right length leads exactly to the end.
    for object_name_size in _OBJECT_NAME_SIZES:
        read = _read_compressed if version == 4 else _read_padded
        try:
            paths, end = read(content, count, _STAT_BYTES + object_name_size)
        except (IndexError, ValueError):
            continue
        if b"" in paths or paths != sorted(paths):
            continue
        if _has_only_optional_extensions(content, end, len(content) - object_name_size):
            return TrackedFiles(partial(_first_from, paths))
    return NO_TRACKED_FILES


def _first_from(paths: list[bytes], path: bytes) -> bytes | None:
    position = bisect_left(paths, path)
    return paths[position] if position < len(paths) else None


def _read_padded(content: bytes, count: int, flags_offset: int) -> tuple[list[bytes], int]:
    paths: list[bytes] = []
    entry = 12
    for _ in range(count):
        flags = entry + flags_offset
        high = content[flags]
        name = flags + (4 if high & _HAS_EXTENDED_FLAGS else 2)
        length = (high << 8 | content[flags + 1]) & _LONG_NAME
        end = name + length if length < _LONG_NAME else content.index(b"\0", name)
        paths.append(content[name:end])
        # Each entry is filled up with one to eight zero bytes to a multiple of eight.
        entry += (end - entry + 8) & ~7
    return paths, entry


def _read_compressed(content: bytes, count: int, flags_offset: int) -> tuple[list[bytes], int]:
    paths: list[bytes] = []
    previous = b""
    entry = 12
    for _ in range(count):
        flags = entry + flags_offset
        position = flags + (4 if content[flags] & _HAS_EXTENDED_FLAGS else 2)
        byte = content[position]
        dropped = byte & 0x7F
        while byte & 0x80:
            position += 1
            byte = content[position]
            dropped = (dropped + 1) << 7 | byte & 0x7F
        if dropped > len(previous):
            raise ValueError("more is taken from the previous name than it has")
        end = content.index(b"\0", position + 1)
        previous = previous[: len(previous) - dropped] + content[position + 1 : end]
        paths.append(previous)
        entry = end + 1
    return paths, entry


def _has_only_optional_extensions(content: bytes, start: int, end: int) -> bool:
    """Whether optional extensions fill the rest; required ones (such as a split index) begin in lower case."""
    position = start
    while position + 8 <= end:
        if not content[position : position + 1].isupper():
            return False
        position += 8 + int.from_bytes(content[position + 4 : position + 8], "big")
    return position == end
