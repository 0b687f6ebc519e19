"""Searching the contents of files beneath a directory, or of one file.

Which files are searched is decided by our own walk and ignore rules, which lines match by one dialect of patterns; the
engines differ in speed only.
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
    """Raises ToolFailure(INVALID_TOOL_PARAMS), which says what is wrong, for a pattern that is not understood."""
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
    """Searches all files beneath a directory that are not ignored; hidden ones too, links never.

    `within` is the path of the directory from the root that the rules are for; without rules nothing is ignored.
    `deadline` is the number of seconds after which the result is what was found until then. What `stop` raises goes
    through. The engines are tried in turn until one succeeds. When there are more matches than asked for, the first
    ones to be found are reported: ripgrep searches in several threads, so which these are is left to chance.

    Raises ToolFailure: INVALID_TOOL_PARAMS for a pattern or a glob that is not understood, PATH_NOT_IN_WORKSPACE for a
    glob that leads out, GREP_EXECUTION_ERROR when no engine can do it.
    """
    pattern, excluding = _patterns(query)
    task = SearchTask(
        directory_fd,
        query,
        pattern,
        excluding,
        _include(query.include),
        rules,
        within,
        _deadline_check(stop, deadline),
        find_ripgrep() if SearchEngine.RIPGREP in engines else None,
    )
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
    """Searches one regular file that is open for reading; `name` is its path in the result.

    What is said of `search` holds here; the glob and the excluded directories do not count. Raises OSError too.
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
        f"Error during grep search operation: {failure}",
        ErrorType.GREP_EXECUTION_ERROR,
        display=f"Error: {failure}",
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
