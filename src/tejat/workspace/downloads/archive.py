"""Archives of others, `.tar.gz` and `.zip`, unpacked into a new directory with limits."""

import os
import posixpath
import stat
import tarfile
import tempfile
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import IO, BinaryIO, cast

from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.workspace.downloads.failure import DownloadFailure
from tejat.workspace.downloads.limits import MAX_BYTES, MAX_ENTRIES, MAX_PACKED_BYTES
from tejat.workspace.downloads.tree import (
    check_link,
    check_mode,
    check_tree,
    file_mode,
    make_directory,
    refused,
    too_large,
    too_many_entries,
    write_all,
)
from tejat.workspace.files.private_files import create_private_file
from tejat.workspace.files.regular_file import regular_file_opener

_BLOCK = 1024 * 1024
# A header that is read at once; file names and their attributes are far smaller.
_MAX_HEADER = 1024 * 1024
_TAR_OVERHEAD = MAX_ENTRIES * 2048
_MAX_LINK = 4096
_END_RECORD = b"PK\x05\x06"
_END_RECORD_SIZE = 22
_ZIP64_LOCATOR = b"PK\x06\x07"
_ZIP64_LOCATOR_SIZE = 20
_MAX_COMMENT = 65_535
_MAX_DIRECTORY_BYTES = 32 * 1024 * 1024


class _Entry(Frozen):
    """An entry of an archive. `mode` has the type of the file; `link` is the target of a symbolic link."""

    name: str
    mode: int
    size: int
    link: str
    opener: Callable[[], IO[bytes] | None]


def unpack_archive(path: str, destination: str, *, stop: Callable[[], None]) -> None:
    """Unpack an archive into a directory that does not exist yet. `stop` is called now and then.

    Nothing is written outside of it. Absolute names, `..`, links that lead out, devices, pipes, set-id bits, and names
    that are there twice or differ only in case are refused with the name. Raises DownloadFailure and OSError.
    """
    label = os.path.basename(path)
    if os.path.getsize(path) > MAX_PACKED_BYTES:
        limit = MAX_PACKED_BYTES // (1024 * 1024)
        raise DownloadFailure(lazy("{name} is larger than {limit} MiB.", name=label, limit=limit))
    make_directory(destination)
    try:
        with _zip_entries(path, label) if label.endswith(".zip") else _tar_entries(path, label, stop) as entries:
            _Unpacker(destination, label, stop).unpack(entries)
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError) as error:
        raise DownloadFailure(lazy("{name} is damaged: {error}", name=label, error=error)) from error
    check_tree(destination, stop=stop)


class _Unpacker:
    """Writes entries below a directory of its own."""

    def __init__(self, destination: str, label: str, stop: Callable[[], None]) -> None:
        self._destination = destination
        self._label = label
        self._stop = stop
        self._seen: dict[str, str] = {}
        self._leaves: set[str] = set()
        self._size = 0

    def unpack(self, entries: Iterator[_Entry]) -> None:
        for count, entry in enumerate(entries, 1):
            self._stop()
            if count > MAX_ENTRIES:
                raise too_many_entries(self._label)
            name = _checked_name(entry.name)
            if not name:
                continue
            self._write(name, entry)

    def _write(self, name: str, entry: _Entry) -> None:
        is_directory = stat.S_ISDIR(entry.mode)
        self._make_parents(name)
        if is_directory:
            self._make_directory(name)
            return
        self._claim(name)
        if name in self._leaves or os.path.lexists(self._path(name)):
            raise refused(name, lazy("it is in the archive twice"))
        self._leaves.add(name)
        if stat.S_ISLNK(entry.mode):
            check_link(name, entry.link)
            os.symlink(entry.link, self._path(name))
            return
        check_mode(name, entry.mode)
        self._write_file(name, entry)

    def _make_parents(self, name: str) -> None:
        parts = name.split("/")[:-1]
        for depth in range(1, len(parts) + 1):
            self._make_directory("/".join(parts[:depth]))

    def _make_directory(self, name: str) -> None:
        if name in self._leaves:
            raise refused(name, lazy("it is both a directory and something else"))
        self._claim(name)
        if not os.path.isdir(self._path(name)):
            make_directory(self._path(name))

    def _claim(self, name: str) -> None:
        """Refuse a name that some file systems take for another one."""
        folded = unicodedata.normalize("NFC", name).casefold()
        other = self._seen.setdefault(folded, name)
        if other != name:
            raise refused(name, lazy('its name differs from "{other}" only in case', other=other))
        if len(self._seen) > MAX_ENTRIES:
            raise too_many_entries(self._label)

    def _write_file(self, name: str, entry: _Entry) -> None:
        if self._size + entry.size > MAX_BYTES:
            raise too_large(self._label, MAX_BYTES)
        source = entry.opener()
        with open(create_private_file(self._path(name)), "wb", buffering=0) as created:
            while source is not None and (block := source.read(_BLOCK)):
                self._stop()
                self._size += len(block)
                if self._size > MAX_BYTES:  # the size that an archive claims may be wrong
                    raise too_large(self._label, MAX_BYTES)
                write_all(created.fileno(), block)
            os.fchmod(created.fileno(), file_mode(entry.mode))

    def _path(self, name: str) -> str:
        return os.path.join(self._destination, name)


