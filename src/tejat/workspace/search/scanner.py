"""Scanner of single files: matching lines with numbers and context."""

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from functools import partial

from tejat.core.frozen import Frozen
from tejat.workspace.search.matcher import LineMatcher, Span
from tejat.workspace.search.pattern import SearchPattern
from tejat.workspace.search.text_blocks import (
    MAX_LINE_BYTES,
    MAX_SHOWN_CHARACTERS,
    BinaryFile,
    TextBlocks,
    format_line,
    read_head,
)
from tejat.workspace.search.types import SearchLine, SearchQuery, SearchTimeout


class ScanResult(Frozen):
    """Matches of a file. `complete` is False on a timeout or if a line was too long to be searched whole."""

    lines: tuple[SearchLine, ...]
    matches: int
    complete: bool


class FileScanner(Frozen):
    """Scanner made by `open_scanner`. `stop` may raise; only SearchTimeout is handled."""

    query: SearchQuery
    matcher: LineMatcher
    excluding: LineMatcher | None
    stop: Callable[[], None]

    def scan(self, fd: int, *, limit: int) -> ScanResult:
        """Return the first `limit` matches of a file, none for a binary one. Raises OSError."""
        if self.query.max_matches_per_file is not None:
            limit = min(limit, self.query.max_matches_per_file)
        blocks = TextBlocks(fd, self.stop)
        record = _MatchRecorder(self.query, 1 if self.query.names_only else limit, self.matcher, partial(read_head, fd))
        try:
            for block in blocks:
                record.add(block, self._matching(block))
                if record.is_finished:
                    break
            blocks.drain()
        except BinaryFile:
            return ScanResult((), 0, complete=True)
        except SearchTimeout:
            blocks.complete = False
        lines = () if self.query.names_only else tuple(record.lines)
        whole = self.matcher.complete and (self.excluding is None or self.excluding.complete)
        return ScanResult(lines, record.matches, blocks.complete and whole)

    def _matching(self, block: bytes) -> Iterator[Span]:
        for start, end in self.matcher.matching_lines(block):
            if self.excluding is None or not self.excluding.matches(block[start:end]):
                yield start, end


@contextmanager
def open_scanner(
    query: SearchQuery, pattern: SearchPattern, excluding: SearchPattern | None, stop: Callable[[], None]
) -> Generator[FileScanner]:
    """Open a scanner for a query. Raises ToolFailure for an invalid pattern."""
    with LineMatcher(pattern, stop) as matcher:
        if excluding is None:
            yield FileScanner(query, matcher, None, stop)
            return
        with LineMatcher(excluding, stop) as excluding_matcher:
            yield FileScanner(query, matcher, excluding_matcher, stop)


class _MatchRecorder:
    """Collects matching lines and their context, block by block."""

    def __init__(self, query: SearchQuery, limit: int, matcher: LineMatcher, head: Callable[[], bytes]) -> None:
        self.lines: list[SearchLine] = []
        self.matches = 0
        self._query = query
        self._limit = limit
        self._matcher = matcher
        self._head = head
        self._characters = 0
        self._number = 1
        """Number of the next line."""
        self._pending_context = 0
        """Lines of context that the last match still needs."""
        self._recent: list[bytes] = []
        """Unrecorded lines before the next one, at most as many as a match needs for context."""

    @property
    def is_finished(self) -> bool:
        return (self.matches == self._limit and not self._pending_context) or self._is_too_long

    @property
    def _is_too_long(self) -> bool:
        """Whether there is a match and more text than can be shown."""
        most = self._query.max_characters
        return most is not None and self._characters > most and self.matches > 0

    def add(self, block: bytes, spans: Iterable[Span]) -> None:
        at = 0
        if self.matches < self._limit:
            for start, end in spans:
                if start > at:
                    self._skip(block[at : start - 1])
                self._add_match(block[start:end])
                at = end + 1
                if self.matches == self._limit or self._is_too_long:
                    break
        if at <= len(block):
            self._skip(block[at:])

    def _add_match(self, raw: bytes) -> None:
        first = self._number - len(self._recent)
        self.lines += [self._line(first + index, line, False) for index, line in enumerate(self._recent)]
        self.lines.append(self._line(self._number, raw, True))
        self._recent = []
        self._number += 1
        self._pending_context = self._query.after
        self.matches += 1

    def _skip(self, block: bytes) -> None:
        """Process lines that do not match."""
        count = block.count(b"\n") + 1
        if self._pending_context:
            *context, rest = block.split(b"\n", self._pending_context)
            if len(context) < self._pending_context:
                context.append(rest)
            self.lines += [self._line(self._number + index, line, False) for index, line in enumerate(context)]
            self._pending_context -= len(context)
            self._number += len(context)
            count -= len(context)
            if not count:
                return
            block = rest
        self._number += count
        if self._query.before:
            last = block.rsplit(b"\n", self._query.before)[-self._query.before :]
            kept = [line[: MAX_LINE_BYTES + 1] for line in last]
            self._recent = (self._recent + kept)[-self._query.before :]

    def _line(self, number: int, raw: bytes, is_match: bool) -> SearchLine:
        focus = self._matcher.find(raw) if is_match and len(raw) > MAX_SHOWN_CHARACTERS else None
        line = SearchLine(number, format_line(raw, self._head, focus=focus or 0), is_match)
        self._characters += line.size
        return line
