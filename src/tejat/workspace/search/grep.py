"""Searching with grep, with git grep, or with neither: they pick files, our own matcher judges the lines.

Their dialects, their views of Unicode, binary files and ignore files all differ. So they only pick the files in which
there may be a match, by an expression on bytes that matches at least what is searched for.
"""

import re
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager

from tejat.workspace.ripgrep import program_path, running
from tejat.workspace.search.spelling import for_grep
from tejat.workspace.search.task import Hits, Judge, Task, bounded, judging
from tejat.workspace.search.values import EngineFailure, OutOfTime
from tejat.workspace.walk import list_files

_MOST_FILES = 1_000_000
_ARGUMENT_BYTES = 512 * 1024
_BYTES_BESIDE_A_PATH = 16
_LONGEST_EXPRESSION = 100_000
# What begins with a byte order mark of UTF-16 is picked in any case.
_WIDE_MARKS = (b"^\xff\xfe", b"^\xfe\xff")
_PLAIN_NAME = re.compile(rb"[A-Za-z0-9_.-]+")
_FOUND, _NOT_FOUND, _TROUBLE = 0, 1, 2


def search_by_git_grep(task: Task) -> Hits:
    """Raises EngineFailure when git grep cannot do it, and ToolFailure for a pattern that is not understood."""
    git = program_path("git")
    if git is None or b".git" not in task.query.exclude_directories:
        raise EngineFailure("there is no git, or it would leave out what is to be searched")
    excluded = sorted(filter(_PLAIN_NAME.fullmatch, task.query.exclude_directories))
    # Told that there is no repository, it reads no configuration of one, which could name programs to run.
    argv = bounded(
        *(git, "--no-pager", "grep", "--no-index", "--no-exclude-standard", "--no-textconv", "--no-color"),
        *(*_picking(task), "--null", "--", "."),
        *(b":(exclude,glob)**/" + name + b"/**" for name in excluded),
        environment="LC_ALL=C GIT_DIR=/dev/null",
    )
    hits = Hits(task.query)
    with _judging(task, hits) as judge:
        _search_all(judge, filter(task.wants, _picked(task, argv)))
    return hits


def search_by_grep(task: Task) -> Hits:
    """Raises EngineFailure when grep cannot do it, and ToolFailure for a pattern that is not understood."""
    grep = program_path("grep")
    if grep is None:
        raise EngineFailure("there is no grep")
    argv = bounded(
        *(grep, "--no-messages", "--devices=skip", "--directories=skip", "--color=never"),
        *(*_picking(task), "--null", "--"),
        environment="LC_ALL=C",
    )
    hits = Hits(task.query)
    with _judging(task, hits) as judge:
        paths = _wanted_files(task, hits)
        _search_all(judge, (path for batch in _batches(paths) for path in _picked(task, [*argv, *batch])))
    return hits


def search_by_python(task: Task) -> Hits:
    """Raises EngineFailure when Python cannot do it, and ToolFailure for a pattern that is not understood."""
    hits = Hits(task.query)
    with _judging(task, hits) as judge:
        _search_all(judge, _wanted_files(task, hits))
    return hits


@contextmanager
def _judging(task: Task, hits: Hits) -> Generator[Judge]:
    try:
        with judging(task, hits) as judge:
            yield judge
    except OutOfTime:
        hits.complete = False


def _search_all(judge: Judge, paths: Iterable[bytes]) -> None:
    for path in paths:
        if not judge.search(path):
            return


def _picking(task: Task) -> list[str | bytes]:
    expression = for_grep(task.pattern)
    if len(expression) > _LONGEST_EXPRESSION:
        raise EngineFailure("the pattern is too long for an argument of a program")
    options: list[str | bytes] = ["--files-with-matches", "--text", "--extended-regexp"]
    return options + [part for each in (expression, *_WIDE_MARKS) for part in ("-e", each)]


def _picked(task: Task, argv: Sequence[str | bytes]) -> Iterator[bytes]:
    """The files that a program names. Raises EngineFailure when it fails; unreadable files are no failure."""
    try:
        with running(argv, directory_fd=task.directory_fd) as child:
            kept = b""
            while block := child.read(task.stop):
                *names, kept = (kept + block).split(b"\0")
                for name in names:
                    yield name.removeprefix(b"./")
            code = child.exit_code(task.stop)
            # grep keeps silent about what it cannot read; git says it, but goes on and does not fail for it.
            if code not in (_FOUND, _NOT_FOUND) and not (code == _TROUBLE and not child.stderr):
                raise EngineFailure(f"{code}: {child.stderr.decode('utf-8', 'replace')[:1000]}")
    except OSError as error:
        raise EngineFailure(f"a program could not be run: {error}") from error


def _wanted_files(task: Task, hits: Hits) -> list[bytes]:
    listing = list_files(
        task.directory_fd,
        exclude_directories=task.query.exclude_directories,
        limit=_MOST_FILES,
        stop=task.stop,
        ripgrep=task.ripgrep,
    )
    hits.complete = listing.complete
    paths = listing.paths if task.include is None else list(filter(task.include.matches, listing.paths))
    task.stop()
    return paths if task.rules is None else task.rules.filter(paths, within=task.within)[0]


def _batches(paths: list[bytes]) -> Iterator[list[bytes]]:
    """Paths in portions that fit the arguments of a program, spelled so that none is taken for an option."""
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
