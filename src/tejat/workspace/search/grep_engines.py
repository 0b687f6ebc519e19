"""Search engines based on git grep, grep, and Python alone: they select files, our matcher selects lines.

Their dialects and their treatment of Unicode, binary files and ignore files differ. So they only select files that may
contain a match, with an expression on bytes that matches at least what is searched for.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from tejat.workspace.helper_program import find_program, run_helper
from tejat.workspace.paths.walk import list_files
from tejat.workspace.search.dialects import to_grep
from tejat.workspace.search.task import (
    MatchCollector,
    SearchTask,
    find_first_matches,
    limit_memory,
    open_task_scanner,
    path_order,
    read_names,
)
from tejat.workspace.search.types import SearchEngineFailure, SearchTimeout

_MAX_FILES = 1_000_000
_ARGUMENT_BYTES = 512 * 1024
_BYTES_BESIDE_A_PATH = 16
_MAX_EXPRESSION_LENGTH = 100_000
# Files with a UTF-16 byte order mark are always selected.
_WIDE_MARKS = (b"^\xff\xfe", b"^\xfe\xff")
_PLAIN_NAME = re.compile(rb"[A-Za-z0-9_.-]+")
_FOUND, _NOT_FOUND, _TROUBLE = 0, 1, 2


def search_with_git_grep(task: SearchTask) -> MatchCollector:
    """Search with git grep. Raises SearchEngineFailure if it does not work, ToolFailure for an invalid pattern."""
    git = find_program("git")
    if git is None or b".git" not in task.query.exclude_directories:
        raise SearchEngineFailure("there is no git, or it would leave out what is to be searched")
    excluded = sorted(filter(_PLAIN_NAME.fullmatch, task.query.exclude_directories))
    # Without a repository, git reads no repository configuration, which could name programs to run.
    argv = limit_memory(
        *(git, "--no-pager", "grep", "--no-index", "--no-exclude-standard", "--no-textconv", "--no-color"),
        *(*_grep_options(task), "--null", "--", "."),
        *(b":(exclude,glob)**/" + name + b"/**" for name in excluded),
        environment="LC_ALL=C GIT_DIR=/dev/null",
    )

    def run(*, in_order: bool) -> MatchCollector:
        paths = filter(task.includes, _matching_files(task, argv))
        return _search_all(task, MatchCollector(task.query), _sort(paths) if in_order else paths)

    return find_first_matches(run)


def _sort(paths: Iterable[bytes]) -> Iterator[bytes]:
    """Yield paths in order. They are collected when the first one is asked for."""
    yield from sorted(paths, key=path_order)


def search_with_grep(task: SearchTask) -> MatchCollector:
    """Search with grep. Raises SearchEngineFailure if it does not work, ToolFailure for an invalid pattern."""
    grep = find_program("grep")
    if grep is None:
        raise SearchEngineFailure("there is no grep")
    argv = limit_memory(
        *(grep, "--no-messages", "--devices=skip", "--directories=skip", "--color=never"),
        *(*_grep_options(task), "--null", "--"),
        environment="LC_ALL=C",
    )
    hits = MatchCollector(task.query)
    batches = _batches(_list_files(task, hits))
    return _search_all(task, hits, (path for batch in batches for path in _matching_files(task, [*argv, *batch])))


def search_with_python(task: SearchTask) -> MatchCollector:
    """Search without other programs. Raises SearchEngineFailure and ToolFailure like the others."""
    hits = MatchCollector(task.query)
    return _search_all(task, hits, _list_files(task, hits))


def _search_all(task: SearchTask, hits: MatchCollector, paths: Iterable[bytes]) -> MatchCollector:
    try:
        with open_task_scanner(task, hits) as scanner:
            for path in paths:
                if not scanner.search(path):
                    break
    except SearchTimeout:
        hits.complete = False
    return hits


def _grep_options(task: SearchTask) -> list[str | bytes]:
    expression = to_grep(task.pattern)
    if len(expression) > _MAX_EXPRESSION_LENGTH:
        raise SearchEngineFailure("the pattern is too long for an argument of a program")
    options: list[str | bytes] = ["--files-with-matches", "--text", "--extended-regexp"]
    return options + [part for pattern in (expression, *_WIDE_MARKS) for part in ("-e", pattern)]


def _matching_files(task: SearchTask, argv: Sequence[str | bytes]) -> Iterator[bytes]:
    """Yield the files that a program prints. Raises SearchEngineFailure if it fails; unreadable files are ignored."""
    try:
        with run_helper(argv, directory_fd=task.directory_fd) as child:
            yield from read_names(child, task.stop)
            code = child.exit_code(task.stop)
            # grep is silent about unreadable files; git reports them but does not fail.
            if code not in (_FOUND, _NOT_FOUND) and not (code == _TROUBLE and not child.stderr):
                raise SearchEngineFailure(f"{code}: {child.stderr.decode('utf-8', 'replace')[:1000]}")
    except OSError as error:
        raise SearchEngineFailure(f"a program could not be run: {error}") from error


def _list_files(task: SearchTask, hits: MatchCollector) -> Iterator[bytes]:
    """Yield the files to search in the order of their paths. They are listed when the first one is asked for."""
    listing = list_files(
        task.directory_fd,
        exclude_directories=task.query.exclude_directories,
        limit=_MAX_FILES,
        stop=task.stop,
        ripgrep=task.ripgrep,
    )
    hits.complete = listing.is_complete
    paths = listing.paths if task.include is None else list(filter(task.include.matches, listing.paths))
    task.stop()
    yield from sorted(paths if task.rules is None else task.rules.filter(paths, within=task.within)[0], key=path_order)


def _batches(paths: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Split paths into batches that fit an argument list, written so that none looks like an option."""
    batch: list[bytes] = []
    size = 0
    for path in paths:
        size += len(path) + _BYTES_BESIDE_A_PATH
        if size > _ARGUMENT_BYTES and batch:
            yield batch
            batch, size = [], len(path) + _BYTES_BESIDE_A_PATH
        batch.append(b"./" + path)
    if batch:
        yield batch
