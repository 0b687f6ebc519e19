"""Bundles: a commit with its history in one file."""

import asyncio
from pathlib import Path

import pytest

from support.packages import commit_all, make_repository, run_git, write_tree
from tejat.batch.git.bundle import export_commit, import_bundle
from tejat.batch.git.errors import RepositoryProblem
from tejat.batch.git.git_directory import write_git_directory


def test_there_and_back(tmp_path: Path) -> None:
    make_repository(tmp_path / "repo", {"a": "1"})
    write_tree(tmp_path / "repo", {"a": "2"})
    commit = commit_all(tmp_path / "repo")
    bundle = str(tmp_path / "bundle")
    asyncio.run(export_commit(str(tmp_path / "repo/.git"), commit, bundle))
    write_git_directory(str(tmp_path / "m"), commit=commit, is_bare=True)
    asyncio.run(import_bundle(bundle, str(tmp_path / "m"), shared_fds=()))
    assert len(run_git(tmp_path / "m", "rev-list", commit).split()) == 2
    run_git(tmp_path, "clone", "-q", "--bare", bundle, "by-git.git")


def test_a_missing_commit(tmp_path: Path) -> None:
    make_repository(tmp_path / "repo", {"a": "1"})
    with pytest.raises(RepositoryProblem, match="could not be bundled"):
        asyncio.run(export_commit(str(tmp_path / "repo/.git"), "1" * 40, str(tmp_path / "bundle")))


def test_missing_files(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        asyncio.run(import_bundle(str(tmp_path / "none"), str(tmp_path), shared_fds=()))
    with pytest.raises(FileNotFoundError):
        asyncio.run(export_commit(str(tmp_path), "1" * 40, str(tmp_path / "none/bundle")))
