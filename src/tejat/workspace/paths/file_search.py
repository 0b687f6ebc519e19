"""Search for files by name: those beneath a directory that match patterns and are not ignored."""

import errno
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import chain

from tejat.core.frozen import Frozen
from tejat.workspace.files.openat import open_directory_nofollow
from tejat.workspace.paths.glob.pattern import GlobPattern, compile_glob, escape_glob
from tejat.workspace.paths.ignore_rules import IgnoreRules
from tejat.workspace.paths.walk import FileStream, RipgrepFailure

_BATCH = 8192
_IGNORE_FILE = b".gitignore"
_MAX_BUFFERED_BYTES = 24 * 2**20
"""Matching paths that wait until all ignore files are known. Beyond it, ignore files are looked up by directory."""


class FileCriteria(Frozen):
    """Files that match one of the patterns and none of `excluded`, not in directories with excluded names."""

    patterns: Sequence[GlobPattern]
    exclude_directories: frozenset[bytes]
    excluded: Sequence[GlobPattern] = ()

    def select(self, paths: list[bytes]) -> list[bytes]:
        one = self.patterns[0] if len(self.patterns) == 1 else None
        matching = _select_any(paths, self.patterns) if one is None else one.select(paths)
        if not self.excluded or not matching:
            return matching
        unwanted = frozenset(_select_any(matching, self.excluded))
        return [path for path in matching if path not in unwanted]


class FileSearch:
    """The files beneath a directory that fit the criteria and are not ignored, in batches, unordered.

    Paths are relative to the directory. Iterate over it once, while the directory is open; afterwards the counts are
    final. Exceptions of `stop` propagate.
    """

    def __init__(
        self,
        directory_fd: int,
        criteria: FileCriteria,
        *,
        rules: IgnoreRules | None,
        within: bytes = b"",
        limit: int,
        stop: Callable[[], None],
        ripgrep: str | None,
    ) -> None:
        """`within` is the path of the directory from the root of the rules. `limit` bounds the files looked at."""
        self.git_ignored = 0
        """Number of matching files that git ignores."""
        self.gemini_ignored = 0
        self.is_complete = True
        """False if there were more files than the limit."""
        self.errors = 0
        """Number of unreadable directories."""
        self._directory_fd = directory_fd
        self._criteria = criteria
        self._rules = rules
        self._within = within
        self._limit = limit
        self._looked_at = 0
        self._stop = stop
        self._ripgrep = ripgrep

    @property
    def truncated_ignore_files(self) -> tuple[str, ...]:
        """Ignore files that are too long to be read to the end."""
        return () if self._rules is None else self._rules.truncated_files

    def __iter__(self) -> Iterator[list[bytes]]:
        """Raises OSError if the files cannot be listed."""
        starts = _start_directories(self._directory_fd, self._criteria.patterns)
        ignore_files: list[bytes] = []
        batches = self._select(starts, ignore_files)
        try:
            waiting, is_all = _take(batches)
        except RipgrepFailure:
            self._start_again_without_ripgrep()
            ignore_files.clear()
            batches = self._select(starts, ignore_files)
            waiting, is_all = _take(batches)
        if self._rules is not None and starts == [b""] and is_all and self.is_complete:
            # Looking for an ignore file in each directory would take longer.
            self._rules.set_known_files(ignore_files, within=self._within)
        for joined in waiting:
            self._stop()
            yield self._without_ignored(joined.split(b"\0"))
        waiting.clear()
        try:
            for paths in batches:
                yield self._without_ignored(paths)
        except RipgrepFailure as error:
            raise OSError(errno.EIO, "ripgrep ended unexpectedly") from error

    def _start_again_without_ripgrep(self) -> None:
        self._ripgrep = None
        self._looked_at = self.errors = 0
        self.is_complete = True

    def _select(self, starts: Sequence[bytes], ignore_files: list[bytes]) -> Iterator[list[bytes]]:
        """Yield what fits the criteria, and add all ignore files to the list."""
        for start in starts:
            if self._criteria.exclude_directories.isdisjoint(start.split(b"/")):
                for paths in self._list(start):
                    ignore_files += [path for path in paths if path.endswith(_IGNORE_FILE)]
                    yield self._criteria.select(paths)

    def _without_ignored(self, paths: list[bytes]) -> list[bytes]:
        if self._rules is None or self._rules.is_empty:
            return paths
        kept, by_git, by_gemini = self._rules.filter(paths, within=self._within)
        self.git_ignored += by_git
        self.gemini_ignored += by_gemini
        return kept

    def _list(self, start: bytes) -> Iterator[list[bytes]]:
        with ExitStack() as stack:
            try:
                opened = stack.enter_context(open_directory_nofollow(self._directory_fd, start))
            except OSError as error:
                self.errors += not isinstance(error, FileNotFoundError | NotADirectoryError)
                return
            prefix = start + b"/" if start else b""
            for paths in self._list_opened(opened):
                yield [prefix + path for path in paths] if prefix else paths

    def _list_opened(self, directory_fd: int) -> Iterator[list[bytes]]:
        stream = FileStream(
            directory_fd,
            exclude_directories=self._criteria.exclude_directories,
            limit=self._limit - self._looked_at,
            stop=self._stop,
            ripgrep=self._ripgrep,
        )
        yield from _in_batches(stream)
        self._looked_at += stream.count
        self.is_complete = self.is_complete and stream.is_complete
        self.errors += stream.errors


def _take(batches: Iterator[list[bytes]]) -> tuple[list[bytes], bool]:
    """Return batches, each joined by NUL characters, and whether these are all of them."""
    waiting: list[bytes] = []
    size = 0
    for paths in batches:
        if paths:
            waiting.append(b"\0".join(paths))
            size += len(waiting[-1])
        if size > _MAX_BUFFERED_BYTES:
            return waiting, False
    return waiting, True


def _in_batches(stream: FileStream) -> Iterator[list[bytes]]:
    waiting: list[bytes] = []
    for paths in stream:
        waiting += paths
        if len(waiting) >= _BATCH:
            yield waiting
            waiting = []
    yield waiting


def _select_any(paths: list[bytes], patterns: Sequence[GlobPattern]) -> list[bytes]:
    wanted = frozenset(chain.from_iterable(pattern.select(paths) for pattern in patterns))
    return [path for path in paths if path in wanted]


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
