"""Searching the contents of files beneath a directory, or of one file.

Which files are searched is decided by our own walk and ignore rules, which lines match by one dialect of patterns; the
engines differ in speed only.
"""

import time
from collections.abc import Callable, Sequence

from tejat.core.errors import ErrorType, ToolFailure
from tejat.workspace.glob_pattern import GlobPattern, compile_glob
from tejat.workspace.ignore import IgnoreRules
from tejat.workspace.ripgrep import ripgrep_path
from tejat.workspace.search.grep import search_by_git_grep, search_by_grep, search_by_python
from tejat.workspace.search.matcher import LineMatcher
from tejat.workspace.search.pattern import Pattern, parse
from tejat.workspace.search.ripgrep import search_by_ripgrep
from tejat.workspace.search.scan import scanning
from tejat.workspace.search.task import Hits, Task
from tejat.workspace.search.values import Engine, EngineFailure, FileHits, Line, OutOfTime, Query, SearchResult

__all__ = [
    "ALL_ENGINES",
    "Engine",
    "FileHits",
    "Line",
    "Query",
    "SearchResult",
    "check_pattern",
    "search",
    "search_file",
]

ALL_ENGINES = tuple(Engine)


def check_pattern(pattern: str, *, fixed_strings: bool = False) -> None:
    """Raises ToolFailure(INVALID_TOOL_PARAMS), which says what is wrong, for a pattern that is not understood."""
    LineMatcher(parse(pattern, fixed_strings=fixed_strings, case_sensitive=True), lambda: None)


def search(
    directory_fd: int,
    query: Query,
    *,
    rules: IgnoreRules | None,
    within: bytes = b"",
    stop: Callable[[], None],
    deadline: float,
    engines: Sequence[Engine] = ALL_ENGINES,
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
    task = Task(
        directory_fd,
        query,
        pattern,
        excluding,
        _include(query.include),
        rules,
        within,
        _watched(stop, deadline),
        ripgrep_path() if Engine.RIPGREP in engines else None,
    )
    failure: EngineFailure | None = None
    for engine in engines:
        try:
            return _RUN[engine](task).result(engine)
        except EngineFailure as error:
            failure = error
    raise _failed(failure or EngineFailure("there is nothing to search with"))


def search_file(file_fd: int, name: bytes, query: Query, *, stop: Callable[[], None], deadline: float) -> SearchResult:
    """Searches one regular file that is open for reading; `name` is its path in the result.

    What is said of `search` holds here; the glob and the excluded directories do not count. Raises OSError too.
    """
    pattern, excluding = _patterns(query)
    hits = Hits(query)
    try:
        with scanning(query, pattern, excluding, _watched(stop, deadline)) as scanner:
            scanned = scanner.scan(file_fd, most=hits.room)
    except EngineFailure as failure:
        raise _failed(failure) from failure
    hits.add(name, scanned.lines, scanned.matches)
    hits.complete = scanned.complete
    return hits.result(Engine.PYTHON)


def _failed(failure: EngineFailure) -> ToolFailure:
    return ToolFailure(
        f"Error during grep search operation: {failure}",
        ErrorType.GREP_EXECUTION_ERROR,
        display=f"Error: {failure}",
    )


def _patterns(query: Query) -> tuple[Pattern, Pattern | None]:
    pattern = parse(query.pattern, fixed_strings=query.fixed_strings, case_sensitive=query.case_sensitive)
    if query.exclude_pattern is None:
        return pattern, None
    return pattern, parse(query.exclude_pattern, fixed_strings=False, case_sensitive=query.case_sensitive)


def _include(include: str | None) -> GlobPattern | None:
    if not include:
        return None
    include = include.removeprefix("./")
    return compile_glob(include if "/" in include else f"**/{include}", case_sensitive=True)


def _watched(stop: Callable[[], None], deadline: float) -> Callable[[], None]:
    end = time.monotonic() + deadline

    def watch() -> None:
        stop()
        if time.monotonic() > end:
            raise OutOfTime

    return watch


def _search_by_ripgrep(task: Task) -> Hits:
    if task.ripgrep is None:
        raise EngineFailure("there is no ripgrep")
    return search_by_ripgrep(task, task.ripgrep)


_RUN: dict[Engine, Callable[[Task], Hits]] = {
    Engine.RIPGREP: _search_by_ripgrep,
    Engine.GIT_GREP: search_by_git_grep,
    Engine.GREP: search_by_grep,
    Engine.PYTHON: search_by_python,
}
