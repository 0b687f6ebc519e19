"""What ripgrep prints is read with care, and its failures are noticed."""

import os
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tejat.workspace.helper_program import find_ripgrep
from tejat.workspace.paths.ignore_rules import IgnoreRules
from tejat.workspace.search.pattern import parse_pattern
from tejat.workspace.search.ripgrep_engine import search_with_ripgrep
from tejat.workspace.search.task import SearchTask
from tejat.workspace.search.types import (
    FileHits,
    SearchEngine,
    SearchEngineFailure,
    SearchLine,
    SearchQuery,
    SearchResult,
    SearchTimeout,
)

WARNING = r': WARNING: stopped searching binary file after match (found "\\0" byte around offset 7)\n'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    path = tmp_path / "root"
    path.mkdir()
    return path


@pytest.fixture
def directory_fd(root: Path) -> Iterator[int]:
    fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    yield fd
    os.close(fd)


def never() -> None:
    """Asks nobody to stop."""


def task(
    directory_fd: int, query: SearchQuery, *, rules: IgnoreRules | None = None, stop: Callable[[], None] = never
) -> SearchTask:
    pattern = parse_pattern(query.pattern, fixed_strings=False, case_sensitive=False)
    return SearchTask(directory_fd, query, pattern, None, None, rules, b"", stop, None)


def result(*files: tuple[str, int], complete: bool = True) -> SearchResult:
    hits = tuple(FileHits(path, (SearchLine(number, "x", True),)) for path, number in files)
    return SearchResult(hits, len(hits), complete, False, SearchEngine.RIPGREP)


class TestAnotherProgram:
    """A program in ripgrep's place prints what ripgrep prints in cases that are hard to come by."""

    @pytest.fixture
    def playing(self, tmp_path: Path) -> Callable[[str], str]:
        def play(script: str) -> str:
            program = tmp_path / "program"
            program.write_text(f"#!/bin/sh\n{script}\n")
            program.chmod(program.stat().st_mode | stat.S_IXUSR)
            return str(program)

        return play

    def test_a_warning_takes_back_what_was_printed_of_a_file(
        self, directory_fd: int, playing: Callable[[str], str]
    ) -> None:
        program = playing(rf"printf './a\0001:x\n./a{WARNING}./b\0002:x\n./c\0003:x\n./c{WARNING}'")
        hits = search_with_ripgrep(task(directory_fd, SearchQuery(pattern="x")), program)
        assert hits.result(SearchEngine.RIPGREP) == result(("b", 2))

    def test_what_was_printed_before_time_ran_out_is_kept(
        self, directory_fd: int, playing: Callable[[str], str]
    ) -> None:
        program = playing(r"printf './a\0001:x\n'; sleep 20")
        end = time.monotonic() + 0.5

        def stop() -> None:
            if time.monotonic() > end:
                raise SearchTimeout

        hits = search_with_ripgrep(task(directory_fd, SearchQuery(pattern="x"), stop=stop), program)
        assert hits.result(SearchEngine.RIPGREP) == result(("a", 1), complete=False)
        assert time.monotonic() < end + 5

    @pytest.mark.parametrize(
        "script",
        [
            "echo oops >&2; exit 2",
            r"printf './a\0001:x\n'; kill -ABRT $$",
            r"printf './a\0001:x\n./b'",
            r"printf './a\000x\n'",
            "exit 3",
            "echo 'rg: ./a: Permission denied (os error 13)' >&2; echo oops >&2; exit 2",
        ],
    )
    def test_failures_are_noticed(self, directory_fd: int, playing: Callable[[str], str], script: str) -> None:
        with pytest.raises(SearchEngineFailure):
            search_with_ripgrep(task(directory_fd, SearchQuery(pattern="x")), playing(script))

    def test_unreadable_files_are_no_failure(self, directory_fd: int, playing: Callable[[str], str]) -> None:
        hits = search_with_ripgrep(
            task(directory_fd, SearchQuery(pattern="x")), playing(r"printf './a\0001:x\n'; exit 2")
        )
        assert hits.result(SearchEngine.RIPGREP) == result(("a", 1))

    def test_unreadable_files_may_be_spoken_of(self, directory_fd: int, playing: Callable[[str], str]) -> None:
        program = playing(r"printf './a\0001:x\n'; echo 'rg: ./b: Permission denied (os error 13)' >&2; exit 2")
        hits = search_with_ripgrep(task(directory_fd, SearchQuery(pattern="(?!y)x")), program)
        assert hits.result(SearchEngine.RIPGREP) == result(("a", 1))

    def test_a_program_that_is_not_there(self, directory_fd: int) -> None:
        with pytest.raises(SearchEngineFailure):
            search_with_ripgrep(task(directory_fd, SearchQuery(pattern="x")), "/nonexistent/rg")

    def test_ignored_directories_are_kept_from_it(
        self, root: Path, directory_fd: int, playing: Callable[[str], str], tmp_path: Path
    ) -> None:
        for name in ("out/a", "src/gen/b", "src/c", "node_modules/d", "we[ird]/e"):
            (root / name).mkdir(parents=True)
        (root / ".geminiignore").write_text("out/\ngen/\nnode_modules/\nwe*/\n")
        rules = IgnoreRules(os.path.realpath(root), git=True, gemini=True)
        program = playing(f"printf '%s\\n' \"$@\" > {tmp_path}/arguments; exit 1")
        search_with_ripgrep(task(directory_fd, SearchQuery(pattern="x"), rules=rules), program)
        arguments = (tmp_path / "arguments").read_text().split("\n")
        # A name that means something in a glob is left to be judged by its finds.
        assert [argument for argument in arguments if argument.startswith("--glob=!/")] == [
            "--glob=!/out/",
            "--glob=!/src/gen/",
        ]
        assert "--glob=!node_modules/" in arguments


def test_a_name_that_looks_like_a_warning(root: Path, directory_fd: int) -> None:
    (root / "a").write_text("x\n")
    name = 'a: WARNING: stopped searching binary file after match (found "\\0" byte around offset 7)\nb'
    (root / name).write_text("x\n")
    program = find_ripgrep()
    assert program is not None
    hits = search_with_ripgrep(task(directory_fd, SearchQuery(pattern="x")), program)
    assert hits.result(SearchEngine.RIPGREP) == result(("a", 1), (name, 1))


def test_a_long_pattern_goes_by_a_file(root: Path, directory_fd: int) -> None:
    (root / "a").write_text("x\n")
    program = find_ripgrep()
    assert program is not None
    # Each of its characters is spelled with four.
    pattern = "\x01" * 9000 + "|x"
    hits = search_with_ripgrep(task(directory_fd, SearchQuery(pattern=pattern)), program)
    assert hits.result(SearchEngine.RIPGREP) == result(("a", 1))
