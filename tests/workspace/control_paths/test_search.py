"""Control paths in real trees, with real repositories."""

import os
import subprocess
import tempfile
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from tejat.policy.control_files import control_paths
from tejat.workspace.control_paths.names import ControlNames
from tejat.workspace.control_paths.search import ControlPathSearch, FoundControlPaths

NAMES = ControlNames([path for path, _ in control_paths()])
NO_USER = 65534
SECOND = 1_000_000_000


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "root"
    root.mkdir()
    return root


def git(directory: Path, *words: str) -> None:
    identity = ("-c", "user.name=x", "-c", "user.email=x", "-c", "protocol.file.allow=always")
    subprocess.run(["git", "-C", directory, *identity, *words], check=True, capture_output=True)


def search(root: Path, *, limit: int = 1000) -> FoundControlPaths:
    return ControlPathSearch(NAMES, limit=limit).run([str(root)])


def relative(root: Path, paths: tuple[str, ...]) -> list[str]:
    return [os.path.relpath(path, root) for path in paths]


def test_repositories_of_every_kind(root: Path) -> None:
    for name in (".", "a/b", "bare.git"):
        (root / name).mkdir(parents=True, exist_ok=True)
        git(root / name, "init", "-q", *(["--bare"] if name == "bare.git" else []))
    git(root / "a" / "b", "commit", "-q", "--allow-empty", "-m", "x")
    git(root, "commit", "-q", "--allow-empty", "-m", "x")
    git(root, "submodule", "add", "-q", str(root / "a" / "b"), "module")
    git(root, "worktree", "add", "-q", "tree")
    found = search(root)
    assert relative(root, found.git_directories) == [
        ".git",
        "bare.git",
        "a/b/.git",
        ".git/modules/module",
        ".git/worktrees/tree",
    ]
    assert sorted(relative(root, found.paths)) == [".gitmodules", "module/.git", "tree/.git"]
    assert found.is_complete


def test_other_control_paths(root: Path) -> None:
    for name in ("a/.vscode", "a/b/.github/workflows", "a/b/.github/other", "a/.cargo", "node_modules/x/.vscode"):
        (root / name).mkdir(parents=True)
    (root / "a" / ".vscode" / "tasks.json").touch()
    (root / "a" / "b" / ".envrc").symlink_to("nowhere")
    (root / "outside").symlink_to("/")
    found = search(root)
    assert found.git_directories == ()
    assert sorted(relative(root, found.paths)) == ["a/.vscode", "a/b/.envrc", "a/b/.github/workflows"]


def test_a_directory_that_looks_like_a_repository_is_still_searched(root: Path) -> None:
    for name in ("a/objects/b/.git", "a/refs"):
        (root / name).mkdir(parents=True)
    (root / "a" / "HEAD").touch()
    assert relative(root, search(root).git_directories) == ["a", "a/objects/b/.git"]


@pytest.fixture
def root_of_a_user() -> Generator[Path]:
    """A root of an ordinary user, who is this one until the test ends: the superuser can read everything."""
    with tempfile.TemporaryDirectory(prefix="search-", dir="/var/tmp") as directory:
        root = Path(directory).resolve() / "root"
        (root / "a" / "b" / ".git").mkdir(parents=True)
        user = os.geteuid() or NO_USER
        for path in (directory, root, *root.rglob("*")):
            os.chown(path, user, -1)
        before = os.geteuid()
        os.seteuid(user)
        try:
            yield root
        finally:
            (root / "a" / "b").chmod(0o700)
            os.seteuid(before)


@pytest.mark.parametrize("mode", [0o000, 0o400])
def test_a_directory_that_was_made_unreadable_counts_as_a_whole(root_of_a_user: Path, mode: int) -> None:
    (root_of_a_user / "a" / "b").chmod(mode)
    found = search(root_of_a_user)
    assert (found.paths, relative(root_of_a_user, found.unreadable)) == ((), ["a/b"])


def test_outer_directories_come_first_and_there_is_a_limit(root: Path) -> None:
    for name in ("a/b/c/.vscode", "z/.vscode"):
        (root / name).mkdir(parents=True)
    found = search(root, limit=3)
    assert (relative(root, found.paths), found.is_complete) == (["z/.vscode"], False)


def test_roots_in_roots(root: Path) -> None:
    (root / "a" / ".vscode").mkdir(parents=True)
    found = ControlPathSearch(NAMES).run([str(root), str(root / "a"), str(root / "missing")])
    assert relative(root, found.paths) == ["a/.vscode"]


class TestAgain:
    """A directory that has not changed is not read again, and none that has is missed."""

    def age(self, root: Path) -> None:
        """Wait until the time stamps of all directories are old. They cannot be set: only the kernel does that."""
        newest = max(os.lstat(path).st_ctime_ns for path, _, _ in os.walk(root))
        time.sleep(max(0, (newest + 2 * SECOND - time.time_ns()) / SECOND) + 0.05)

    def test_changes_at_once_and_later(self, root: Path) -> None:
        (root / "a" / "b").mkdir(parents=True)
        remembering = ControlPathSearch(NAMES)
        for name in ("a/.vscode", "a/b/.idea", "a/b/.envrc"):
            assert str(root / name) not in remembering.run([str(root)]).paths
            (root / name).mkdir()
            assert str(root / name) in remembering.run([str(root)]).paths
        self.age(root)
        assert len(remembering.run([str(root)]).paths) == 3
        (root / "a" / "b" / ".idea").rmdir()
        (root / "a" / "b" / ".git").mkdir()
        found = remembering.run([str(root)])
        assert relative(root, found.git_directories) == ["a/b/.git"]
        assert sorted(relative(root, found.paths)) == ["a/.vscode", "a/b/.envrc"]

    def test_a_directory_that_took_the_place_of_another(self, root: Path) -> None:
        (root / "a" / "b").mkdir(parents=True)
        (root / "c" / ".vscode").mkdir(parents=True)
        self.age(root)
        remembering = ControlPathSearch(NAMES)
        assert relative(root, remembering.run([str(root)]).paths) == ["c/.vscode"]
        (root / "a" / "b").rename(root / "old")
        (root / "c").rename(root / "a" / "b")
        assert relative(root, remembering.run([str(root)]).paths) == ["a/b/.vscode"]
