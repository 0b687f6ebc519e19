"""Excerpts of command output: both ends of a success, the end and the error lines of a failure."""

import re
from collections.abc import Iterable, Sequence
from functools import cache

from tejat.core.frozen import Frozen

HEAD_LINES, TAIL_LINES = 3, 5
"""Lines shown of a long output of a success."""
FAILURE_TAIL_LINES = 12
"""Lines shown at the end of a long output of a failure."""
MAX_ERROR_LINES = 12
"""Error lines shown besides the end of a failure."""

_MAX_FOLLOWED_ERRORS = 4
"""Most error lines of which the lines that follow are shown too."""
_FOLLOWING_LINES = 3
_MIN_GAP = 2
"""Lines that are shown rather than replaced by a label."""
_MAX_WHOLE_LINES = 20
"""Longest output of a failure that is shown whole."""
_MAX_SEARCHED_LINES = 4_000
"""Longest output that is searched for errors, half of it at each end."""
_MAX_LINE_CHARS = 300
"""Longest part of a line that is searched for an error."""


class ExcerptRow(Frozen):
    """A line of the output, or a gap of `hidden` lines, of which `hidden_errors` look like errors."""

    text: str = ""
    is_error: bool = False
    hidden: int = 0
    hidden_errors: int = 0


def excerpt_output(
    lines: Sequence[str], *, is_failure: bool, head: int = HEAD_LINES, tail: int = TAIL_LINES
) -> tuple[ExcerptRow, ...]:
    """Return the lines worth showing, in order, with gaps for the others: of a success `head` and `tail` lines.

    Of a failure these are the last lines and, from the rest, the lines that look like errors: all of them if there are
    at most MAX_ERROR_LINES, else the first and the last of them. Of a few errors the lines that follow are shown too.
    """
    if not is_failure:
        return _rows(lines, {*range(head), *range(len(lines) - tail, len(lines))}, frozenset())
    errors = find_error_lines(lines)
    end_lines = max(tail, FAILURE_TAIL_LINES) if len(lines) > _MAX_WHOLE_LINES else _MAX_WHOLE_LINES
    last = range(max(len(lines) - end_lines, 0), len(lines))
    earlier = [at for at in errors if at not in last]
    if len(earlier) > MAX_ERROR_LINES:
        first = MAX_ERROR_LINES * 2 // 3
        earlier = [*earlier[:first], *earlier[first - MAX_ERROR_LINES :]]
    elif len(earlier) <= _MAX_FOLLOWED_ERRORS:
        earlier = [at + after for at in earlier for after in range(_count_following(lines, at) + 1)]
    return _rows(lines, {*earlier, *last}, frozenset(errors))


def find_error_lines(lines: Sequence[str]) -> list[int]:
    """Return the positions of lines that look like errors of compilers, test runners, shells and programs."""
    half = _MAX_SEARCHED_LINES // 2
    searched = range(len(lines)) if len(lines) <= 2 * half else (*range(half), *range(len(lines) - half, len(lines)))
    return [at for at in searched if is_error_line(lines[at])]


def is_error_line(line: str) -> bool:
    text = line[:_MAX_LINE_CHARS]
    return _error_pattern().search(text) is not None and _harmless_pattern().search(text) is None


def _count_following(lines: Sequence[str], at: int) -> int:
    """Return how many lines after an error belong to it, as far as there is no blank line."""
    after = lines[at + 1 : at + 1 + _FOLLOWING_LINES]
    return next((count for count, line in enumerate(after) if not line.strip()), len(after))


def _rows(lines: Sequence[str], shown: Iterable[int], errors: frozenset[int]) -> tuple[ExcerptRow, ...]:
    rows: list[ExcerptRow] = []
    end = 0
    for at in sorted({at for at in shown if 0 <= at < len(lines)}):
        if at - end > _MIN_GAP:
            rows.append(ExcerptRow(hidden=at - end, hidden_errors=sum(each in errors for each in range(end, at))))
        else:
            rows += [ExcerptRow(line) for line in lines[end:at]]
        rows.append(ExcerptRow(lines[at], is_error=at in errors))
        end = at + 1
    return tuple(rows)


@cache
def _error_pattern() -> re.Pattern[str]:
    """Compile the pattern, on the first failure. Each alternative is anchored or begins with a literal."""
    return re.compile(
        r"^Traceback \(most recent call last\)"
        r"|^\s{0,40}(?:[\w.]{0,80}\.)?[A-Z]\w{0,60}(?:Error|Exception|Exit|Interrupt)(?::|$)"  # Python, Java
        r"|^E\s{2,8}\S"  # pytest
        r"|\bFAILED\b|^(?:FAIL|ERROR)\b|\.\.\. (?:FAIL|ERROR)$"  # pytest, unittest, cargo, go, jest
        r"|^\s{0,40}(?:--- FAIL:|not ok\b)"  # go, TAP
        r"|\b(?:error|fatal)(?:\[\w{1,10}\])?: |^Error: |: error TS\d"  # gcc, clang, cargo, git, mypy, node, tsc
        r"|^\s{0,8}--> \S{1,300}:\d"  # cargo: the place of an error
        r"|^npm (?:ERR!|error) \S"
        r"|^\s{0,8}\d{1,6}:\d{1,6}\s{1,8}error\s"  # eslint
        r"|^thread '.{1,80} panicked at |^\s{0,8}panic: "  # Rust, Go
        r"|^(?:Exception in thread|Caused by:|Unhandled|Uncaught|CRITICAL|FATAL)\b"
        r"|: \*\*\* .{0,200}(?:Error|Stop)\b"  # make
        r"|command not found|No such file or directory|Permission denied|[Ss]egmentation fault|core dumped"
        r"|undefined reference|[Oo]ut of memory|^Killed$"
        r"|^\s{0,8}[✕✗✖×] \S"  # jest, vitest, mocha
        r"|^\s{0,8}[^\s:()]{1,200}\.\w{1,8}:\d{1,7}(?::\d{1,5})?: \S"  # file:line: message
    )


@cache
def _harmless_pattern() -> re.Pattern[str]:
    return re.compile(r"\b(?:warning|note|info): ")
