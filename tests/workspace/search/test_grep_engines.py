"""grep and git grep pick files; what they pick is judged by our own matcher."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tejat.workspace.search.grep_engines import search_with_git_grep, search_with_grep, search_with_python
from tejat.workspace.search.pattern import parse_pattern
from tejat.workspace.search.task import MatchCollector, SearchTask
from tejat.workspace.search.types import SearchEngine, SearchEngineFailure, SearchQuery, SearchTimeout

Search = Callable[[SearchTask], MatchCollector]
ALL = (search_with_git_grep, search_with_grep, search_with_python)


@pytest.fixture
def directory_fd(tmp_path: Path) -> Iterator[int]:
    fd = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    yield fd
    os.close(fd)


def never() -> None:
    """Asks nobody to stop."""


def task(
    directory_fd: int, query: SearchQuery, *, case_sensitive: bool = False, stop: Callable[[], None] = never
) -> SearchTask:
    pattern = parse_pattern(query.pattern, fixed_strings=False, case_sensitive=case_sensitive)
    return SearchTask(directory_fd, query, pattern, None, None, None, b"", stop, None)


def names(hits: MatchCollector) -> list[str]:
    return [file.path for file in hits.result(SearchEngine.GREP).files]


def test_more_files_than_fit_into_one_command(tmp_path: Path, directory_fd: int) -> None:
    deep = tmp_path / ("d" * 200) / ("e" * 200)
    deep.mkdir(parents=True)
    for number in range(1500):
        (deep / f"{number:04}{'f' * 150}").write_text("x\n" if number % 500 == 0 else "y\n")
    hits = search_with_grep(task(directory_fd, SearchQuery(pattern="x")))
    assert [os.path.basename(name)[:4] for name in names(hits)] == ["0000", "0500", "1000"]


@pytest.mark.parametrize("search", ALL)
def test_utf16_is_judged_whatever_it_holds(tmp_path: Path, directory_fd: int, search: Search) -> None:
    (tmp_path / "little").write_bytes("\ufeffneedle\n".encode("utf-16-le"))
    (tmp_path / "big").write_bytes("\ufeffneedle\n".encode("utf-16-be"))
    (tmp_path / "other").write_bytes("\ufeffhay\n".encode("utf-16-be"))
    assert names(search(task(directory_fd, SearchQuery(pattern="needle")))) == ["big", "little"]


@pytest.mark.parametrize("search", ALL)
def test_a_file_that_only_seems_to_match_is_not_found(tmp_path: Path, directory_fd: int, search: Search) -> None:
    # The expression for grep tells neither characters beyond ASCII apart nor minds word boundaries.
    (tmp_path / "a").write_text("né xneedle\n")
    (tmp_path / "b").write_text("nö needle\n")
    assert names(search(task(directory_fd, SearchQuery(pattern=r"n[ö] \bneedle")))) == ["b"]


def test_git_grep_does_not_search_what_it_cannot(directory_fd: int) -> None:
    with pytest.raises(SearchEngineFailure):
        search_with_git_grep(task(directory_fd, SearchQuery(pattern="x", exclude_directories=frozenset())))


@pytest.mark.parametrize("search", ALL)
def test_out_of_time_is_a_result(tmp_path: Path, directory_fd: int, search: Search) -> None:
    (tmp_path / "a").write_text("x\n")

    def stop() -> None:
        raise SearchTimeout

    result = search(task(directory_fd, SearchQuery(pattern="x"), stop=stop)).result(SearchEngine.GREP)
    assert (result.files, result.is_complete, result.is_limited) == ((), False, False)


@pytest.mark.parametrize("search", [search_with_git_grep, search_with_grep])
def test_a_pattern_too_long_for_an_argument_is_left_to_others(directory_fd: int, search: Search) -> None:
    query = SearchQuery(pattern="k" * 9000)
    with pytest.raises(SearchEngineFailure):
        search(task(directory_fd, query))
