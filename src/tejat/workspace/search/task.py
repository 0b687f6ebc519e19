"""Search task passed to the engines, and the collector of their matches."""

import os
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Protocol

from tejat.core.frozen import Frozen
from tejat.workspace.helper_program import HelperProcess
from tejat.workspace.paths.glob.pattern import GlobPattern
from tejat.workspace.paths.ignore_rules import IgnoreRules
from tejat.workspace.search.pattern import SearchPattern
from tejat.workspace.search.scanner import FileScanner, ScanResult, open_scanner
from tejat.workspace.search.text_blocks import MAX_SHOWN_CHARACTERS, MIN_AFTER_FOCUS, open_regular_file
from tejat.workspace.search.types import FileHits, SearchEngine, SearchLine, SearchQuery, SearchResult

# An ordinary search needs some megabytes. One that needs more has met an extremely long line and is aborted.
_MAX_CHILD_KIBIBYTES = 1 << 20


class SearchTask(Frozen):
    """A search beneath a directory. `within` is the directory's path relative to the root of the rules."""

    directory_fd: int
    query: SearchQuery
    pattern: SearchPattern
    exclude_pattern: SearchPattern | None
    include: GlobPattern | None
    rules: IgnoreRules | None
    within: bytes
    stop: Callable[[], None]
    """Raises on cancellation, and SearchTimeout at the deadline."""
    ripgrep: str | None

    def includes(self, path: bytes) -> bool:
        """Return whether a file is to be searched, judging by its path."""
        if not self.query.exclude_directories.isdisjoint(path.split(b"/")[:-1]):
            return False
        if self.include is not None and not self.include.matches(path):
            return False
        return self.rules is None or bool(self.rules.filter((path,), within=self.within)[0])


class MatchCollector:
    """Matches found so far."""

    def __init__(self, query: SearchQuery) -> None:
        self.complete = True
        self._query = query
        self._files: list[FileHits] = []
        self._matches = 0
        self._characters = 0
        self.is_full = False

    @property
    def remaining(self) -> int:
        """How many more matches are useful: one more than may be reported, to know that there are more."""
        return self._query.total_max_matches - self._matches + 1

    def add(self, path: bytes, lines: tuple[SearchLine, ...], matches: int) -> None:
        """Add the matches of a file, once per file."""
        room = self.remaining - 1
        if matches > room:
            self.is_full = True
            matches, lines = room, first_matches(lines, room, self._query.after)
        fitting = self._fitting_lines(path, lines)
        if fitting is None or len(fitting) < len(lines):
            self.is_full = True
            lines = fitting or ()
            matches = sum(line.is_match for line in lines)
        if matches:
            self._files.append(FileHits(os.fsdecode(path), lines))
            self._matches += matches
            self._characters += self._files[-1].size

    def _fitting_lines(self, path: bytes, lines: tuple[SearchLine, ...]) -> tuple[SearchLine, ...] | None:
        """Return the lines for which there is room, None if there is not even room for the path."""
        if self._query.max_characters is None:
            return lines
        without_lines = FileHits(os.fsdecode(path), lines).size - sum(line.size for line in lines)
        room = self._query.max_characters - self._characters - without_lines
        if room < 0 and self._files:
            return None
        count = 0
        for line in lines:
            room -= line.size
            if room < 0:
                break
            count += 1
        fitting = lines[:count]
        if not self._files and lines and not any(line.is_match for line in fitting):
            return tuple(islice((line for line in lines if line.is_match), 1))
        return fitting

    def result(self, engine: SearchEngine) -> SearchResult:
        files = tuple(sorted(self._files, key=lambda hits: path_order(os.fsencode(hits.path))))
        return SearchResult(files, self._matches, self.complete, self.is_full, engine)


class _Search(Protocol):
    def __call__(self, *, in_order: bool) -> MatchCollector: ...


def find_first_matches(search: _Search) -> MatchCollector:
    """Search in any order and, if there are more matches than requested, again in the order of paths.

    The deadline may end the second search early. What was found before is better than nothing then.
    """
    hits = search(in_order=False)
    if not hits.is_full:
        return hits
    first_hits = search(in_order=True)
    if first_hits.is_full:
        return first_hits
    hits.complete = hits.complete and first_hits.complete
    return hits


def path_order(path: bytes) -> list[bytes]:
    """Return the sort key of a path: a directory comes with all its files, as in a walk that sorts each directory."""
    return path.split(b"/")


def first_matches(lines: tuple[SearchLine, ...], limit: int, after: int) -> tuple[SearchLine, ...]:
    """Return the first matches with their context. A later match within that context is shown as context."""
    numbers = [line.number for line in lines if line.is_match]
    if len(numbers) <= limit:
        return lines
    if not limit:
        return ()
    last = numbers[limit - 1]
    return tuple(
        SearchLine(line.number, line.text, line.is_match and line.number <= last)
        for line in lines
        if line.number <= last + after
    )


class TaskScanner:
    """Scanner for the files that an engine selects. Made by `open_task_scanner`."""

    def __init__(self, task: SearchTask, hits: MatchCollector, scanner: FileScanner) -> None:
        self._task = task
        self._hits = hits
        self._scanner = scanner

    def search(self, path: bytes) -> bool:
        """Search a file that the task includes; return whether to continue."""
        scanned = self.scan(path)
        if scanned is not None:
            self._hits.add(path, scanned.lines, scanned.matches)
            self._hits.complete = self._hits.complete and scanned.complete
        return not self._hits.is_full

    def scan(self, path: bytes) -> ScanResult | None:
        """Return the matches of a file, None if it cannot be read."""
        with open_regular_file(self._task.directory_fd, path) as fd:
            if fd is None:
                return None
            try:
                return self._scanner.scan(fd, limit=self._hits.remaining)
            except OSError:
                return None

    def begins_with_match(self, line: bytes) -> bool:
        """Return whether a match can be seen in what is shown of the beginning of a long line."""
        place = self._scanner.matcher.find(line)
        return place is not None and place <= MAX_SHOWN_CHARACTERS - MIN_AFTER_FOCUS


@contextmanager
def open_task_scanner(task: SearchTask, hits: MatchCollector) -> Generator[TaskScanner]:
    """Open the scanner of a task. Raises ToolFailure for an invalid pattern."""
    with open_scanner(task.query, task.pattern, task.exclude_pattern, task.stop) as scanner:
        yield TaskScanner(task, hits, scanner)


def read_names(child: HelperProcess, stop: Callable[[], None]) -> Iterator[bytes]:
    """Yield the paths that a program prints, each with a NUL at its end, without `./`."""
    rest = b""
    while block := child.read(stop):
        *names, rest = (rest + block).split(b"\0")
        yield from (name.removeprefix(b"./") for name in names)


def limit_memory(*argv: str | bytes, environment: str = "") -> list[str | bytes]:
    """Return the command that runs a program with limited memory and variables such as `LC_ALL=C`."""
    script = f'ulimit -d {_MAX_CHILD_KIBIBYTES} 2>/dev/null; exec "$@"'
    return ["/bin/sh", "-c", f"export {environment}; {script}" if environment else script, "sh", *argv]
