"""Line matcher that confirms the results of every search engine."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import cache, cached_property

from tejat.workspace.search.backtracking_matcher import BacktrackingMatcher
from tejat.workspace.search.character_class import WORD, InvalidRegex, LinearRegex, compile_linear
from tejat.workspace.search.dialects import LinearMode, to_marked_re2, to_python, to_re2
from tejat.workspace.search.pattern import SearchPattern, invalid_pattern

Span = tuple[int, int]
"""Start and end of a line in a block, without its line feed."""

_BATCH = 256
# RE2 cannot be interrupted and takes up to 20 ns per byte and step of the compiled expression. So it gets at most half
# a second of work at once, and at most half a minute of work for one line.
_MAX_CALL_COST = 20_000_000
_MAX_LINE_COST = 2_000_000_000
_MIN_CALL_BYTES = 4096
_FIRST_BEYOND_ASCII = 0x80
_NO_TEXT_BYTE = b"\xff"
_NO_TEXT = re.compile("[\ud800-\udfff]")


class LineMatcher(AbstractContextManager["LineMatcher"]):
    """Finds matching lines of text. Use it as a context manager, to end a process that it may start.

    RE2 decides alone where it can, in linear time. It cannot for look-around, back-references, and word boundaries in
    non-ASCII text; there it only preselects lines, which are then checked. `complete` becomes False when a line was too
    long to be searched whole. Raises ToolFailure(INVALID_TOOL_PARAMS) for a pattern that RE2 rejects.
    """

    def __init__(self, pattern: SearchPattern, stop: Callable[[], None]) -> None:
        self.complete = True
        self._pattern = pattern
        self._stop = stop
        self._backtracking: BacktrackingMatcher | None = None
        try:
            compile_linear(to_re2(pattern, LinearMode.SYNTAX))
            self._exact = None if pattern.needs_backtracking else compile_linear(to_re2(pattern, LinearMode.EXACT))
            needs_relaxed = pattern.needs_backtracking or pattern.has_word_boundaries
            self._relaxed = compile_linear(to_re2(pattern, LinearMode.RELAXED)) if needs_relaxed else None
        except InvalidRegex as error:
            raise invalid_pattern(pattern.source, str(error)) from error

    def __exit__(self, *_: object) -> None:
        if self._backtracking is not None:
            self._backtracking.close()
            self._backtracking = None

    def matching_lines(self, block: bytes) -> Iterator[Span]:
        r"""Yield the matching lines of a block of whole lines without its last line feed, in order.

        Lines end at "\n"; a "\r" counts as a line ending too, as in ripgrep, but begins no new line.
        """
        text = _normalize(block)
        if self._exact is not None and (self._relaxed is None or text.isascii()):
            yield from self._search_lines(self._exact, block, text)
            return
        if self._relaxed is None:
            raise AssertionError("a pattern that RE2 cannot judge has a relaxed form")
        batch: list[Span] = []
        for span in self._search_lines(self._relaxed, block, text):
            batch.append(span)
            if len(batch) == _BATCH:
                yield from self._confirm(batch, text)
                batch = []
        yield from self._confirm(batch, text)

    def matches(self, line: bytes) -> bool:
        """Return whether one line matches."""
        return next(self.matching_lines(line), None) is not None

    def find(self, line: bytes) -> int | None:
        """Return the byte at which the first match in a line begins or, with word boundaries beyond ASCII, ends."""
        start = 0
        for part in _normalize(line).split(b"\n"):
            found = self._find(part)
            if found is not None:
                return start + found
            start += len(part) + 1
        return None

    def _search_lines(self, expression: LinearRegex, block: bytes, text: bytes) -> Iterator[Span]:
        at = 0
        at_once = max(_MAX_CALL_COST // expression.programsize, _MIN_CALL_BYTES)
        while at <= len(block):
            self._stop()
            end = _end_of_lines(block, at, at_once)
            reach = at + len(self._limit_length(expression, text[at:end])) if end - at > at_once else end
            found = expression.search(text, at, reach)
            if found is None:
                at = end + 1
                continue
            place = found.start()
            start = block.rfind(b"\n", at, place) + 1 or at
            at = block.find(b"\n", place) + 1 or len(block) + 1
            yield start, at - 1

    def _limit_length(self, expression: LinearRegex, text: bytes) -> bytes:
        reach = _MAX_LINE_COST // expression.programsize
        if len(text) > reach:
            self.complete = False
        return text[:reach]

    def _confirm(self, spans: list[Span], text: bytes) -> Iterator[Span]:
        lines = [text[start:end] for start, end in spans]
        verdicts = self._backtrack(lines) if self._exact is None else map(self._check_boundaries, lines)
        return (span for span, verdict in zip(spans, verdicts, strict=True) if verdict)

    def _check_boundaries(self, line: bytes) -> bool:
        return any(self._find(part) is not None for part in line.split(b"\n"))

    def _find(self, part: bytes) -> int | None:
        """Find the first match in a normalized line without line feeds."""
        self._stop()
        if self._exact is not None and (self._relaxed is None or part.isascii()):
            found = self._exact.search(self._limit_length(self._exact, part))
            return None if found is None else found.start()
        # Next to an invalid byte neither \b nor \B matches, which marks cannot express.
        if self._exact is None or (self._pattern.has_non_boundaries and _NO_TEXT_BYTE in part):
            return self._backtracker.find([part], self._stop)[0]
        text = part.decode("utf-8", "surrogateescape")
        found = self._marked.search(self._limit_length(self._marked, _mark_words(text)))
        return None if found is None else _unmarked_offset(text, found.end())

    @cached_property
    def _marked(self) -> LinearRegex:
        return compile_linear(to_marked_re2(self._pattern), crosses_lines=True)

    @property
    def _backtracker(self) -> BacktrackingMatcher:
        if self._backtracking is None:
            self._backtracking = BacktrackingMatcher(to_python(self._pattern))
        return self._backtracking

    def _backtrack(self, lines: list[bytes]) -> list[bool]:
        if not lines:
            return []
        parts = [(index, part) for index, line in enumerate(lines) for part in line.split(b"\n")]
        verdicts = [False] * len(lines)
        found = self._backtracker.find([part for _, part in parts], self._stop)
        for (index, _), place in zip(parts, found, strict=True):
            verdicts[index] = verdicts[index] or place is not None
        return verdicts


def _end_of_lines(block: bytes, at: int, max_bytes: int) -> int:
    """Return where whole lines of at most `max_bytes` bytes end, or the first line if it is longer."""
    if len(block) - at <= max_bytes:
        return len(block)
    end = block.rfind(b"\n", at, at + max_bytes)
    if end < 0:
        end = block.find(b"\n", at + max_bytes)
    return end if end >= 0 else len(block)


def _normalize(block: bytes) -> bytes:
    r"""Return the block with "\n" for "\r" and 0xFF for each invalid byte, at the same length.

    RE2 accepts some overlong and surrogate sequences as characters, which ripgrep does not; it never accepts 0xFF.
    """
    text = block.replace(b"\r", b"\n") if b"\r" in block else block
    if text.isascii():
        return text
    try:
        text.decode()
    except UnicodeDecodeError:
        decoded = text.decode("utf-8", "surrogateescape")
        return _NO_TEXT.sub("\udcff", decoded).encode("utf-8", "surrogateescape")
    return text


def _mark_words(text: str) -> bytes:
    return _NO_TEXT.sub("\n", _word_beyond_ascii().sub(r"_\g<0>_", text.replace("_", "__"))).encode()


def _unmarked_offset(text: str, place: int) -> int:
    """Return the byte of a line that `_mark_words` moves to `place`."""
    count = bisect_left(range(len(text)), place, key=lambda count: len(_mark_words(text[:count])))
    return len(text[:count].encode("utf-8", "surrogateescape"))


@cache
def _word_beyond_ascii() -> re.Pattern[str]:
    runs = (f"{chr(first)}-{chr(last)}" for first, last in WORD.ranges if first >= _FIRST_BEYOND_ASCII)
    return re.compile(f"[{''.join(runs)}]")