def _checked_name(name: str) -> str:
    """The name as a relative path, "" for the top itself. Raises DownloadFailure."""
    written = name.replace("\\", "/")
    if written.startswith("/") or (len(written) > 1 and written[1] == ":"):
        raise refused(name, lazy("it has an absolute name"))
    if ".." in written.split("/"):
        raise refused(name, lazy("its name leads out of the package"))
    if "\\" in name or "\0" in name:
        raise refused(name, lazy("its name is not portable"))
    clean = posixpath.normpath(name)
    return "" if clean == "." else clean


@contextmanager
def _tar_entries(path: str, label: str, stop: Callable[[], None]) -> Generator[Iterator[_Entry]]:
    """The entries of a compressed tar file, which is decompressed to a nameless file first."""
    with tempfile.TemporaryFile(dir=os.path.dirname(path)) as plain:
        _decompress(path, plain, label, stop)
        plain.seek(0)
        with tarfile.open(fileobj=cast("IO[bytes]", _SmallReads(plain)), mode="r:") as archive:
            yield (_tar_entry(archive, member) for member in archive)


def _decompress(path: str, plain: BinaryIO, label: str, stop: Callable[[], None]) -> None:
    size = 0
    decoder = zlib.decompressobj(wbits=31)
    with open(path, "rb", opener=regular_file_opener) as packed:
        while block := packed.read(_BLOCK):
            while block:
                stop()
                data = decoder.decompress(block, _BLOCK)
                size += len(data)
                if size > MAX_BYTES + _TAR_OVERHEAD:
                    raise too_large(label, MAX_BYTES)
                plain.write(data)
                block = decoder.unconsumed_tail
                if decoder.eof:
                    # Some programs write several streams one after the other.
                    block, decoder = decoder.unused_data, zlib.decompressobj(wbits=31)
                    if not block.strip(b"\0"):
                        return
    if not decoder.eof:
        raise EOFError(lazy("it ends too early"))


class _SmallReads:
    """A file of which only small pieces are read at once: `tarfile` reads whole headers, whatever size they claim."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.seek = file.seek
        self.tell = file.tell

    def read(self, size: int = -1) -> bytes:
        if size < 0 or size > _MAX_HEADER:
            raise ValueError(lazy("a header is too long"))
        return self._file.read(size)


def _tar_entry(archive: tarfile.TarFile, member: tarfile.TarInfo) -> _Entry:
    name = member.name
    if member.islnk():
        return _Entry(name, stat.S_IFREG | member.mode & 0o7777, 0, "", lambda: _open_hard_link(archive, member))
    if member.isdir():
        kind = stat.S_IFDIR
    elif member.issym():
        kind = stat.S_IFLNK
    else:
        kind = stat.S_IFREG if member.isreg() else stat.S_IFIFO
    link = member.linkname if member.issym() else ""
    return _Entry(name, kind | member.mode & 0o7777, member.size, link, lambda: archive.extractfile(member))


def _open_hard_link(archive: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes] | None:
    """The content of the entry that a hard link names, which becomes a file of its own. Raises DownloadFailure."""
    try:
        return archive.extractfile(member)
    except KeyError:
        reason = lazy("it is a link to {target}, outside of the package", target=member.linkname)
        raise refused(member.name, reason) from None


@contextmanager
def _zip_entries(path: str, label: str) -> Generator[Iterator[_Entry]]:
    with open(path, "rb", opener=regular_file_opener) as file:
        _check_zip_directory(file, label)
        with zipfile.ZipFile(file) as archive:
            yield (_zip_entry(archive, info) for info in archive.infolist())


def _check_zip_directory(file: BinaryIO, label: str) -> None:
    """Refuse a list of entries that is too long to be read, before `zipfile` reads it. Raises DownloadFailure."""
    file.seek(0, os.SEEK_END)
    end = file.tell()
    start = max(0, end - _END_RECORD_SIZE - _MAX_COMMENT - _ZIP64_LOCATOR_SIZE)
    file.seek(start)
    tail = file.read()
    at = tail.rfind(_END_RECORD)
    if at >= 0 and len(tail) - at >= _END_RECORD_SIZE:
        size = int.from_bytes(tail[at + 12 : at + 16], "little")
        is_zip64 = tail[max(0, at - _ZIP64_LOCATOR_SIZE) : at].startswith(_ZIP64_LOCATOR)
        if is_zip64 or size > _MAX_DIRECTORY_BYTES:
            raise too_many_entries(label)
    file.seek(0)


def _zip_entry(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> _Entry:
    name = info.orig_filename
    if info.header_offset < 0:
        raise zipfile.BadZipFile(lazy("its list of entries is wrong"))
    if info.flag_bits & 0x1:
        raise refused(name, lazy("it is encrypted"))
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise refused(name, lazy("its compression is not supported"))
    mode = info.external_attr >> 16
    if not stat.S_IFMT(mode):
        mode |= stat.S_IFDIR if name.endswith("/") else stat.S_IFREG
    link = ""
    if stat.S_ISLNK(mode):
        if info.file_size > _MAX_LINK:
            raise refused(name, lazy("it is a link with a target that is too long"))
        link = os.fsdecode(archive.read(info))
    return _Entry(name, mode, info.file_size, link, lambda: archive.open(info))
