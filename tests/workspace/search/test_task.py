"""What every engine shares: which files are wanted, and how many matches fit."""

import os
import subprocess
from pathlib import Path

import pytest

from tejat.workspace.glob_pattern import compile_glob
from tejat.workspace.ignore import IgnoreRules
from tejat.workspace.search.pattern import parse
from tejat.workspace.search.task import Hits, Task, bounded, first_matches, judging
from tejat.workspace.search.values import Engine, FileHits, Line, Query, SearchResult


def lines(*numbers: int, hits: tuple[int, ...]) -> tuple[Line, ...]:
    return tuple(Line(number, str(number), number in hits) for number in numbers)


def task(directory_fd: int, query: Query, *, include: str | None = None, rules: IgnoreRules | None = None) -> Task:
    return Task(
        directory_fd,
        query,
        parse(query.pattern, fixed_strings=False, case_sensitive=False),
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
        assert task(-1, Query(pattern="x"), include="**/*.py", rules=rules).wants(path) is wanted


class TestHits:
    def test_files_come_by_path(self) -> None:
        hits = Hits(Query(pattern="x"))
        for path in (b"b", b"a/c", b"\xff", b"a"):
            hits.add(path, lines(1, hits=(1,)), 1)
        hits.add(b"none", (), 0)
        assert hits.result(Engine.GREP) == SearchResult(
            tuple(FileHits(os.fsdecode(path), lines(1, hits=(1,))) for path in (b"a", b"a/c", b"b", b"\xff")),
            4,
            True,
            False,
            Engine.GREP,
        )

    def test_no_more_than_asked_for(self) -> None:
        hits = Hits(Query(pattern="x", total_max_matches=3))
        hits.add(b"a", lines(1, 2, hits=(1, 2)), 2)
        assert (hits.room, hits.is_full) == (2, False)
        hits.add(b"b", lines(1, 2, hits=(1, 2)), 2)
        assert hits.is_full
        assert hits.result(Engine.PYTHON) == SearchResult(
            (FileHits("a", lines(1, 2, hits=(1, 2))), FileHits("b", lines(1, hits=(1,)))),
            3,
            True,
            True,
            Engine.PYTHON,
        )

    def test_a_file_beyond_the_limit_is_left_out(self) -> None:
        hits = Hits(Query(pattern="x", total_max_matches=1, names_only=True))
        hits.add(b"a", (), 1)
        assert not hits.is_full
        hits.add(b"b", (), 1)
        assert hits.result(Engine.PYTHON) == SearchResult((FileHits("a", ()),), 1, True, True, Engine.PYTHON)


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
def test_first_matches(most: int, expected: tuple[Line, ...]) -> None:
    assert first_matches(lines(1, 2, 3, 8, 9, 10, 11, hits=(2, 9, 10)), most, 1) == expected


def test_judging(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x\n")
    fd = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        query = Query(pattern="x", total_max_matches=1)
        hits = Hits(query)
        with judging(task(fd, query), hits) as judge:
            assert [judge.search(path) for path in (b"missing", b"a", b"a")] == [True, True, False]
    finally:
        os.close(fd)
    assert hits.result(Engine.GREP) == SearchResult((FileHits("a", (Line(1, "x", True),)),), 1, True, True, Engine.GREP)


def test_a_bounded_program_gets_its_arguments_its_variables_and_a_limit() -> None:
    command = bounded("/bin/sh", "-c", 'echo "$1 $KIND $(ulimit -d)"', "sh", "a  b", environment="KIND=c")
    printed = subprocess.run(command, capture_output=True, check=True).stdout
    assert printed == b"a  b c 1048576\n"
