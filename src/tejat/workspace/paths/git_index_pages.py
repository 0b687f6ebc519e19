"""Lookups in a large git index of version 2 or 3, of which only some pages are read.

Entries are sorted by path but differ in length, and no table says where they begin. Every entry begins at a multiple of
eight bytes and has a mode and a length of which few values are possible. So a place in the middle of the file leads to
the next entries: the first place at which several valid entries follow each other in order.
"""

import os
import weakref
from bisect import bisect_left
from threading import Lock

from tejat.core.frozen import Frozen

_PAGE = 64 * 1024
_PROBE_BYTES = 8 * 1024
"""Bytes read to find the first entry of a page; with longer names more are read."""
_CHAIN = 4
"""Valid entries in a row that are taken for entries."""
_HEADER = 12
_ALIGNMENT = 8
_MODE_OFFSET = 24
_MODES = frozenset(
    mode.to_bytes(4, "big") for mode in (0o100644, 0o100755, 0o120000, 0o160000, 0o040000, 0o100664, 0o100600)
)
_STAT_BYTES = 40
_LONG_NAME = 0x0FFF
_HAS_EXTENDED_FLAGS = 0x40
_MAX_PARSED_PAGES = 64
_EXTENSION_HEADER = 8


class UnreadableIndex(Exception):
    """Something in the index is not as expected."""


class _Entry(Frozen):
    offset: int
    path: bytes


class IndexPages:
    """The sorted paths of an index, read page by page."""

    def __init__(self, descriptor: int, size: int, object_name_size: int) -> None:
        """The descriptor is duplicated. Raises UnreadableIndex, and OSError."""
        self.descriptor = os.dup(descriptor)
        weakref.finalize(self, os.close, self.descriptor)
        self._flags_offset = _STAT_BYTES + object_name_size
        self._end = size - object_name_size
        self._lock = Lock()
        self._starts: dict[int, _Entry] = {}
        self._parsed: dict[int, list[bytes]] = {}
        if not self._is_entry_chain(os.pread(descriptor, _PAGE, _HEADER), 0):
            raise UnreadableIndex
        last, self._end = self._find_last(size - object_name_size)
        self._pages = (last - _HEADER) // _PAGE + 1

    def first_from(self, path: bytes) -> bytes | None:
        """Return the first path that is not less than this one, None if there is none.

        Raises UnreadableIndex, and OSError.
        """
        with self._lock:
            return self._find_first_from(path)

    def _find_first_from(self, path: bytes) -> bytes | None:
        low, high = 0, self._pages - 1
        while low < high:
            middle = (low + high + 1) // 2
            if self._start_of(middle).path <= path:
                low = middle
            else:
                high = middle - 1
        paths = self._paths_of(low)
        position = bisect_left(paths, path)
        if position < len(paths):
            return paths[position]
        return self._start_of(low + 1).path if low + 1 < self._pages else None

    def _find_last(self, limit: int) -> tuple[int, int]:
        """Return where the last entry begins and where it ends. Only optional extensions follow it."""
        low, high = 0, (limit - _HEADER - 1) // _PAGE
        while low < high:
            middle = (low + high + 1) // 2
            try:
                self._start_of(middle)
                low = middle
            except UnreadableIndex:
                high = middle - 1
        beginning = self._start_of(low).offset
        window = os.pread(self.descriptor, 4 * _PAGE, beginning)
        last = position = 0
        while (behind := self._entry_end(window, position)) is not None:
            last, position = position, behind
        if not self._has_only_optional_extensions(beginning + position, limit):
            raise UnreadableIndex
        return beginning + last, beginning + position

    def _has_only_optional_extensions(self, position: int, limit: int) -> bool:
        while position + _EXTENSION_HEADER <= limit:
            header = os.pread(self.descriptor, _EXTENSION_HEADER, position)
            if len(header) < _EXTENSION_HEADER or not header[:1].isupper():
                return False
            position += _EXTENSION_HEADER + int.from_bytes(header[4:], "big")
        return position == limit

    def _start_of(self, page: int) -> _Entry:
        """Return the first entry that begins in a page."""
        found = self._starts.get(page)
        if found is None:
            found = self._find_start(page, _PROBE_BYTES) or self._find_start(page, 4 * _PAGE)
            if found is None:
                raise UnreadableIndex
            self._starts[page] = found
        return found

    def _find_start(self, page: int, size: int) -> _Entry | None:
        beginning = _HEADER + page * _PAGE
        window = os.pread(self.descriptor, min(size, self._end - beginning), beginning)
        for position in range(0, min(len(window), _PAGE), _ALIGNMENT):
            if window[position + _MODE_OFFSET : position + _MODE_OFFSET + 4] in _MODES and self._is_entry_chain(
                window, position, reaches_end=beginning + len(window) == self._end
            ):
                return _Entry(beginning + position, self._path_at(window, position))
        return None

    def _is_entry_chain(self, window: bytes, position: int, *, reaches_end: bool = False) -> bool:
        previous = b""
        for _ in range(_CHAIN):
            if reaches_end and position == len(window):
                return bool(previous)
            end = self._entry_end(window, position)
            if end is None:
                return False
            path = self._path_at(window, position)
            if path < previous:
                return False
            previous, position = path, end
        return True

    def _paths_of(self, page: int) -> list[bytes]:
        paths = self._parsed.pop(page, None)
        if paths is None:
            paths = self._parse(page)
            while len(self._parsed) >= _MAX_PARSED_PAGES:
                del self._parsed[next(iter(self._parsed))]
        self._parsed[page] = paths  # the last one is dropped last
        return paths

    def _parse(self, page: int) -> list[bytes]:
        start = self._start_of(page).offset
        end = self._start_of(page + 1).offset if page + 1 < self._pages else self._end
        content = os.pread(self.descriptor, end - start, start)
        paths: list[bytes] = []
        position = 0
        while position < end - start:
            behind = self._entry_end(content, position)
            if behind is None:
                raise UnreadableIndex
            paths.append(self._path_at(content, position))
            position = behind
        if paths != sorted(paths):
            raise UnreadableIndex
        return paths

    def _entry_end(self, window: bytes, position: int) -> int | None:
        """Return where the entry at a position ends, None if there is no valid and complete one."""
        if window[position + _MODE_OFFSET : position + _MODE_OFFSET + 4] not in _MODES:
            return None
        flags = position + self._flags_offset
        if flags + 4 >= len(window):
            return None
        name = flags + (4 if window[flags] & _HAS_EXTENDED_FLAGS else 2)
        length = (window[flags] << 8 | window[flags + 1]) & _LONG_NAME
        name_end = window.find(b"\0", name)
        if name_end <= name or length != min(name_end - name, _LONG_NAME):
            return None
        end = position + ((name_end - position + _ALIGNMENT) & -_ALIGNMENT)
        return end if window[name_end:end] == bytes(end - name_end) else None

    def _path_at(self, window: bytes, position: int) -> bytes:
        flags = position + self._flags_offset
        name = flags + (4 if window[flags] & _HAS_EXTENDED_FLAGS else 2)
        return window[name : window.index(b"\0", name)]
