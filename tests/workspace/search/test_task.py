"""What every engine shares: which files are wanted, and how many matches fit."""

import os
import subprocess
from pathlib import Path

import pytest

from tejat.workspace.paths.glob.pattern import compile_glob
from tejat.workspace.paths.ignore_rules import IgnoreRules
from tejat.workspace.search.pattern import parse_pattern
from tejat.workspace.search.task import MatchCollector, SearchTask, first_matches, limit_memory, open_task_scanner
from tejat.workspace.search.types import FileHits, SearchEngine, SearchLine, SearchQuery, SearchResult


def lines(*numbers: int, hits: tuple[int, ...]) -> tuple[SearchLine, ...]:
    return tuple(SearchLine(number, str(number), number in hits) for number in numbers)


def task(
    directory_fd: int, query: SearchQuery, *, include: str | None = None, rules: IgnoreRules | None = None
) -> SearchTask:
    return SearchTask(
        directory_fd,
        query,
        parse_pattern(query.pattern, fixed_strings=False, case_sensitive=False),
        None,
        compile_glob(include, case_sensitive=True) if include else None,
        rules,
        b"",
        lambda: None,
        None,
    )


class TestWants:
    @pytest.mark.parametrize(
        ("path", "wanted"),
        [
            (b"a.py", True),
            (b"a.js", False),
            (b"node_modules/a.py", False),
            (b"src/node_modules/b/a.py", False),
            (b"node_modules.py", True),
            (b"out/a.py", False),
        ],
    )
    def test_paths(self, tmp_path: Path, path: bytes, wanted: bool) -> None:
        (tmp_path / ".geminiignore").write_text("out/\n")
        rules = IgnoreRules(os.path.realpath(tmp_path), git=True, gemini=True)
        assert task(-1, SearchQuery(pattern="x"), include="**/*.py", rules=rules).includes(path) is wanted


class TestHits:
    def test_files_come_by_path(self) -> None:
        hits = MatchCollector(SearchQuery(pattern="x"))
        for path in (b"b", b"a/c", b"\xff", b"a"):
            hits.add(path, lines(1, hits=(1,)), 1)
        hits.add(b"none", (), 0)
        assert hits.result(SearchEngine.GREP) == SearchResult(
            tuple(FileHits(os.fsdecode(path), lines(1, hits=(1,))) for path in (b"a", b"a/c", b"b", b"\xff")),
            4,
            True,
            False,
            SearchEngine.GREP,
        )

    def test_no_more_than_asked_for(self) -> None:
        hits = MatchCollector(SearchQuery(pattern="x", total_max_matches=3))
        hits.add(b"a", lines(1, 2, hits=(1, 2)), 2)
        assert (hits.remaining, hits.is_full) == (2, False)
        hits.add(b"b", lines(1, 2, hits=(1, 2)), 2)
        assert hits.is_full
        assert hits.result(SearchEngine.PYTHON) == SearchResult(
            (FileHits("a", lines(1, 2, hits=(1, 2))), FileHits("b", lines(1, hits=(1,)))),
            3,
            True,
            True,
            SearchEngine.PYTHON,
        )

    def test_a_file_beyond_the_limit_is_left_out(self) -> None:
        hits = MatchCollector(SearchQuery(pattern="x", total_max_matches=1, names_only=True))
        hits.add(b"a", (), 1)
        assert not hits.is_full
        hits.add(b"b", (), 1)
        assert hits.result(SearchEngine.PYTHON) == SearchResult(
            (FileHits("a", ()),), 1, True, True, SearchEngine.PYTHON
        )


@pytest.mark.parametrize(
    ("most", "expected"),
    [
        (0, ()),
        (1, lines(1, 2, 3, hits=(2,))),
        (2, lines(1, 2, 3, 8, 9, 10, hits=(2, 9))),
        (3, lines(1, 2, 3, 8, 9, 10, 11, hits=(2, 9, 10))),
        (4, lines(1, 2, 3, 8, 9, 10, 11, hits=(2, 9, 10))),
    ],
)
def test_first_matches(most: int, expected: tuple[SearchLine, ...]) -> None:
    assert first_matches(lines(1, 2, 3, 8, 9, 10, 11, hits=(2, 9, 10)), most, 1) == expected


def test_judging(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x\n")
    fd = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        query = SearchQuery(pattern="x", total_max_matches=1)
        hits = MatchCollector(query)
        with open_task_scanner(task(fd, query), hits) as judge:
            assert [judge.search(path) for path in (b"missing", b"a", b"a")] == [True, True, False]
    finally:
        os.close(fd)
    assert hits.result(SearchEngine.GREP) == SearchResult(
        (FileHits("a", (SearchLine(1, "x", True),)),), 1, True, True, SearchEngine.GREP
    )


def test_a_bounded_program_gets_its_arguments_its_variables_and_a_limit() -> None:
    command = limit_memory("/bin/sh", "-c", 'echo "$1 $KIND $(ulimit -d)"', "sh", "a  b", environment="KIND=c")
    printed = subprocess.run(command, capture_output=True, check=True).stdout
    assert printed == b"a  b c 1048576\n"
