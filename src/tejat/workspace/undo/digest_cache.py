"""Cache of file digests, so that unchanged files are not read again."""

import os
import struct
import zlib
from collections.abc import Container, Iterable, Iterator, Mapping, Set
from itertools import islice
from typing import NamedTuple

from tejat.workspace.undo.content_store import DIGEST_SIZE, sha256_digest
from tejat.workspace.undo.private_directory import PrivateDirectory, append_bytes
from tejat.workspace.undo.tree_state import FILE_KEY_SIZE, file_key_times

_BLOCK = struct.Struct("<4sIII")  # mark, number of files, bytes of their names, checksum; names and values follow
_MARK = b"tjd1"
_VALUE = FILE_KEY_SIZE + DIGEST_SIZE
_TOMBSTONE = bytes(_VALUE)
_SPARE_RECORDS = 4096
_BLOCK_RECORDS = 4096
# A file may change twice within one tick of its clock and look the same. Ticks are of at most 10 ms, or of two seconds
# where times have no fractions.
_TICK = 20_000_000
_SLOW_TICK = 2_100_000_000
_SECOND = 1_000_000_000


class DigestCache:
    """For each path of one root, the key that its file had, followed by the digest of its content.

    `load` and `save` require the directory's lock and raise OSError. Several processes may append to the file: every
    record is a fact about a key, so a stale one is merely useless.
    """

    def __init__(self, directory: PrivateDirectory, root: str) -> None:
        self._directory = directory
        self._name = f"digests-{sha256_digest(os.fsencode(root)).hex()[:24]}"
        self._values: dict[str, bytes] = {}
        self._uncertain: set[str] = set()
        self._lost: set[str] = set()
        self._unsaved: dict[str, bytes] = {}
        self._records = 0
        self._loaded = False
        self._must_rewrite = False

    def lookup(self, files: Mapping[str, bytes]) -> tuple[dict[str, bytes], list[str]]:
        """Return for each file its key with the digest, or the key alone if its content is unknown or uncertain.

        The second result lists the latter paths.
        """
        found: dict[str, bytes] = {}
        unknown: list[str] = []
        values, doubtful = self._values, self._uncertain
        for path, key in files.items():
            value = values.get(path)
            if value is not None and value.startswith(key) and path not in doubtful:
                found[path] = value
            else:
                found[path] = key
                unknown.append(path)
        return found, unknown

    def unknown(self, files: Mapping[str, bytes]) -> list[str]:
        """Return the files whose content is unknown. Uncertain ones count as known. Safe for threads."""
        find = self._values.get
        return [path for path, key in files.items() if not find(path, b"").startswith(key)]

    def is_uncertain(self, paths: Iterable[str]) -> bool:
        """Whether one of the files may have changed without a visible change of its key."""
        return bool(self._uncertain) and not self._uncertain.isdisjoint(paths)

    def value_of(self, path: str, key: bytes) -> bytes:
        """Return the key with the digest of the content that was read last, or alone if none was."""
        value = self._values.get(path)
        return value if value is not None and value.startswith(key) else key

    def uncertain_paths(self) -> Set[str]:
        """Return the files that may have changed without a visible change of their key."""
        return self._uncertain

    def take_lost(self) -> set[str]:
        """Return the files whose contents were found to be no longer stored, once."""
        lost, self._lost = self._lost, set()
        return lost

    def add(self, path: str, key: bytes, digest: bytes, *, read_at: int) -> bytes:
        """Add a digest; `read_at` is when reading began, in nanoseconds since the epoch. Returns the value."""
        value = self._values[path] = key + digest
        if _may_change_unnoticed(key, read_at):
            self._uncertain.add(path)
        else:
            self._uncertain.discard(path)
            self._unsaved[path] = value
        return value

    def discard(self, paths: Iterable[str]) -> None:
        for path in paths:
            if self._values.pop(path, None) is not None:
                self._uncertain.discard(path)
                self._unsaved[path] = _TOMBSTONE

    def retain(self, kept: Container[bytes]) -> None:
        """Discard entries whose content is no longer stored."""
        lost = [path for path, value in self._values.items() if value[FILE_KEY_SIZE:] not in kept]
        self._lost.update(lost)
        self.discard(lost)

    def digests(self) -> set[bytes]:
        """Return all cached digests."""
        return {value[FILE_KEY_SIZE:] for value in self._values.values()}

    def load(self) -> None:
        """Load the saved entries, once. A damaged block and all after it are ignored, and dropped by `save`."""
        if self._loaded:
            return
        self._loaded = True
        try:
            content = self._directory.read(self._name)
        except FileNotFoundError:
            return
        saved = _read_blocks(content)
        self._values = saved.values | self._values
        self._records = saved.records
        self._must_rewrite = saved.is_damaged

    def save(self) -> None:
        """Append new entries, without flushing: lost ones are computed again."""
        if not self._unsaved:
            return
        if self._must_rewrite or self._records + len(self._unsaved) > 2 * len(self._values) + _SPARE_RECORDS:
            lasting = {path: value for path, value in self._values.items() if path not in self._uncertain}
            with self._directory.replace_file(self._name) as descriptor:
                append_bytes(descriptor, *_pack_blocks(lasting))
            self._records = len(lasting)
            self._must_rewrite = False
        else:
            with self._directory.open(self._name, os.O_WRONLY | os.O_CREAT) as descriptor:
                append_bytes(descriptor, *_pack_blocks(self._unsaved))
            self._records += len(self._unsaved)
        self._unsaved = {}


