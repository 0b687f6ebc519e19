"""Content search in the files beneath a directory, or in one file.

Our own walk and ignore rules decide which files are searched, and one pattern dialect which lines match; the engines
differ in speed only.
"""

import time
from collections.abc import Callable, Sequence

from tejat.core.errors import ErrorType, ToolFailure
from tejat.workspace.helper_program import find_ripgrep
from tejat.workspace.paths.glob.pattern import GlobPattern, compile_glob
from tejat.workspace.paths.ignore_rules import IgnoreRules
from tejat.workspace.search.grep_engines import search_with_git_grep, search_with_grep, search_with_python
from tejat.workspace.search.matcher import LineMatcher
from tejat.workspace.search.pattern import SearchPattern, parse_pattern
from tejat.workspace.search.ripgrep_engine import search_with_ripgrep
from tejat.workspace.search.scanner import open_scanner
from tejat.workspace.search.task import MatchCollector, SearchTask
from tejat.workspace.search.types import (
    FileHits,
    SearchEngine,
    SearchEngineFailure,
    SearchLine,
    SearchQuery,
    SearchResult,
    SearchTimeout,
)

__all__ = [
    "ALL_ENGINES",
    "FileHits",
    "SearchEngine",
    "SearchLine",
    "SearchQuery",
    "SearchResult",
    "check_pattern",
    "search",
    "search_file",
]

ALL_ENGINES = tuple(SearchEngine)


def check_pattern(pattern: str, *, fixed_strings: bool = False) -> None:
    """Validate a pattern. Raises ToolFailure(INVALID_TOOL_PARAMS) that says what is wrong."""
    LineMatcher(parse_pattern(pattern, fixed_strings=fixed_strings, case_sensitive=True), lambda: None)


def search(
    directory_fd: int,
    query: SearchQuery,
    *,
    rules: IgnoreRules | None,
    within: bytes = b"",
    stop: Callable[[], None],
    deadline: float,
    engines: Sequence[SearchEngine] = ALL_ENGINES,
) -> SearchResult:
    """Search all files beneath a directory that are not ignored, including hidden ones but no links.

    `within` is the directory's path relative to the root of the rules; without rules nothing is ignored. After
    `deadline` seconds the matches found so far are returned. `stop` may raise to cancel. The engines are tried in turn
    until one succeeds. With more matches than requested the first ones by path and line are returned, with every
    engine; only if the deadline passes before these are known, they may be others.

    Raises ToolFailure: INVALID_TOOL_PARAMS for an invalid pattern or glob, PATH_NOT_IN_WORKSPACE for a glob that leads
    out, GREP_EXECUTION_ERROR when no engine works.
    """
    pattern, excluding = _patterns(query)
    include, watch = _include(query.include), _deadline_check(stop, deadline)
    ripgrep = find_ripgrep() if SearchEngine.RIPGREP in engines else None
    task = SearchTask(directory_fd, query, pattern, excluding, include, rules, within, watch, ripgrep)
    failure: SearchEngineFailure | None = None
    for engine in engines:
        try:
            return _ENGINES[engine](task).result(engine)
        except SearchEngineFailure as error:
            failure = error
    raise _search_failure(failure or SearchEngineFailure("there is nothing to search with"))


def search_file(
    file_fd: int, name: bytes, query: SearchQuery, *, stop: Callable[[], None], deadline: float
) -> SearchResult:
    """Search one regular file that is open for reading; `name` is its path in the result.

    Like `search`, but glob and excluded directories do not apply. Raises OSError as well.
    """
    pattern, excluding = _patterns(query)
    hits = MatchCollector(query)
    try:
        with open_scanner(query, pattern, excluding, _deadline_check(stop, deadline)) as scanner:
            scanned = scanner.scan(file_fd, limit=hits.remaining)
    except SearchEngineFailure as failure:
        raise _search_failure(failure) from failure
    hits.add(name, scanned.lines, scanned.matches)
    hits.complete = scanned.complete
    return hits.result(SearchEngine.PYTHON)


def _search_failure(failure: SearchEngineFailure) -> ToolFailure:
    return ToolFailure(
        f"Error during grep search operation: {failure}", ErrorType.GREP_EXECUTION_ERROR, display=f"Error: {failure}"
    )


def _patterns(query: SearchQuery) -> tuple[SearchPattern, SearchPattern | None]:
    pattern = parse_pattern(query.pattern, fixed_strings=query.fixed_strings, case_sensitive=query.case_sensitive)
    if query.exclude_pattern is None:
        return pattern, None
    return pattern, parse_pattern(query.exclude_pattern, fixed_strings=False, case_sensitive=query.case_sensitive)


def _include(include: str | None) -> GlobPattern | None:
    if not include:
        return None
    include = include.removeprefix("./")
    return compile_glob(include if "/" in include else f"**/{include}", case_sensitive=True)


def _deadline_check(stop: Callable[[], None], deadline: float) -> Callable[[], None]:
    end = time.monotonic() + deadline

    def watch() -> None:
        stop()
        if time.monotonic() > end:
            raise SearchTimeout

    return watch


def _search_by_ripgrep(task: SearchTask) -> MatchCollector:
    if task.ripgrep is None:
        raise SearchEngineFailure("there is no ripgrep")
    return search_with_ripgrep(task, task.ripgrep)


_ENGINES: dict[SearchEngine, Callable[[SearchTask], MatchCollector]] = {
    SearchEngine.RIPGREP: _search_by_ripgrep,
    SearchEngine.GIT_GREP: search_with_git_grep,
    SearchEngine.GREP: search_with_grep,
    SearchEngine.PYTHON: search_with_python,
}
