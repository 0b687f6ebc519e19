"""The commit of a task: found without writing to the repository, with a clear reason otherwise."""

import asyncio
import os
from pathlib import Path

import pytest

from support.batch_trees import task_of
from support.packages import commit_all, make_repository, run_git, write_tree
from tejat.batch.git.commit import resolve_commit
from tejat.batch.git.errors import RepositoryProblem
from tejat.batch.result import TaskFailure


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    make_repository(tmp_path / "repo", {"a.txt": "1\n", "sub/b.txt": "2\n", ".gitignore": "*.log\n"})
    return tmp_path / "repo"


def resolve(repo: Path | str, commit: str = "", *, allows_dirty: bool = False) -> str:
    return asyncio.run(resolve_commit(task_of(repo, commit, allows_dirty=allows_dirty)))


def problem(repo: Path | str, commit: str = "") -> RepositoryProblem:
    with pytest.raises(RepositoryProblem) as caught:
        resolve(repo, commit)
    return caught.value


@pytest.mark.parametrize("is_remote", [False, True])
def test_names_of_commits(repo: Path, is_remote: bool) -> None:
    first = run_git(repo, "rev-parse", "HEAD")
    run_git(repo, "tag", "-a", "v1", "-m", "one")
    run_git(repo, "checkout", "-q", "-b", "topic/next")
    write_tree(repo, {"a.txt": "2\n"})
    second = commit_all(repo)
    source = f"file://{repo}" if is_remote else repo
    assert resolve(source) == second
    assert resolve(source, "main") == first
    assert resolve(source, "v1") == first
    assert resolve(source, "topic/next") == second
    assert resolve(source, first) == first
    assert "'no-such'" in problem(source, "no-such").message


def test_abbreviated_commits(repo: Path) -> None:
    commit = run_git(repo, "rev-parse", "HEAD")
    assert resolve(repo, commit[:10]) == commit
    assert "full hash" in problem(f"file://{repo}", commit[:10]).message


@pytest.mark.parametrize("commit", ["--all", "a..b", "a b", "-", "x\n", "a:b", "^main"])
def test_names_that_are_none(repo: Path, commit: str) -> None:
    for source in (repo, f"file://{repo}"):
        found = problem(source, commit)
        assert found.failure is TaskFailure.REPOSITORY


def test_a_file_is_no_commit(repo: Path) -> None:
    assert "has no commit 'a.txt'" in problem(repo, "a.txt").message


