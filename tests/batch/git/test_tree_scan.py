"""What is found in the tree of an agent, and what is hidden from git."""

import os
from pathlib import Path

import pytest

from support.packages import write_tree
from tejat.batch.git.tree_scan import MAX_FILE_BYTES, HiddenRepositories, ScannedTree, scan_tree
from tejat.workspace.threads.stop import StopRequested, StopToken, never_stop


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "tree", {".git/HEAD": "x", "a": "x", "d/b": "x"})


@pytest.fixture
def hidden(tmp_path: Path) -> HiddenRepositories:
    return HiddenRepositories(str(tmp_path / "aside"))


def test_nothing_special(tree: Path, hidden: HiddenRepositories) -> None:
    assert scan_tree(str(tree), hidden, never_stop) == ScannedTree()
    assert (tree / ".git/HEAD").exists()


def test_nested_repositories(tree: Path, hidden: HiddenRepositories) -> None:
    write_tree(tree, {"d/.git/HEAD": "1", "d/e/.git": "gitdir: /x\n", ".git/modules/m/.git/HEAD": "2"})
    (tree / "f").mkdir()
    (tree / "f/.git").symlink_to("/etc")
    found = scan_tree(str(tree), hidden, never_stop)
    assert found.repositories == (b"d", b"d/e", b"f")
    assert not any((tree / name / ".git").is_symlink() or (tree / name / ".git").exists() for name in ("d", "d/e", "f"))
    assert (tree / ".git/modules/m/.git/HEAD").exists()
    hidden.restore()
    hidden.restore()
    assert (tree / "d/.git/HEAD").read_text() == "1"
    assert (tree / "d/e/.git").is_file()
    assert os.readlink(tree / "f/.git") == "/etc"


def test_a_locked_repository(tree: Path, hidden: HiddenRepositories) -> None:
    write_tree(tree, {"d/.git/HEAD": "1"})
    (tree / "d/.git").chmod(0)
    (tree / "d").chmod(0o500)
    assert scan_tree(str(tree), hidden, never_stop).repositories == (b"d",)
    assert not (tree / "d/.git").exists()


def test_files(tree: Path, hidden: HiddenRepositories) -> None:
    for name in ("pipe", ".gitignore", "d/.gitattributes"):
        os.mkfifo(tree / name)
    for name, size in (("large", MAX_FILE_BYTES + 1), ("limit", MAX_FILE_BYTES)):
        with (tree / name).open("wb") as file:
            file.truncate(size)
    (tree / "link").symlink_to("large")
    (tree / "up").symlink_to("..")
    found = scan_tree(str(tree), hidden, never_stop)
    assert found.special_files == (b".gitignore", b"d/.gitattributes", b"pipe")
    assert found.large_files == (b"large",)
    assert not (tree / ".gitignore").exists()
    assert (tree / "pipe").exists()


def test_a_directory_that_cannot_be_read(tree: Path, hidden: HiddenRepositories) -> None:
    (tree / "d").chmod(0)
    found = scan_tree(str(tree), hidden, never_stop)
    (tree / "d").chmod(0o700)
    assert found.unreadable == ((b"d",) if os.geteuid() else ())


def test_it_stops(tree: Path, hidden: HiddenRepositories) -> None:
    stop = StopToken()
    stop.request_stop()
    with pytest.raises(StopRequested):
        scan_tree(str(tree), hidden, stop)
