"""Directory walks: all files beneath a directory."""

import os
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing, suppress
from itertools import chain, islice

from tejat.core.frozen import Frozen
from tejat.workspace.helper_program import run_helper

EXCLUDED_DIRECTORIES = frozenset({b"node_modules", b".git", b"bower_components", b".svn", b".hg"})
"""Directories that searches skip at any depth."""

_PLAIN_NAME = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
_ENTRIES_BETWEEN_STOPS = 4096
# Files found, none found, some unreadable.
_RIPGREP_EXIT_CODES = (0, 1, 2)
_DIRECTORY_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class FileListing(Frozen):
    """Files beneath a directory, unordered, relative to it."""

    paths: list[bytes]
    is_complete: bool
    """False if there were more files than the limit."""
    errors: int
    """Number of unreadable directories."""


def list_files(
    directory_fd: int,
    *,
    exclude_directories: frozenset[bytes],
    limit: int,
    stop: Callable[[], None],
    ripgrep: str | None,
) -> FileListing:
    """List all regular files beneath a directory, including hidden ones.

    Symbolic links are neither followed nor listed. Directories whose base name is in `exclude_directories` are skipped.
    `ripgrep` is the path of rg; without it, or if it fails, the list is made more slowly. Exceptions of `stop`
    propagate.
    """
    for program in (ripgrep, None) if ripgrep is not None else (None,):
        stream = FileStream(
            directory_fd, exclude_directories=exclude_directories, limit=limit, stop=stop, ripgrep=program
        )
        with suppress(RipgrepFailure):
            paths = list(chain.from_iterable(stream))
            return FileListing(paths, stream.is_complete, stream.errors)
    return FileListing([], is_complete=True, errors=1)


class RipgrepFailure(Exception):
    """Ripgrep could not list the files. Without it they can be listed."""


class FileStream:
    """The files of `list_files` in batches, as they are found. Iterate over it once.

    Raises RipgrepFailure if ripgrep fails, possibly after some batches, and what `stop` raises.
    """

    def __init__(
        self,
        directory_fd: int,
        *,
        exclude_directories: frozenset[bytes],
        limit: int,
        stop: Callable[[], None],
        ripgrep: str | None,
    ) -> None:
        self.is_complete = True
        """False if there were more files than the limit."""
        self.errors = 0
        """Number of unreadable directories so far."""
        self.count = 0
        """Number of files so far."""
        self._directory_fd = directory_fd
        self._exclude_directories = exclude_directories
        self._limit = limit
        self._stop = stop
        is_usable = all(_PLAIN_NAME.issuperset(name) for name in exclude_directories)
        self._ripgrep = ripgrep if is_usable else None

    def __iter__(self) -> Iterator[list[bytes]]:
        batches = self._scan() if self._ripgrep is None else self._run(self._ripgrep)
        with closing(batches):
            for paths in batches:
                left = self._limit - self.count
                self.count += min(len(paths), left)
                if len(paths) > left:
                    self.is_complete = False
                    yield paths[:left]
                    return
                yield paths

    def _scan(self) -> Generator[list[bytes]]:
        for files, failed in _scan_all(self._directory_fd, self._exclude_directories, self._stop):
            self.errors += failed
            yield files

    def _run(self, ripgrep: str) -> Generator[list[bytes]]:
        rest = b""
        with ExitStack() as stack:
            try:
                argv = _ripgrep_argv(ripgrep, self._exclude_directories)
                child = stack.enter_context(run_helper(argv, directory_fd=self._directory_fd))
            except OSError as error:
                raise RipgrepFailure from error
            while block := child.read(self._stop):
                *paths, rest = (rest + block).split(b"\0")
                yield paths
            code = child.exit_code(self._stop)
            # Files that vanished meanwhile do not count.
            self.errors = child.error_lines - child.stderr.count(b"(os error 2)\n")
        if code not in (_RIPGREP_EXIT_CODES if self.count else _RIPGREP_EXIT_CODES[:2]):
            raise RipgrepFailure


def stream_files(
    directory_fd: int, *, exclude_directories: frozenset[bytes], stop: Callable[[], None], ripgrep: str | None
) -> Iterator[list[bytes]]:
    """Yield the files of `list_files` in batches, as they are found. Unreadable directories are skipped.

    For work in the background: ripgrep uses one thread only.
    """
    rest = b""
    with ExitStack() as stack:
        child = None
        if ripgrep is not None:
            with suppress(OSError):
                argv = [*_ripgrep_argv(ripgrep, exclude_directories), "--threads=1"]
                child = stack.enter_context(run_helper(argv, directory_fd=directory_fd))
        if child is None:
            yield from (paths for paths, _ in _scan_all(directory_fd, exclude_directories, stop))
            return
        while block := child.read(stop):
            *paths, rest = (rest + block).split(b"\0")
            yield paths


def _ripgrep_argv(ripgrep: str, exclude_directories: frozenset[bytes]) -> list[str]:
    argv = [ripgrep, "--no-config", "--files", "--null", "--hidden", "--no-ignore", "--no-follow", "--color=never"]
    return argv + [f"--glob=!{name.decode()}/" for name in sorted(exclude_directories)]


def _scan_all(
    directory_fd: int, exclude_directories: frozenset[bytes], stop: Callable[[], None]
) -> Iterator[tuple[list[bytes], int]]:
    """Yield batches of files, and the number of unreadable directories."""
    pending = [b"."]
    while pending:
        directory = pending.pop()
        prefix = b"" if directory == b"." else directory + b"/"
        scan = _DirectoryScan(directory_fd, directory)
        with scan:
            while scan.has_more:
                stop()
                files, directories = scan.next_entries()
                pending += [prefix + name for name in directories if name not in exclude_directories]
                yield [prefix + name for name in files], 0
        if scan.failed:
            yield [], 1


class _DirectoryScan:
    """Reads one directory in batches. A failure ends it; a vanished directory is no failure."""

    def __init__(self, directory_fd: int, path: bytes) -> None:
        self.has_more = True
        self.failed = False
        self._closing = ExitStack()
        try:
            descriptor = os.open(path, _DIRECTORY_FLAGS, dir_fd=directory_fd)
            self._closing.callback(os.close, descriptor)
            self._entries: Iterator[os.DirEntry[str]] = self._closing.enter_context(os.scandir(descriptor))
        except OSError as error:
            self._end(error)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        self._closing.close()

    def next_entries(self) -> tuple[list[bytes], list[bytes]]:
        """Return the names of further files and directories."""
        files: list[bytes] = []
        directories: list[bytes] = []
        try:
            batch = list(islice(self._entries, _ENTRIES_BETWEEN_STOPS))
            self.has_more = len(batch) == _ENTRIES_BETWEEN_STOPS
            for entry in batch:
                if entry.is_file(follow_symlinks=False):
                    files.append(os.fsencode(entry.name))
                elif entry.is_dir(follow_symlinks=False):
                    directories.append(os.fsencode(entry.name))
        except OSError as error:
            self._end(error)
        return files, directories

    def _end(self, error: OSError) -> None:
        self.has_more = False
        self.failed = not isinstance(error, FileNotFoundError)