class TestChanges:
    @pytest.mark.parametrize("change", ["modified", "staged", "deleted", "untracked"])
    def test_they_are_refused(self, repo: Path, change: str) -> None:
        commit = run_git(repo, "rev-parse", "HEAD")
        if change == "deleted":
            (repo / "a.txt").unlink()
        else:
            write_tree(repo, {"new.txt" if change == "untracked" else "a.txt": "x\n"})
        if change == "staged":
            run_git(repo, "add", "-A")
        found = problem(repo)
        assert found.failure is TaskFailure.DIRTY
        assert found.message.startswith(f"{repo} has 1 uncommitted change. Commit or stash it")
        assert "--allow-dirty" in found.message
        assert resolve(repo, allows_dirty=True) == resolve(repo, "HEAD") == commit

    def test_they_are_counted(self, repo: Path) -> None:
        write_tree(repo, {"a.txt": "x\n", "sub/b.txt": "x\n", "new\nline": "x"})
        assert "3 uncommitted changes" in problem(repo).message

    def test_ignored_files_and_times_are_no_changes(self, repo: Path) -> None:
        write_tree(repo, {"x.log": "x", "a.txt": "1\n"})
        os.utime(repo / "a.txt", ns=(1, 1))
        resolve(repo)

    def test_files_that_the_user_ignores(self, repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        write_tree(tmp_path, {"home/.config/git/ignore": "*.swp\n"})
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        write_tree(repo, {"x.swp": "x"})
        resolve(repo)


class TestOtherRepositories:
    def test_bare(self, repo: Path, tmp_path: Path) -> None:
        run_git(tmp_path, "clone", "-q", "--bare", str(repo), "bare.git")
        assert resolve(tmp_path / "bare.git") == run_git(repo, "rev-parse", "HEAD")

    def test_a_linked_working_tree(self, repo: Path, tmp_path: Path) -> None:
        run_git(repo, "worktree", "add", "-q", str(tmp_path / "linked"))
        write_tree(tmp_path / "linked", {"a.txt": "linked\n"})
        assert problem(tmp_path / "linked").failure is TaskFailure.DIRTY
        commit = commit_all(tmp_path / "linked")
        assert resolve(tmp_path / "linked") == commit != resolve(repo)

    def test_a_link_to_it(self, repo: Path, tmp_path: Path) -> None:
        (tmp_path / "link").symlink_to(repo)
        assert resolve(tmp_path / "link") == resolve(repo)

    def test_a_name_of_any_bytes(self, repo: Path, tmp_path: Path) -> None:
        odd = tmp_path / os.fsdecode(b"odd\n \xff")
        repo.rename(odd)
        assert resolve(odd) == run_git(odd, "rev-parse", "HEAD")

    def test_the_environment_is_not_used(self, repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        make_repository(tmp_path / "other", {"x": "x"})
        for name in ("GIT_DIR", "GIT_WORK_TREE"):
            monkeypatch.setenv(name, str(tmp_path / "other"))
        assert resolve(repo) == run_git(repo, "rev-parse", "HEAD")


class TestProblems:
    def test_missing(self, tmp_path: Path) -> None:
        assert problem(tmp_path / "none").message == f"{tmp_path / 'none'} does not exist."

    def test_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        assert "is not a directory" in problem(tmp_path / "file").message

    def test_no_repository(self, tmp_path: Path) -> None:
        assert "is not a git repository" in problem(tmp_path).message

    def test_no_commits(self, tmp_path: Path) -> None:
        for words in (("init", "-q", "empty"), ("init", "-q", "--bare", "bare.git")):
            run_git(tmp_path, *words)
            assert problem(tmp_path / words[-1]).message.endswith("has no commits yet.")
            assert problem(f"file://{tmp_path / words[-1]}").message.endswith("has no commits yet.")

    def test_a_subdirectory(self, repo: Path) -> None:
        message = problem(repo / "sub").message
        assert message == f"{repo / 'sub'} is a subdirectory of the repository {repo}. Use {repo}."

    def test_a_git_directory(self, repo: Path) -> None:
        assert "inside a git directory" in problem(repo / ".git").message

    def test_another_owner(self, repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
        monkeypatch.setattr("tejat.batch.git.environment._KEPT_GIT_PREFIXES", ("GIT_TEST_", "GIT_CONFIG_"))
        message = problem(repo).message
        assert "belongs to another user" in message
        assert f"git config --global --add safe.directory {repo}" in message

    def test_remotes(self, tmp_path: Path) -> None:
        found = problem(f"file://{tmp_path}/none")
        assert found.failure is TaskFailure.REPOSITORY
        assert "could not be fetched" in found.message
        found = problem("http://u:secret@127.0.0.1:1/x.git")
        assert found.failure is TaskFailure.SERVICE
        assert "secret" not in found.message

    def test_addresses_that_run_commands(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GIT_ALLOW_PROTOCOL", "ext:file")
        for address in (f"ext::touch {tmp_path}/marker", f"--upload-pack=touch {tmp_path}/marker"):
            problem(address)
            problem(address, "main")
        assert not (tmp_path / "marker").exists()


class TestTraps:
    @pytest.mark.parametrize("place", ["config", "include", "worktree"])
    def test_programs_of_the_repository(self, repo: Path, tmp_path: Path, place: str) -> None:
        trap = f"sh -c 'touch {tmp_path}/marker; cat'"
        write_tree(repo, {".gitattributes": "* filter=x.y\n"})
        commit_all(repo)
        settings = (
            f'[core]\n\tfsmonitor = "{trap}"\n\thooksPath = hooks\n[filter "x.y"]\n\tclean = "{trap}"\n\trequired\n'
        )
        if place == "config":
            with (repo / ".git/config").open("a") as file:
                file.write(settings)
        elif place == "include":
            write_tree(tmp_path, {"more": settings})
            run_git(repo, "config", "include.path", str(tmp_path / "more"))
        else:
            run_git(repo, "config", "extensions.worktreeConfig", "true")
            write_tree(repo, {".git/config.worktree": settings})
        write_tree(repo, {".git/hooks/post-index-change*": f"#!/bin/sh\n{trap}\n"})
        os.utime(repo / "a.txt", ns=(1, 1))
        resolve(repo)
        assert not (tmp_path / "marker").exists()
        run_git(repo, "status")
        assert (tmp_path / "marker").exists()
