"""File contents by SHA-256, each stored once, in a few append-only pack files."""

import hashlib
import os
import re
import struct
from collections.abc import Callable, Collection, Container, Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from itertools import chain
from typing import NamedTuple

from tejat.workspace.files.regular_file import read_bytes
from tejat.workspace.undo.private_directory import PrivateDirectory, append_bytes

DIGEST_SIZE = 32

_INDEX = "index"
_PACK_NAME = re.compile(r"pack-([0-9]{6})")
_PACK_BYTES = 64 << 20
_HEADER = struct.Struct("<4sQ32s")  # mark, length, digest; the content follows
_MAGIC = b"tjt1"
_LOCATION = struct.Struct("<IQQ")  # pack, offset of the content, length
_RECORD = struct.Struct("<32s20s")  # digest, location
_LOCATION_IN_RECORD = struct.Struct("<32xIQQ")
_RECORDS_AT_ONCE = 1 << 18  # bytes; they are unpacked without a chance for other threads
_SEARCH_BYTES = 1 << 20


class _PackLocation(NamedTuple):
    pack: int
    offset: int
    length: int


class ContentStore:
    """All methods that modify or look up require the directory's lock; `read` does not.

    Raises OSError. After a crash, partial records are cut off or recovered from the packs, which hold everything; the
    index is a cache.
    """

    def __init__(self, directory: PrivateDirectory) -> None:
        self._directory = directory
        # As bytes: a hundred thousand of them load quickly, and the garbage collector skips them.
        self._locations: dict[bytes, bytes] = {}
        self._index_file = (0, 0)
        self._index_size = 0
        self._ends: dict[int, int] = {}
        self._unflushed: set[int] = set()
        self.generation = 0
        """A new number says that contents may have been dropped."""

    def __contains__(self, digest: bytes) -> bool:
        return digest in self._locations

    @property
    def digests(self) -> Container[bytes]:
        """The digests of all stored contents."""
        return self._locations.keys()

    def stored_size(self, digest: bytes) -> int:
        """Return the bytes that the content takes; 0 if it is not stored."""
        location = self._locate(digest)
        return 0 if location is None else _HEADER.size + location.length

    def is_current(self) -> bool:
        """Whether no other process has changed the store since `refresh`. Needs no lock."""
        try:
            status = os.stat(self._directory.file_path(_INDEX))
        except FileNotFoundError:
            return not self._locations
        return (status.st_dev, status.st_ino) == self._index_file and status.st_size == self._index_size

    def refresh(self) -> None:
        """Load the changes of other processes."""
        try:
            with self._directory.open(_INDEX, os.O_RDWR) as descriptor:
                status = os.fstat(descriptor)
                if (status.st_dev, status.st_ino) != self._index_file or status.st_size < self._index_size:
                    self._reset()
                    self._index_file = (status.st_dev, status.st_ino)
                whole = status.st_size - status.st_size % _RECORD.size
                if whole != status.st_size:
                    os.ftruncate(descriptor, whole)
                self._read_index(descriptor, whole)
        except FileNotFoundError:
            self._reset()
        self._reconcile_packs()

    def add(self, contents: Mapping[bytes, bytes]) -> None:
        """Store contents by digest; those already stored cost nothing."""
        new = {digest: content for digest, content in contents.items() if digest not in self._locations}
        if not new:
            return
        pack = max(self._ends, default=1)
        if self._ends.get(pack, 0) >= _PACK_BYTES:
            pack += 1
        pieces: list[bytes] = []
        locations: dict[bytes, bytes] = {}
        with self._directory.open(_pack_name(pack), os.O_RDWR | os.O_CREAT) as descriptor:
            offset = os.lseek(descriptor, 0, os.SEEK_END)
            for digest, content in new.items():
                pieces += (_HEADER.pack(_MAGIC, len(content), digest), content)
                locations[digest] = _LOCATION.pack(pack, offset + _HEADER.size, len(content))
                offset += _HEADER.size + len(content)
            # One write for many small contents, no copy of a large one.
            append_bytes(descriptor, *(pieces if len(new) == 1 else (b"".join(pieces),)))
        self._unflushed.add(pack)
        self._ends[pack] = offset
        self._locations |= locations
        self._append_to_index(locations)

    def read(self, digest: bytes) -> bytes | None:
        """Return the content, None if it is missing or corrupt."""
        with self.open_reader() as read:
            return read(digest)

    @contextmanager
    def open_reader(self) -> Generator[Callable[[bytes], bytes | None]]:
        """Like `read`, for many contents: a pack stays open until another one is needed."""
        with ExitStack() as opened:
            current: tuple[int, int] | None = None

            def read(digest: bytes) -> bytes | None:
                nonlocal current
                location = self._locate(digest)
                if location is None:
                    return None
                if current is None or current[0] != location.pack:
                    opened.close()
                    current = None
                    try:
                        pack = opened.enter_context(self._directory.open(_pack_name(location.pack), os.O_RDONLY))
                    except FileNotFoundError:
                        return None
                    current = location.pack, pack
                content = read_bytes(current[1], location.offset, location.length)
                return content if sha256_digest(content) == digest else None

            yield read

    def flush(self) -> None:
        """Make everything added so far durable."""
        if not self._unflushed:
            return
        for pack in self._unflushed:
            with suppress(FileNotFoundError), self._directory.open(_pack_name(pack), os.O_RDONLY) as descriptor:
                os.fsync(descriptor)
        self._unflushed.clear()
        self._directory.flush()

    def compact(self, needed: Collection[bytes], stop: Callable[[], None], *, goal: int) -> None:
        """Free the space of unneeded contents until `goal` bytes are free or nothing is left to free.

        Needed contents are copied before anything is removed.
        """
        by_pack: dict[int, dict[bytes, _PackLocation]] = {pack: {} for pack in self._ends}
        spare = self._ends.copy()
        for digest in needed:
            location = self._locate(digest)
            if location is not None:
                by_pack[location.pack][digest] = location
                spare[location.pack] -= _HEADER.size + location.length
        locations: dict[bytes, bytes] = {}
        emptied: list[int] = []
        fresh = max(self._ends, default=0)
        for pack in sorted(spare, key=spare.__getitem__, reverse=True):
            stop()
            kept = by_pack[pack]
            if spare[pack] == 0 or (goal <= 0 and kept):
                locations |= {digest: self._locations[digest] for digest in kept}
                continue
            emptied.append(pack)
            goal -= spare[pack]
            if kept:
                fresh += 1
                locations |= self._copy(pack, kept, fresh)
        self._replace_index(locations)
        for pack in emptied:
            os.unlink(self._directory.file_path(_pack_name(pack)))
            self._unflushed.discard(pack)
        self._reset()
        self.refresh()

    def _locate(self, digest: bytes) -> _PackLocation | None:
        packed = self._locations.get(digest)
        return None if packed is None else _PackLocation._make(_LOCATION.unpack(packed))

    def _copy(self, source: int, kept: Mapping[bytes, _PackLocation], target: int) -> dict[bytes, bytes]:
        """Copy contents into a new pack and return their locations."""
        locations: dict[bytes, bytes] = {}
        offset = 0
        with (
            self._directory.open(_pack_name(source), os.O_RDONLY) as old,
            self._directory.replace_file(_pack_name(target)) as new,
        ):
            for digest, location in sorted(kept.items(), key=lambda item: item[1].offset):
                size = _HEADER.size + location.length
                append_bytes(new, read_bytes(old, location.offset - _HEADER.size, size))
                locations[digest] = _LOCATION.pack(target, offset + _HEADER.size, location.length)
                offset += size
        return locations

    def _replace_index(self, locations: Mapping[bytes, bytes]) -> None:
        with self._directory.replace_file(_INDEX) as descriptor:
            append_bytes(descriptor, _records(locations))

    def _append_to_index(self, locations: Mapping[bytes, bytes]) -> None:
        with self._directory.open(_INDEX, os.O_WRONLY | os.O_CREAT) as descriptor:
            append_bytes(descriptor, _records(locations))
            status = os.fstat(descriptor)
            self._index_file = (status.st_dev, status.st_ino)
            self._index_size = status.st_size

    def _reset(self) -> None:
        self.generation += 1
        self._locations = {}
        self._ends = {}
        self._index_size = 0
        self._index_file = (0, 0)

    def _read_index(self, descriptor: int, size: int) -> None:
        while self._index_size < size:
            count = min(size - self._index_size, _RECORDS_AT_ONCE - _RECORDS_AT_ONCE % _RECORD.size)
            records = read_bytes(descriptor, self._index_size, count)
            self._locations.update(_RECORD.iter_unpack(records))
            for pack, offset, length in _LOCATION_IN_RECORD.iter_unpack(records):
                if offset + length > self._ends.get(pack, 0):
                    self._ends[pack] = offset + length
            self._index_size += len(records)

    def _reconcile_packs(self) -> None:
        """Reconcile the index with the packs."""
        found = self._pack_sizes()
        for pack, size in found.items():
            if size > (end := self._ends.get(pack, 0)):
                self._recover_tail(pack, end)
        short = {pack for pack, end in self._ends.items() if found.get(pack, 0) < end}
        if short:
            self._drop_truncated(short, found)

    def _pack_sizes(self) -> dict[int, int]:
        sizes: dict[int, int] = {}
        with suppress(FileNotFoundError), os.scandir(self._directory.path) as entries:
            for entry in entries:
                if match := _PACK_NAME.fullmatch(entry.name):
                    sizes[int(match[1])] = entry.stat(follow_symlinks=False).st_size
        return sizes

    def _recover_tail(self, pack: int, offset: int) -> None:
        """Index records that were added to a pack only; damaged ones are passed over, a damaged end is cut off."""
        with self._directory.open(_pack_name(pack), os.O_RDWR) as descriptor:
            size = os.fstat(descriptor).st_size
            locations: dict[bytes, bytes] = {}
            end = offset
            for digest, location in _scan_records(descriptor, pack, offset, size):
                locations[digest] = _LOCATION.pack(*location)
                end = location.offset + location.length
            if end < size:
                os.ftruncate(descriptor, end)
        self._ends[pack] = end
        if locations:
            self._locations = locations | self._locations
            self._append_to_index(locations)

    def _drop_truncated(self, short: set[int], sizes: Mapping[int, int]) -> None:
        """Drop contents that a power cut removed from the end of a pack."""
        for digest, packed in list(self._locations.items()):
            location = _PackLocation._make(_LOCATION.unpack(packed))
            if location.pack in short and location.offset + location.length > sizes.get(location.pack, 0):
                del self._locations[digest]
        self._replace_index(self._locations)
        self._reset()
        self.refresh()


