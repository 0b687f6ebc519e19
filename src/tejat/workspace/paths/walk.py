"""Directory walks: all files beneath a directory, or those that match patterns and are not ignored."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from itertools import chain, islice

from tejat.core.frozen import frozen
from tejat.workspace.files.openat import open_directory_nofollow
from tejat.workspace.helper_program import run_helper
from tejat.workspace.paths.glob.pattern import GlobPattern, compile_glob, escape_glob
from tejat.workspace.paths.ignore_rules import IgnoreRules

EXCLUDED_DIRECTORIES = frozenset({b"node_modules", b".git", b"bower_components", b".svn", b".hg"})
"""Directories that searches skip at any depth."""

_PLAIN_NAME = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
_ENTRIES_BETWEEN_STOPS = 4096
# Files found, none found, some unreadable.
_RIPGREP_EXIT_CODES = (0, 1, 2)
_PATHS_BETWEEN_STOPS = 8192
_DIRECTORY_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@frozen
class FileListing:
    """Files beneath a directory, unordered, relative to it."""

    paths: list[bytes]
    is_complete: bool
    """False if there were more files than the limit."""
    errors: int
    """Number of unreadable directories."""


@frozen
class WalkResult:
    """Files that match and are not ignored, unordered, relative to the directory."""

    paths: list[bytes]
    git_ignored: int
    gemini_ignored: int
    is_complete: bool
    errors: int
    truncated_ignore_files: tuple[str, ...] = ()
    """Ignore files that are too long to be read to the end."""


def find_files(
    directory_fd: int,
    *,
    patterns: Sequence[GlobPattern],
    excluded: Sequence[GlobPattern] = (),
    exclude_directories: frozenset[bytes],
    rules: IgnoreRules | None,
    within: bytes = b"",
    limit: int,
    stop: Callable[[], None],
    ripgrep: str | None,
) -> WalkResult:
    """Find the files beneath a directory that match one of the patterns, none of `excluded`, and are not ignored.

    `within` is the path of the directory from the root of the rules. The counts are of matching files that are ignored.
    `limit` bounds the files looked at. Exceptions of `stop` propagate.
    """
    starts = _start_directories(directory_fd, patterns)
    listing = FileListing([], is_complete=True, errors=0)
    for start in starts:
        if not exclude_directories.isdisjoint(start.split(b"/")):
            continue
        more = _list_beneath(directory_fd, start, exclude_directories, limit - len(listing.paths), stop, ripgrep)
        listing = FileListing(
            listing.paths + more.paths, listing.is_complete and more.is_complete, listing.errors + more.errors
        )
    paths = listing.paths
    if rules is not None and starts == [b""] and listing.is_complete:
        rules.set_known_files(paths, within=within)
    kept: list[bytes] = []
    git_ignored = gemini_ignored = 0
    for beginning in range(0, len(paths), _PATHS_BETWEEN_STOPS):
        stop()
        matching = _select_matching(paths[beginning : beginning + _PATHS_BETWEEN_STOPS], patterns, excluded)
        if rules is None:
            kept += matching
            continue
        passed, by_git, by_gemini = rules.filter(matching, within=within)
        kept += passed
        git_ignored += by_git
        gemini_ignored += by_gemini
    cut_files = () if rules is None else rules.truncated_files
    return WalkResult(kept, git_ignored, gemini_ignored, listing.is_complete, listing.errors, cut_files)


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
    if ripgrep is not None and all(_PLAIN_NAME.issuperset(name) for name in exclude_directories):
        listing = _list_with_ripgrep(directory_fd, exclude_directories, limit, stop, ripgrep)
        if listing is not None:
            return listing
    return _list_with_scandir(directory_fd, exclude_directories, limit, stop)


def stream_files(
    directory_fd: int, *, exclude_directories: frozenset[bytes], stop: Callable[[], None], ripgrep: str | None
) -> Iterator[list[bytes]]:
    """Yield the files of `list_files` in batches, as they are found. Unreadable directories are skipped."""
    rest = b""
    with ExitStack() as stack:
        child = None
        if ripgrep is not None:
            with suppress(OSError):
                argv = _ripgrep_argv(ripgrep, exclude_directories)
                child = stack.enter_context(run_helper(argv, directory_fd=directory_fd))
        if child is None:
            yield from (paths for paths, _ in _scan_all(directory_fd, exclude_directories, stop))
            return
        while block := child.read(stop):
            *paths, rest = (rest + block).split(b"\0")
            yield paths


def _start_directories(directory_fd: int, patterns: Sequence[GlobPattern]) -> list[bytes]:
    """Return directories that together contain every match, none beneath another. Links are not followed."""
    starts: set[bytes] = set()
    for pattern in patterns:
        starts |= _existing_starts(directory_fd, pattern.literal_prefix, case_sensitive=pattern.case_sensitive)
    return [start for start in sorted(starts) if not any(above in starts for above in _parents(start))]


def _existing_starts(directory_fd: int, prefix: str, *, case_sensitive: bool) -> set[bytes]:
    found = {b""}
    for part in prefix.split("/") if prefix else ():
        # A name that can be spelled in other ways is compared with every name that is there.
        wanted = None if case_sensitive else compile_glob(escape_glob(part), case_sensitive=False)
        name = os.fsencode(part)
        found = {
            directory + b"/" + child if directory else child
            for directory in found
            for child in ((name,) if wanted is None else filter(wanted.matches, _list_names(directory_fd, directory)))
        }
    return found


def _list_names(directory_fd: int, path: bytes) -> list[bytes]:
    try:
        with open_directory_nofollow(directory_fd, path) as opened:
            return list(map(os.fsencode, os.listdir(opened)))
    except OSError:
        return []


def _parents(path: bytes) -> list[bytes]:
    """Return the parents of a path, the topmost (empty) one last."""
    above: list[bytes] = []
    while path:
        path = path.rpartition(b"/")[0]
        above.append(path)
    return above


def _list_beneath(
    directory_fd: int, start: bytes, skip: frozenset[bytes], limit: int, stop: Callable[[], None], ripgrep: str | None
) -> FileListing:
    with ExitStack() as stack:
        try:
            opened = stack.enter_context(open_directory_nofollow(directory_fd, start))
        except OSError as error:
            absent = isinstance(error, FileNotFoundError | NotADirectoryError)
            return FileListing([], is_complete=True, errors=0 if absent else 1)
        listing = list_files(opened, exclude_directories=skip, limit=limit, stop=stop, ripgrep=ripgrep)
    if not start:
        return listing
    return FileListing([start + b"/" + path for path in listing.paths], listing.is_complete, listing.errors)


def _select_matching(
    paths: list[bytes], patterns: Sequence[GlobPattern], excluded: Sequence[GlobPattern]
) -> list[bytes]:
    matching = patterns[0].select(paths) if len(patterns) == 1 else _select_any(paths, patterns)
    if not excluded or not matching:
        return matching
    unwanted = frozenset(_select_any(matching, excluded))
    return [path for path in matching if path not in unwanted]


def _select_any(paths: list[bytes], patterns: Sequence[GlobPattern]) -> list[bytes]:
    wanted = frozenset(chain.from_iterable(pattern.select(paths) for pattern in patterns))
    return [path for path in paths if path in wanted]


def _list_with_ripgrep(
    directory_fd: int, exclude_directories: frozenset[bytes], limit: int, stop: Callable[[], None], ripgrep: str
) -> FileListing | None:
    blocks: list[bytes] = []
    count = 0
    with ExitStack() as stack:
        try:
            argv = _ripgrep_argv(ripgrep, exclude_directories)
            child = stack.enter_context(run_helper(argv, directory_fd=directory_fd))
        except OSError:
            return None
        while count <= limit and (block := child.read(stop)):
            blocks.append(block)
            count += block.count(b"\0")
        if count <= limit and child.exit_code(stop) not in (_RIPGREP_EXIT_CODES if count else _RIPGREP_EXIT_CODES[:2]):
            return None
        # Files that vanished meanwhile do not count.
        errors = child.error_lines - child.stderr.count(b"(os error 2)\n")
    paths = b"".join(blocks).split(b"\0")
    paths.pop()
    return FileListing(paths[:limit], count <= limit, errors)


def _ripgrep_argv(ripgrep: str, exclude_directories: frozenset[bytes]) -> list[str]:
    argv = [ripgrep, "--no-config", "--files", "--null", "--hidden", "--no-ignore", "--no-follow", "--color=never"]
    return argv + [f"--glob=!{name.decode()}/" for name in sorted(exclude_directories)]


def _list_with_scandir(
    directory_fd: int, exclude_directories: frozenset[bytes], limit: int, stop: Callable[[], None]
) -> FileListing:
    paths: list[bytes] = []
    errors = 0
    for files, failed in _scan_all(directory_fd, exclude_directories, stop):
        paths += files
        errors += failed
        if len(paths) > limit:
            return FileListing(paths[:limit], is_complete=False, errors=errors)
    return FileListing(paths, is_complete=True, errors=errors)


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
