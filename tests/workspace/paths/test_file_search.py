"""Files are found by name, in batches, whichever way they are listed."""

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.workspace.paths.test_walk import (
    EXCLUDED,
    RIPGREP,
    each_way,
    listed,
    never,
    opened,
    patterns,
    plant,
    tree_paths,
    write,
)

from tejat.core.errors import ToolFailure
from tejat.core.frozen import Frozen
from tejat.workspace.paths import file_search
from tejat.workspace.paths.file_search import FileCriteria, FileSearch
from tejat.workspace.paths.glob.pattern import compile_glob
from tejat.workspace.paths.ignore_rules import IgnoreRules


class Found(Frozen):
    paths: list[bytes]
    git_ignored: int
    gemini_ignored: int
    is_complete: bool
    errors: int


def found(
    path: Path | str,
    ripgrep: str | None,
    *wanted: str,
    excluded: tuple[str, ...] = (),
    rules: IgnoreRules | None = None,
    within: bytes = b"",
    case_sensitive: bool = False,
    limit: int = 1_000_000,
) -> Found:
    criteria = FileCriteria(
        patterns=[compile_glob(pattern, case_sensitive=case_sensitive) for pattern in wanted],
        excluded=[compile_glob(pattern, case_sensitive=case_sensitive) for pattern in excluded],
        exclude_directories=EXCLUDED,
    )
    with opened(path) as descriptor:
        search = FileSearch(descriptor, criteria, rules=rules, within=within, limit=limit, stop=never, ripgrep=ripgrep)
        paths = sorted(path for batch in search for path in batch)
    return Found(paths, search.git_ignored, search.gemini_ignored, search.is_complete, search.errors)


@settings(max_examples=80, deadline=None)
@given(tree_paths, st.lists(patterns, min_size=1, max_size=3), st.lists(patterns, max_size=2), st.booleans())
def test_finding_is_listing_and_matching(
    paths: list[str], wanted: list[str], unwanted: list[str], case_sensitive: bool
) -> None:
    compiled = [compile_glob(pattern, case_sensitive=case_sensitive) for pattern in wanted]
    refused = [compile_glob(pattern, case_sensitive=case_sensitive) for pattern in unwanted]
    with tempfile.TemporaryDirectory() as place:
        plant(Path(place), paths)
        expected = [
            path
            for path in listed(place, None).paths
            if any(pattern.matches(path) for pattern in compiled)
            and not any(pattern.matches(path) for pattern in refused)
        ]
        result = found(place, None, *wanted, excluded=tuple(unwanted), case_sensitive=case_sensitive)
        assert result == Found(expected, 0, 0, is_complete=True, errors=0)


