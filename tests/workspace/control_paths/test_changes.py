"""Control paths that appear or change."""

import shutil
from pathlib import Path

import pytest

from tejat.workspace.control_paths.changes import ControlPathChanges, ControlPathWatch
from tejat.workspace.control_paths.names import ControlNames
from tejat.workspace.control_paths.search import ControlPathSearch

NAMES = ControlNames([".git/config", ".git/hooks", ".vscode", ".envrc"])


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "root"
    for name in ("sub/.git/hooks", "sub/.git/modules", "a/b"):
        (root / name).mkdir(parents=True)
    (root / "sub" / ".git" / "config").write_text("x")
    (root / "sub" / ".git" / "hooks" / "pre-commit").write_text("x")
    return root


def watch(root: Path, *unprotected: str, limit: int = 1000) -> ControlPathWatch:
    search = ControlPathSearch(NAMES, limit=limit)
    paths = [str(root / name) for name in unprotected]
    return ControlPathWatch(search.run([str(root)]), paths, lambda: search.run([str(root)]))


def test_nothing(root: Path) -> None:
    watched = watch(root, "sub/.git/config", "sub/.git/hooks", "a/.envrc")
    (root / "a" / "file").touch()
    assert (root / "sub" / ".git" / "config").read_text() == "x"
    assert watched.find_changes() == ControlPathChanges()
    assert not watched.find_changes()


def test_new_ones_by_the_outermost_and_without_placeholders(root: Path) -> None:
    watched = watch(root)
    for name in ("a/.vscode", "a/b/.git/hooks", "a/b/.vscode", "a/b/inner/.git/hooks"):
        (root / name).mkdir(parents=True)
    (root / "a" / ".envrc").touch()
    (root / "a" / "b" / ".vscode" / "tasks.json").touch()
    assert watched.find_changes().created == tuple(
        str(root / name) for name in ("a/.envrc", "a/b/.git", "a/b/.vscode", "a/b/inner/.git")
    )


def test_what_is_gone_is_no_change(root: Path) -> None:
    watched = watch(root, "sub/.git/config", "sub/.git/hooks")
    shutil.rmtree(root / "sub")
    assert not watched.find_changes()


@pytest.mark.parametrize("deed", ["write", "append", "replace", "add", "link", "chmod"])
def test_changes_of_what_is_not_protected(root: Path, deed: str) -> None:
    git = root / "sub" / ".git"
    watched = watch(root, "sub/.git/config", "sub/.git/hooks", "sub/.git/modules")
    match deed:
        case "write":
            (git / "config").write_text("y")
        case "append":
            (git / "hooks" / "pre-commit").write_text("xy")
        case "replace":
            (root / "a" / "new").write_text("x")
            (root / "a" / "new").rename(git / "config")
        case "add":
            (git / "hooks" / "post-commit").write_text("x")
        case "link":
            (git / "hooks").rename(root / "a" / "hooks")
            (git / "hooks").symlink_to(root / "a" / "hooks")
        case _:
            (git / "hooks" / "pre-commit").chmod(0o755)
    path = git / ("config" if deed in ("write", "replace") else "hooks")
    assert watched.find_changes() == ControlPathChanges(changed=(str(path),))


def test_what_every_commit_in_a_submodule_changes_is_no_change(root: Path) -> None:
    watched = watch(root, "sub/.git/modules")
    (root / "sub" / ".git" / "modules" / "x").mkdir()
    (root / "sub" / ".git" / "modules" / "x" / "index").touch()
    assert not watched.find_changes()


def test_an_incomplete_search_is_said(root: Path) -> None:
    assert watch(root, limit=2).find_changes() == ControlPathChanges(is_complete=False)