def load_saved_digests(directory: PrivateDirectory) -> set[bytes]:
    """Return the digests that any process may need for its next entry, in any root. Raises OSError."""
    found: set[bytes] = set()
    for name in os.listdir(directory.path):
        if name.startswith("digests-"):
            found.update(value[FILE_KEY_SIZE:] for value in _read_blocks(directory.read(name)).values.values())
    return found


def _may_change_unnoticed(key: bytes, read_at: int) -> bool:
    modified, changed = file_key_times(key)
    latest = modified if modified > changed else changed
    return read_at - latest < (_TICK if latest % _SECOND else _SLOW_TICK)


def _pack_blocks(values: Mapping[str, bytes]) -> Iterator[bytes]:
    """Yield blocks that are read quickly: other threads wait meanwhile."""
    items = iter(values.items())
    while block := dict(islice(items, _BLOCK_RECORDS)):
        names = os.fsencode("\0".join(block))
        body = names + b"".join(block.values())
        yield _BLOCK.pack(_MARK, len(block), len(names), zlib.crc32(body)) + body


class _SavedBlocks(NamedTuple):
    values: dict[str, bytes]
    records: int
    is_damaged: bool


def _read_blocks(content: bytes) -> _SavedBlocks:
    """Read the blocks up to the first damaged one."""
    values: dict[str, bytes] = {}
    records = offset = 0
    while offset < len(content):
        block = _read_block(content, offset)
        if block is None:
            break
        names, start, offset = block
        values.update(zip(names, (content[at : at + _VALUE] for at in range(start, offset, _VALUE)), strict=True))
        records += len(names)
    if _TOMBSTONE in values.values():
        values = {path: value for path, value in values.items() if value != _TOMBSTONE}
    return _SavedBlocks(values, records, is_damaged=offset < len(content))


def _read_block(content: bytes, offset: int) -> tuple[list[str], int, int] | None:
    """Return the names of a block and where its values start and end, None if it is damaged."""
    if offset + _BLOCK.size > len(content):
        return None
    mark, count, length, checksum = _BLOCK.unpack_from(content, offset)
    start = offset + _BLOCK.size
    middle = start + length
    end = middle + count * _VALUE
    if mark != _MARK or end > len(content) or zlib.crc32(memoryview(content)[start:end]) != checksum:
        return None
    names = os.fsdecode(content[start:middle]).split("\0") if length else []
    return (names, middle, end) if len(names) == count else None