@each_way
class TestFinding:
    def test_ignored_matches_are_counted(self, tmp_path: Path, ripgrep: str | None) -> None:
        write(tmp_path, "a.py", "b.txt", "build/c.py", "build/d.txt", "sub/e.py", "sub/f.py", "sub/g.py", "secret.py")
        (tmp_path / ".git").mkdir()
        (tmp_path / ".gitignore").write_text("build/\n")
        (tmp_path / "sub" / ".gitignore").write_text("f.py\n")
        (tmp_path / ".geminiignore").write_text("secret*\n/sub/g.py\n")
        real = os.path.realpath(tmp_path)

        def rules() -> IgnoreRules:
            return IgnoreRules(real, git=True, gemini=True)

        assert found(tmp_path, ripgrep, "**/*.py", rules=rules()) == Found([b"a.py", b"sub/e.py"], 2, 2, True, 0)
        assert found(tmp_path, ripgrep, "SUB/*.py", rules=rules()) == Found([b"sub/e.py"], 1, 1, True, 0)
        assert found(tmp_path, ripgrep, "**/*.py").paths == sorted(
            [b"a.py", b"build/c.py", b"secret.py", b"sub/e.py", b"sub/f.py", b"sub/g.py"]
        )
        within = found(tmp_path / "sub", ripgrep, "*.py", rules=rules(), within=b"sub")
        assert within == Found([b"e.py"], 1, 1, True, 0)

    def test_more_files_than_are_handled_at_once(self, tmp_path: Path, ripgrep: str | None) -> None:
        for number in range(9000):
            os.close(os.open(tmp_path / f"{number}.{'log' if number % 3 else 'py'}", os.O_CREAT | os.O_WRONLY))
        (tmp_path / ".git").mkdir()
        (tmp_path / ".gitignore").write_text("*1.py\n")
        rules = IgnoreRules(os.path.realpath(tmp_path), git=True, gemini=True)
        expected = sorted(b"%d.py" % number for number in range(0, 9000, 3) if number % 10 != 1)
        assert found(tmp_path, ripgrep, "*.py", rules=rules) == Found(expected, 300, 0, True, 0)

    def test_a_prefix_is_not_entered_through_a_link(self, tmp_path: Path, ripgrep: str | None) -> None:
        write(tmp_path, "outside/x.py", "root/real/x.py", "root/file")
        (tmp_path / "root" / "link").symlink_to("../outside")
        for case_sensitive in (True, False):
            for pattern in ("link/*.py", "link/**", "file/*", "none/*", "real/link/x", "node_modules/*"):
                result = found(tmp_path / "root", ripgrep, pattern, case_sensitive=case_sensitive)
                assert result == Found([], 0, 0, True, 0)
            result = found(tmp_path / "root", ripgrep, "real/*.py", case_sensitive=case_sensitive)
            assert result == Found([b"real/x.py"], 0, 0, True, 0)

    def test_limit_counts_over_all_starting_points(self, tmp_path: Path, ripgrep: str | None) -> None:
        write(tmp_path, *(f"{directory}/{number}" for directory in "abc" for number in range(5)))
        result = found(tmp_path, ripgrep, "a/*", "b/*", limit=7)
        assert (len(result.paths), result.is_complete) == (7, False)
        result = found(tmp_path, ripgrep, "a/*", "b/*", limit=10)
        assert (len(result.paths), result.is_complete) == (10, True)

    def test_a_name_longer_than_any_can_be(self, tmp_path: Path, ripgrep: str | None) -> None:
        write(tmp_path, "a")
        assert found(tmp_path, ripgrep, "x" * 300 + "/*", case_sensitive=True).paths == []
        with pytest.raises(ToolFailure):
            found(tmp_path, ripgrep, "../*")


def make_tree(root: Path) -> IgnoreRules:
    for part in range(30):
        write(root, *(f"part{part}/file{number}.py" for number in range(20)))
        (root / f"part{part}" / ".gitignore").write_text("file1.py\n" if part % 2 else "nothing\n")
    (root / ".git").mkdir()
    return IgnoreRules(os.path.realpath(root), git=True, gemini=True)


@each_way
def test_more_paths_than_are_buffered(tmp_path: Path, ripgrep: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = make_tree(tmp_path)
    expected = found(tmp_path, ripgrep, "**/*.py", rules=rules)
    assert (len(expected.paths), expected.git_ignored) == (585, 15)
    monkeypatch.setattr(file_search, "_MAX_BUFFERED_BYTES", 100)
    monkeypatch.setattr(file_search, "_BATCH", 7)
    again = IgnoreRules(os.path.realpath(tmp_path), git=True, gemini=True)
    assert found(tmp_path, ripgrep, "**/*.py", rules=again) == expected


def failing_ripgrep(place: Path) -> str:
    """A program that lists files as ripgrep does, and then dies."""
    program = place / "rg"
    program.write_text(f'#!/bin/sh\n{RIPGREP} "$@"\nkill -9 $$\n')
    program.chmod(0o755)
    return str(program)


def test_a_ripgrep_that_dies_in_the_middle_is_made_up_for(tmp_path: Path) -> None:
    root = tmp_path / "root"
    rules = make_tree(root)
    expected = found(root, None, "**/*.py", rules=rules)
    again = IgnoreRules(os.path.realpath(root), git=True, gemini=True)
    assert found(root, failing_ripgrep(tmp_path), "**/*.py", rules=again) == expected


def test_what_was_given_cannot_be_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "root"
    rules = make_tree(root)
    monkeypatch.setattr(file_search, "_MAX_BUFFERED_BYTES", 100)
    monkeypatch.setattr(file_search, "_BATCH", 7)
    with pytest.raises(OSError, match="ripgrep ended unexpectedly"):
        found(root, failing_ripgrep(tmp_path), "**/*.py", rules=rules)
