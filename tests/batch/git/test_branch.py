"""Branches from patches: the user's working tree, index and hooks are left alone."""

import asyncio
import os
from pathlib import Path

import pytest

from support.batch_trees import BatchTree, contents, states
from support.packages import run_git, write_tree
from tejat.batch.git.branch import create_branch
from tejat.batch.git.errors import RepositoryProblem


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BatchTree:
    for name in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "EMAIL"):
        monkeypatch.delenv(name, raising=False)
    write_tree(
        tmp_path, {"gitconfig": "[user]\n\tname = Ada\n\temail = ada@example.org\n[apply]\n\twhitespace = fix\n"}
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    case = BatchTree(tmp_path)
    write_tree(case.tree, {"a.txt": "one \nthree\n", "new.bin": b"\0\1"})
    (case.tree / "src/b.bin").unlink()
    case.write_patch()
    return case


def create(case: BatchTree, branch: str = "tejat/task", repo: Path | None = None, commit: str = "") -> str:
    return asyncio.run(
        create_branch(
            str(repo or case.repo),
            commit=commit or case.commit,
            patch=case.task.patch,
            branch=branch,
            message="Fix it\n\nBody ü\n",
        )
    )


def problem(case: BatchTree, branch: str = "tejat/task", repo: Path | None = None, commit: str = "") -> str:
    with pytest.raises(RepositoryProblem) as caught:
        create(case, branch, repo, commit)
    return caught.value.message


def test_a_branch(case: BatchTree, tmp_path: Path) -> None:
    made = create(case)
    assert run_git(case.repo, "rev-parse", "tejat/task", "tejat/task^") == f"{made}\n{case.commit}"
    facts = run_git(case.repo, "log", "-1", "--format=%an <%ae>|%cn|%B", "tejat/task")
    assert facts == "Ada <ada@example.org>|Ada|Fix it\n\nBody ü"
    run_git(tmp_path, "clone", "-q", "-b", "tejat/task", str(case.repo), "clone")
    assert contents(tmp_path / "clone") == contents(case.tree)


def test_what_the_user_has_stays(case: BatchTree) -> None:
    write_tree(case.repo, {"a.txt": "mine\n", "untracked": "u\n"})
    run_git(case.repo, "add", "a.txt")
    (case.repo / ".git/index.lock").touch()
    before = {path: state for path, state in states(case.repo).items() if ".git" not in path}
    index = states(case.repo / ".git/index"), (case.repo / ".git/HEAD").read_text()
    create(case)
    assert {path: state for path, state in states(case.repo).items() if ".git" not in path} == before
    assert (states(case.repo / ".git/index"), (case.repo / ".git/HEAD").read_text()) == index


@pytest.mark.parametrize("kind", ["bare", "linked"])
def test_other_repositories(case: BatchTree, tmp_path: Path, kind: str) -> None:
    if kind == "bare":
        run_git(tmp_path, "clone", "-q", "--bare", str(case.repo), "other")
    else:
        run_git(case.repo, "worktree", "add", "-q", "--detach", str(tmp_path / "other"))
    made = create(case, repo=tmp_path / "other")
    assert run_git(tmp_path / "other", "rev-parse", "tejat/task") == made


def test_no_programs_run(case: BatchTree, tmp_path: Path) -> None:
    trap = f"sh -c 'touch {tmp_path}/marker; cat'"
    for name in (
        "reference-transaction",
        "pre-commit",
        "commit-msg",
        "post-commit",
        "post-index-change",
        "applypatch-msg",
    ):
        write_tree(case.repo / ".git/hooks", {f"{name}*": f"#!/bin/sh\n{trap}\n"})
    for key in ("core.fsmonitor", "filter.x.clean", "filter.x.smudge", "gpg.program", "core.editor"):
        run_git(case.repo, "config", key, trap)
    run_git(case.repo, "config", "commit.gpgSign", "true")
    write_tree(case.repo, {".git/info/attributes": "* filter=x\n"})
    create(case)
    assert not (tmp_path / "marker").exists()


def test_an_existing_branch(case: BatchTree) -> None:
    made = create(case)
    assert problem(case) == "Branch tejat/task already exists. Delete it, or choose another name."
    assert run_git(case.repo, "rev-parse", "tejat/task") == made
    assert "could not be created" in problem(case, "tejat/task/deeper")


@pytest.mark.parametrize("branch", ["", "-f", "a..b", "a b", "@{-1}", "a.lock", "/a", "x\ny"])
def test_bad_names(case: BatchTree, branch: str) -> None:
    assert "not a valid branch name" in problem(case, branch)


def test_no_identity(case: BatchTree, tmp_path: Path) -> None:
    write_tree(tmp_path, {"gitconfig": ""})
    assert "git config --global user.name" in problem(case)
    assert run_git(case.repo, "branch", "--list", "tejat/*") == ""


def test_the_identity_of_the_environment(case: BatchTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tree(tmp_path, {"gitconfig": ""})
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Bob")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "bob@example.org")
    create(case)
    assert run_git(case.repo, "log", "-1", "--format=%an", "tejat/task") == "Bob"


def test_other_problems(case: BatchTree, tmp_path: Path) -> None:
    assert "has no commit" in problem(case, commit="1" * 40)
    assert "does not exist" in problem(case, repo=tmp_path / "none")
    assert "subdirectory" in problem(case, repo=case.repo / "src")
    with pytest.raises(RepositoryProblem, match="is a URL"):
        asyncio.run(create_branch("https://h/x", commit="1" * 40, patch="", branch="b", message="m"))
    Path(case.task.patch).write_text(Path(case.task.patch).read_text().replace("two", "2wo"))
    assert "does not apply" in problem(case)
    os.unlink(case.task.patch)
    assert "does not apply" in problem(case)
