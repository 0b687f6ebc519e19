"""Trees of files of others: copied and checked without following links."""

import os
import shutil
import stat
from collections.abc import Callable, Iterator

from tejat.core.i18n import lazy
from tejat.core.text.paths import is_beneath
from tejat.workspace.downloads.failure import DownloadFailure
from tejat.workspace.downloads.limits import MAX_BYTES, MAX_ENTRIES
from tejat.workspace.files.private_files import create_private_file

GIT_DIRECTORY = ".git"
_BLOCK = 1024 * 1024
_DIRECTORY_MODE = 0o755


def copy_tree(source: str, destination: str, *, stop: Callable[[], None]) -> None:
    """Copy a directory to a new place, without its `.git`. `stop` is called now and then.

    Raises DownloadFailure for what `check_tree` refuses, and OSError.
    """
    check_tree(source, stop=stop)
    make_directory(destination)
    for relative, entry in walk_tree(source):
        stop()
        target = os.path.join(destination, relative)
        if entry.is_symlink():
            os.symlink(os.readlink(entry.path), target)
        elif entry.is_dir(follow_symlinks=False):
            make_directory(target)
        else:
            copy_file(entry.path, target, stop=stop)


def check_tree(directory: str, *, stop: Callable[[], None], max_bytes: int = MAX_BYTES) -> None:
    """Refuse devices, pipes, sockets, set-id bits, links that lead out, and trees that are too large.

    Raises DownloadFailure, which names the entry, and OSError.
    """
    size = 0
    top = os.path.realpath(directory)
    for count, (relative, entry) in enumerate(walk_tree(directory), 1):
        stop()
        if count > MAX_ENTRIES:
            raise too_many_entries(directory)
        status = entry.stat(follow_symlinks=False)
        if stat.S_ISLNK(status.st_mode):
            check_link(relative, os.readlink(entry.path))
            # A link may lead out by way of another one.
            if not is_beneath(os.path.realpath(entry.path), top):
                raise refused(relative, lazy("it is a link that leads out of the package"))
        elif not stat.S_ISDIR(status.st_mode):
            check_mode(relative, status.st_mode)
            size += status.st_size
        if size > max_bytes:
            raise too_large(directory, max_bytes)


def walk_tree(directory: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """All entries below a directory with their relative paths, parents first, except a `.git` at its top.

    Links are not followed. Raises OSError.
    """
    waiting = [""]
    while waiting:
        parent = waiting.pop()
        with os.scandir(os.path.join(directory, parent)) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
        for entry in found:
            relative = os.path.join(parent, entry.name)
            if relative == GIT_DIRECTORY:
                continue
            yield relative, entry
            if entry.is_dir(follow_symlinks=False):
                waiting.append(relative)


def check_mode(name: str, mode: int) -> None:
    """Refuse anything but a regular file without set-id bits. Raises DownloadFailure."""
    if not stat.S_ISREG(mode):
        raise refused(name, lazy("it is a device, pipe or socket"))
    if mode & (stat.S_ISUID | stat.S_ISGID):
        raise refused(name, lazy("it has a set-user-ID or set-group-ID bit"))


def check_link(name: str, target: str) -> None:
    """Refuse a link that leads out of the tree. Raises DownloadFailure."""
    top = "/top"
    leads_to = os.path.normpath(os.path.join(top, os.path.dirname(name), target))
    if os.path.isabs(target) or not target or not is_beneath(leads_to, top):
        raise refused(name, lazy("it is a link to {target}, outside of the package", target=target))


def content_directory(directory: str, marker: str) -> str:
    """The directory that holds the file `marker`: this one, or the only one in it."""
    if not os.path.lexists(os.path.join(directory, marker)):
        with os.scandir(directory) as entries:
            inner = [entry for entry in entries if entry.name != GIT_DIRECTORY]
        if len(inner) == 1 and inner[0].is_dir(follow_symlinks=False):
            only = inner[0].path
            return only if os.path.lexists(os.path.join(only, marker)) else directory
    return directory


def make_directory(path: str) -> None:
    """Create a directory with mode 0755, whatever the umask. Raises OSError."""
    os.mkdir(path, 0o700)
    os.chmod(path, _DIRECTORY_MODE)


def copy_file(source: str, target: str, *, stop: Callable[[], None]) -> None:
    """Copy a regular file to a new one, with its executable bit and its times. Raises OSError."""
    reader = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(reader, "rb", buffering=0) as opened:
        status = os.fstat(opened.fileno())
        check_mode(source, status.st_mode)
        with open(create_private_file(target), "wb", buffering=0) as created:
            while block := opened.read(_BLOCK):
                stop()
                write_all(created.fileno(), block)
            os.fchmod(created.fileno(), file_mode(status.st_mode))
            os.utime(created.fileno(), ns=(status.st_atime_ns, status.st_mtime_ns))


def file_mode(mode: int) -> int:
    """The mode of a file in a package: only the executable bit is kept."""
    return 0o755 if mode & stat.S_IXUSR else 0o644


def write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def remove_tree(path: str) -> None:
    """Remove a directory with everything in it, also what its owner made read-only. Raises OSError."""

    def make_writable(_function: object, failed: str, _error: object) -> None:
        parent = os.path.dirname(failed)
        os.chmod(parent, 0o700)
        if os.path.isdir(failed) and not os.path.islink(failed):
            os.chmod(failed, 0o700)
            shutil.rmtree(failed)
        elif os.path.lexists(failed):
            os.unlink(failed)

    if os.path.islink(path) or not os.path.isdir(path):
        os.unlink(path)
        return
    shutil.rmtree(path, onerror=make_writable)


def refused(name: str, reason: str) -> DownloadFailure:
    return DownloadFailure(lazy('Refused: "{name}" in the package: {reason}.', name=name, reason=reason))


def too_large(name: str, limit: int) -> DownloadFailure:
    message = lazy("{name} is larger than {limit:,} MiB when unpacked.", name=name, limit=limit // (1024 * 1024))
    return DownloadFailure(message)


def too_many_entries(name: str) -> DownloadFailure:
    return DownloadFailure(lazy("{name} has more than {limit:,} entries.", name=name, limit=MAX_ENTRIES))