def sha256_digest(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


def _scan_records(descriptor: int, pack: int, offset: int, size: int) -> Iterator[tuple[bytes, _PackLocation]]:
    """Yield the records from this offset of a pack on. After damage the next one whose digest is right counts."""
    is_in_step = True
    while offset + _HEADER.size <= size:
        mark, length, digest = _HEADER.unpack(read_bytes(descriptor, offset, _HEADER.size))
        start = offset + _HEADER.size
        is_record = mark == _MAGIC and start + length <= size
        if is_record and (is_in_step or sha256_digest(read_bytes(descriptor, start, length)) == digest):
            yield digest, _PackLocation(pack, start, length)
            offset, is_in_step = start + length, True
        else:
            offset, is_in_step = _find_mark(descriptor, offset + 1, size), False


def _find_mark(descriptor: int, offset: int, size: int) -> int:
    """Return where the next record may begin, `size` if nowhere."""
    while offset < size:
        piece = read_bytes(descriptor, offset, _SEARCH_BYTES)
        if (found := piece.find(_MAGIC)) >= 0:
            return offset + found
        if len(piece) < _SEARCH_BYTES:
            break
        offset += len(piece) - len(_MAGIC) + 1
    return size


def _records(locations: Mapping[bytes, bytes]) -> bytes:
    return b"".join(chain.from_iterable(locations.items()))


def _pack_name(number: int) -> str:
    return f"pack-{number:06d}"
