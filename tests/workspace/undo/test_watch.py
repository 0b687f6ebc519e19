"""What is watched: whole roots without the journal, or the files that paths mean."""

import os
from contextlib import ExitStack
from pathlib import Path

import pytest

from tejat.workspace.files.roots import Roots
from tejat.workspace.undo.private_directory import PrivateDirectory
from tejat.workspace.undo.watch import PathWatch, missing_parents, watch_paths, watch_trees


def never() -> None:
    return


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "root"
    (made / "a" / "b").mkdir(parents=True)
    (made / "a" / "f").touch()
    (made / "link").symlink_to("a")
    return made


def test_the_journal_is_left_out_even_before_it_is_there(root: Path) -> None:
    with Roots([str(root)]) as roots:
        for _ in range(2):
            (watch,) = watch_trees(roots, PrivateDirectory(str(root / "state" / "undo")))
            state = watch.scan_state(limit=100, stop=never)
            assert set(state.directories) == {"a", "a/b", "state"}


def test_a_root_inside_another_is_seen_once(root: Path) -> None:
    with Roots([str(root), str(root / "a")]) as roots:
        watches = watch_trees(roots, PrivateDirectory(str(root.parent / "state")))
        seen = [set(watch.scan_state(limit=100, stop=never).files) for watch in watches]
    assert seen == [set(), {"f"}]
    assert not (root.parent / "state").exists()


@pytest.mark.parametrize(
    ("path", "watched"),
    [
        ("a/f", ("a/f",)),
        ("link/f", ("a/f",)),
        ("new", ("new",)),
        ("x/y/new", ("x", "x/y", "x/y/new")),
        ("link/x/new", ("a/x", "a/x/new")),
    ],
)
def test_files_after_all_links(root: Path, path: str, watched: tuple[str, ...]) -> None:
    with Roots([str(root)]) as roots, ExitStack() as closing:
        for spelling in (path, str(root / path)):
            assert watch_paths(roots, [spelling], closing) == [PathWatch(roots.first, watched)]


@pytest.mark.parametrize("path", ["a", "\0", "x" * 5000, "a/f/below"])
def test_what_is_no_file_is_not_watched(root: Path, path: str) -> None:
    with Roots([str(root)]) as roots, ExitStack() as closing:
        assert watch_paths(roots, [path], closing) == []


def test_outside_the_roots(root: Path, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "f").touch()
    (tmp_path / "home").symlink_to("real")
    (root / "out").symlink_to(tmp_path / "home" / "f")
    with Roots([str(root)]) as roots, ExitStack() as closing:
        for path in (str(tmp_path / "home" / "f"), "out"):
            (watch,) = watch_paths(roots, [path], closing)
            assert isinstance(watch, PathWatch)
            assert (watch.root.real_path, watch.paths) == (str(tmp_path / "real"), ("f",))
        (watch,) = watch_paths(roots, [str(tmp_path / "x" / "y")], closing)
        assert isinstance(watch, PathWatch)
        assert (watch.root.real_path, watch.paths) == (str(tmp_path), ("x", "x/y"))


def test_directories_that_would_have_to_be_made(root: Path) -> None:
    with Roots([str(root)]) as roots:
        assert missing_parents(roots.first, ["f", "a/b/c/f", "x/y/f", "link/f"]) == {"a/b/c", "x", "x/y", "link"}
    assert sorted(os.listdir(root)) == ["a", "link"]
