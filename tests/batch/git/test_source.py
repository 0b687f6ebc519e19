"""Sources of mirrors: copies and fetches, also from servers that only send branches."""

import asyncio
import os
from pathlib import Path

import pytest

from support.packages import commit_all, make_repository, run_git, write_tree
from tejat.batch.git.errors import RepositoryProblem
from tejat.batch.git.source import MirrorSource, has_commit, remove


def test_copies_share_no_files(tmp_path: Path) -> None:
    commit = make_repository(tmp_path / "repo", {"a": "1"})
    asyncio.run(MirrorSource(str(tmp_path / "repo"), commit).create(str(tmp_path / "m"), ()))
    assert {path.stat().st_nlink for path in (tmp_path / "repo/.git/objects").rglob("*") if path.is_file()} == {1}
    assert "remote" not in (tmp_path / "m/config").read_text()
    assert not (tmp_path / "m/hooks").exists()


@pytest.mark.parametrize("is_reachable", [True, False])
def test_an_old_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_reachable: bool) -> None:
    make_repository(tmp_path / "repo", {"a": "1"})
    old = run_git(tmp_path / "repo", "rev-parse", "HEAD")
    write_tree(tmp_path / "repo", {"a": "2"})
    commit_all(tmp_path / "repo")
    if not is_reachable:
        run_git(tmp_path / "repo", "checkout", "-q", "--detach")
        write_tree(tmp_path / "repo", {"a": "3"})
        old = commit_all(tmp_path / "repo")
        run_git(tmp_path / "repo", "checkout", "-q", "main")
    settings = [("protocol.version", "0")]
    monkeypatch.setattr("tejat.batch.git.environment._FETCH_SETTINGS", settings)
    source = MirrorSource(f"file://{tmp_path}/repo", old)
    if not is_reachable:
        with pytest.raises(RepositoryProblem, match="has no commit"):
            asyncio.run(source.create(str(tmp_path / "m"), ()))
        return
    asyncio.run(source.create(str(tmp_path / "m"), ()))
    assert asyncio.run(has_commit(str(tmp_path / "m"), old))


def test_packs_that_change_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy may lack what the user's git moved into another pack, so the commit is fetched instead."""
    commit = make_repository(tmp_path / "repo", {"a": "1"})
    names = iter(({"one"}, {"other"}))
    monkeypatch.setattr("tejat.batch.git.source._packs", lambda _repo: next(names))
    asyncio.run(MirrorSource(str(tmp_path / "repo"), commit).create(str(tmp_path / "m"), ()))
    assert run_git(tmp_path / "m", "rev-list", commit) == commit
    assert len(list((tmp_path / "m/objects/pack").glob("*.pack"))) == 1


def test_remove(tmp_path: Path) -> None:
    write_tree(tmp_path, {"d/e/f": "x"})
    os.chmod(tmp_path / "d/e", 0o500)
    remove(str(tmp_path / "d"))
    remove(str(tmp_path / "d"))
    assert not (tmp_path / "d").exists()
