"""The user's repository: where it is, and how many changes it has."""

import asyncio
from pathlib import Path

import pytest

from support.packages import make_repository, run_git, write_tree
from tejat.batch.git.errors import RepositoryProblem
from tejat.batch.git.user_repository import count_changes, find_user_repository


def test_where_it_is(tmp_path: Path) -> None:
    commit = make_repository(tmp_path / "repo", {"a": "1"}, bare=tmp_path / "bare.git")
    found = asyncio.run(find_user_repository(str(tmp_path / "repo")))
    assert (found.git_directory, found.is_bare, found.commit) == (str(tmp_path / "repo/.git"), False, commit)
    found = asyncio.run(find_user_repository(str(tmp_path / "bare.git")))
    assert (found.git_directory, found.is_bare, found.commit) == (str(tmp_path / "bare.git"), True, commit)
    assert asyncio.run(find_user_repository(str(tmp_path / "repo"), "none")).commit == ""


def test_a_bare_one_that_the_user_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The user names it here, so it is explicit."""
    commit = make_repository(tmp_path / "repo", {"a": "1"}, bare=tmp_path / "bare.git")
    write_tree(tmp_path, {"settings": "[safe]\n\tbareRepository = explicit\n"})
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "settings"))
    assert asyncio.run(find_user_repository(str(tmp_path / "bare.git"))).commit == commit


def test_a_tree_elsewhere(tmp_path: Path) -> None:
    make_repository(tmp_path / "repo", {"a": "1"})
    (tmp_path / "other").mkdir()
    run_git(tmp_path / "repo", "config", "core.worktree", str(tmp_path / "other"))
    with pytest.raises(RepositoryProblem):
        asyncio.run(find_user_repository(str(tmp_path / "repo")))


def test_damaged(tmp_path: Path) -> None:
    make_repository(tmp_path / "repo", {"a": "1"})
    write_tree(tmp_path, {"repo/.git/config": "[core\n"})
    with pytest.raises(RepositoryProblem, match="cannot be used: fatal: bad config"):
        asyncio.run(find_user_repository(str(tmp_path / "repo")))


def test_changes(tmp_path: Path) -> None:
    make_repository(tmp_path / "repo", {"a": "1", "b": "1"})
    repository = asyncio.run(find_user_repository(str(tmp_path / "repo")))
    assert asyncio.run(count_changes(repository)) == 0
    write_tree(tmp_path / "repo", {"a": "2", "new/x": "1", "new/y": "1"})
    assert asyncio.run(count_changes(repository)) == 2
    write_tree(tmp_path / "repo", {".git/index": "damaged"})
    with pytest.raises(RepositoryProblem, match="cannot be used"):
        asyncio.run(count_changes(repository))
