"""Reading of files that are in memory already, without ever waiting for a disk or a network."""

import os

from tejat.core.text.str_enum import StrEnum
from tejat.workspace.files.system_calls import file_system_type, openat2_once

# RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV | RESOLVE_CACHED. Only the last forbids to look on the disk;
# but a file of another mount might be on a network, and opening it would ask a server.
_RESOLVE_CACHED = 0x08 | 0x02 | 0x01 | 0x20
_NO_WAIT: int = getattr(os, "RWF_NOWAIT", 0)

_DISKS = {
    # ext, xfs, btrfs, f2fs, zfs, bcachefs
    *(0xEF53, 0x58465342, 0x9123683E, 0xF2F52010, 0x2FC12FC1, 0xCA451A4E),
}
_MEMORIES = {0x01021994, 0x858458F6}  # tmpfs, ramfs


class Storage(StrEnum):
    """Where a file system keeps its files."""

    DISK = "disk"
    """On a disk of this machine: opening a file in the kernel's caches does not block, and reading need not."""
    MEMORY = "memory"
    ELSEWHERE = "elsewhere"
    """On a network, in another process, or nobody knows where."""


def find_storage(fd: int) -> Storage:
    """Where the file system of an open file or directory keeps its files."""
    try:
        kind = file_system_type(fd)
    except OSError:
        return Storage.ELSEWHERE
    if kind in _MEMORIES:
        return Storage.MEMORY
    return Storage.DISK if kind in _DISKS and _NO_WAIT else Storage.ELSEWHERE


def open_cached(directory: int, relative: str, flags: int) -> int | None:
    """Open a path beneath `directory` if the kernel has all of it in its caches; None otherwise.

    The caller knows that the directory's file system is on this machine, and passes O_NONBLOCK.
    """
    return openat2_once(directory, relative, flags, _RESOLVE_CACHED)


def read_cached(fd: int, size: int, storage: Storage) -> bytes | None:
    """Read a regular file of `size` bytes if all of it is in memory; None otherwise. Raises OSError."""
    buffer = bytearray(size + 1)  # one more reveals that it has grown
    try:
        count = os.preadv(fd, [buffer], 0, 0 if storage is Storage.MEMORY else _NO_WAIT)
    except BlockingIOError:
        return None
    return bytes(buffer[:count]) if count == size else None
