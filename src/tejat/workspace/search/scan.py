"""Searching one file with our own matcher: the lines that match, with their numbers and context."""

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from functools import partial

from tejat.core.value import value
from tejat.workspace.search.matcher import LineMatcher, Span
from tejat.workspace.search.pattern import Pattern
from tejat.workspace.search.text import LONGEST_KEPT_LINE, BinaryFile, TextBlocks, read_head, shown
from tejat.workspace.search.values import Line, OutOfTime, Query


@value
class Scanned:
    """What a file holds. `complete` is False when time ran out, or a line was too long to be searched whole."""

    lines: tuple[Line, ...]
    matches: int
    complete: bool


@value
class Scanner:
    """Searches files one by one. Made by `scanning`. What `stop` raises goes through, but for OutOfTime."""

    query: Query
    matcher: LineMatcher
    excluding: LineMatcher | None
    stop: Callable[[], None]

    def scan(self, fd: int, *, most: int) -> Scanned:
        """The first matches of a file, at most so many. A binary file has none. Raises OSError."""
        if self.query.max_matches_per_file is not None:
            most = min(most, self.query.max_matches_per_file)
        blocks = TextBlocks(fd, self.stop)
        record = _Record(self.query, 1 if self.query.names_only else most, partial(read_head, fd))
        try:
            for block in blocks:
                record.add(block, self._matching(block))
                if record.is_finished:
                    break
            blocks.read_to_the_end()
        except BinaryFile:
            return Scanned((), 0, complete=True)
        except OutOfTime:
            blocks.complete = False
        lines = () if self.query.names_only else tuple(record.lines)
        whole = self.matcher.complete and (self.excluding is None or self.excluding.complete)
        return Scanned(lines, record.matches, blocks.complete and whole)

    def _matching(self, block: bytes) -> Iterator[Span]:
        for start, end in self.matcher.matching_lines(block):
            if self.excluding is None or not self.excluding.matches(block[start:end]):
                yield start, end


@contextmanager
def scanning(query: Query, pattern: Pattern, excluding: Pattern | None, stop: Callable[[], None]) -> Generator[Scanner]:
    """For as long as files are searched. Raises ToolFailure for a pattern that is not understood."""
    with LineMatcher(pattern, stop) as matcher:
        if excluding is None:
            yield Scanner(query, matcher, None, stop)
            return
        with LineMatcher(excluding, stop) as excluding_matcher:
            yield Scanner(query, matcher, excluding_matcher, stop)


class _Record:
    """Puts matching lines and their context together, block by block."""

    def __init__(self, query: Query, most: int, head: Callable[[], bytes]) -> None:
        self.lines: list[Line] = []
        self.matches = 0
        self._query = query
        self._most = most
        self._head = head
        self._number = 1
        """Of the next line that was not looked at."""
        self._owed = 0
        """How many lines of context the last match still gets."""
        self._recent: list[bytes] = []
        """The lines before the next one, as many as a match might want and not yet recorded."""

    @property
    def is_finished(self) -> bool:
        return self.matches == self._most and not self._owed

    def add(self, block: bytes, spans: Iterable[Span]) -> None:
        at = 0
        if self.matches < self._most:
            for start, end in spans:
                if start > at:
                    self._pass(block[at : start - 1])
                self._add_match(block[start:end])
                at = end + 1
                if self.matches == self._most:
                    break
        if at <= len(block):
            self._pass(block[at:])

    def _add_match(self, raw: bytes) -> None:
        first = self._number - len(self._recent)
        self.lines += [self._line(first + index, line, False) for index, line in enumerate(self._recent)]
        self.lines.append(self._line(self._number, raw, True))
        self._recent = []
        self._number += 1
        self._owed = self._query.after
        self.matches += 1

    def _pass(self, block: bytes) -> None:
        """Lines that are no match."""
        count = block.count(b"\n") + 1
        if self._owed:
            *owed, rest = block.split(b"\n", self._owed)
            if len(owed) < self._owed:
                owed.append(rest)
            self.lines += [self._line(self._number + index, line, False) for index, line in enumerate(owed)]
            self._owed -= len(owed)
            self._number += len(owed)
            count -= len(owed)
            if not count:
                return
            block = rest
        self._number += count
        if self._query.before:
            last = block.rsplit(b"\n", self._query.before)[-self._query.before :]
            kept = [line[: LONGEST_KEPT_LINE + 1] for line in last]
            self._recent = (self._recent + kept)[-self._query.before :]

    def _line(self, number: int, raw: bytes, is_match: bool) -> Line:
        return Line(number, shown(raw, self._head), is_match)
