"""The files that decide about ignoring are found where git finds them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tejat.workspace.helper_program import find_program
from tejat.workspace.paths.git_repository import GitRepository, current_branch, find_git_repository
from tejat.workspace.paths.ignore_rules import IgnoreRules, IgnoreStatus


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "home"
    path.mkdir()
    monkeypatch.setenv("HOME", str(path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return path


def git(top: Path, *arguments: str) -> None:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": os.environ["HOME"],
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
    }
    identity = ("-c", "user.name=n", "-c", "user.email=e@e", "-c", "protocol.file.allow=always")
    subprocess.run(["git", "-C", str(top), *identity, *arguments], env=environment, check=True, capture_output=True)


@pytest.fixture
def top(tmp_path: Path) -> Path:
    path = tmp_path / "top"
    path.mkdir()
    git(path, "init", "-q")
    return path


def test_an_ordinary_repository_from_any_depth(top: Path, home: Path) -> None:
    (top / "a" / "b").mkdir(parents=True)
    expected = GitRepository(
        work_tree=str(top),
        index_path=str(top / ".git" / "index"),
        exclude_path=str(top / ".git" / "info" / "exclude"),
        user_excludes_path=str(home / ".config" / "git" / "ignore"),
    )
    assert find_git_repository(str(top)) == expected
    assert find_git_repository(str(top / "a" / "b")) == expected


def test_no_repository(tmp_path: Path) -> None:
    # Whatever lies above the tests' own directory is not of this test's making.
    above = tmp_path
    while above != above.parent:
        assert not (above / ".git").exists()
        above = above.parent
    assert find_git_repository(str(tmp_path)) is None


def test_a_linked_working_tree(top: Path, tmp_path: Path) -> None:
    git(top, "commit", "-q", "--allow-empty", "-m", "first")
    linked = tmp_path / "linked"
    git(top, "worktree", "add", "-q", str(linked))
    (top / ".git" / "info").mkdir(exist_ok=True)
    (top / ".git" / "info" / "exclude").write_text("excluded\n*.o\n")
    (linked / "tracked.o").touch()
    git(linked, "add", "-f", "tracked.o")
    found = find_git_repository(str(linked))
    assert found is not None
    assert os.path.realpath(found.exclude_path) == os.path.realpath(top / ".git" / "info" / "exclude")
    assert os.path.samefile(found.index_path, top / ".git" / "worktrees" / "linked" / "index")
    rules = IgnoreRules(str(linked), git=True, gemini=False)
    names = ("excluded", "tracked.o", "other.o", ".git")
    assert [rules.check(name, is_directory=False) for name in names] == [
        IgnoreStatus.GIT,
        IgnoreStatus.NOT_IGNORED,
        IgnoreStatus.GIT,
        IgnoreStatus.GIT,
    ]


def test_a_submodule(top: Path, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    git(inner, "init", "-q")
    git(inner, "commit", "-q", "--allow-empty", "-m", "first")
    git(top, "submodule", "--quiet", "add", str(inner), "sub")
    found = find_git_repository(str(top / "sub"))
    assert found is not None
    assert found.work_tree == str(top / "sub")
    assert os.path.realpath(found.index_path) == os.path.realpath(top / ".git" / "modules" / "sub" / "index")


@pytest.mark.parametrize("content", [b"", b"nonsense", b"gitdir: /nowhere/at/all\n", b"gitdir:" + b"x" * 100_000])
def test_a_broken_pointer_still_marks_the_top(tmp_path: Path, content: bytes) -> None:
    (tmp_path / ".git").write_bytes(content)
    (tmp_path / ".gitignore").write_text("a\n")
    rules = IgnoreRules(str(tmp_path), git=True, gemini=False)
    assert [rules.check(name, is_directory=False) for name in ("a", "b")] == [
        IgnoreStatus.GIT,
        IgnoreStatus.NOT_IGNORED,
    ]


class TestUserExcludes:
    def excludes(self, top: Path) -> str | None:
        found = find_git_repository(str(top))
        assert found is not None
        return found.user_excludes_path

    def test_settings_directory(self, top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("XDG_CONFIG_HOME", "/settings")
        assert self.excludes(top) == "/settings/git/ignore"
        monkeypatch.delenv("XDG_CONFIG_HOME")
        monkeypatch.delenv("HOME")
        assert self.excludes(top) is None

    def test_from_the_users_configuration_and_changes_are_seen(self, top: Path, home: Path) -> None:
        assert self.excludes(top) == str(home / ".config" / "git" / "ignore")
        (home / ".gitconfig").write_text("[core]\n\texcludesFile = ~/mine\n")
        assert self.excludes(top) == str(home / "mine")
        (home / ".gitconfig").write_text("[core]\n\texcludesFile = /somewhere/else\n")
        assert self.excludes(top) == "/somewhere/else"
        git(top, "config", "core.excludesFile", "relative")
        assert self.excludes(top) == str(top / "relative")
        git(top, "config", "core.excludesFile", "")
        assert self.excludes(top) is None

    def test_without_git(self, top: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (home / ".gitconfig").write_text("[core]\n\texcludesFile = ~/unseen\n")
        monkeypatch.setenv("PATH", str(tmp_path))
        find_program.cache_clear()
        try:
            assert self.excludes(top) == str(home / ".config" / "git" / "ignore")
        finally:
            find_program.cache_clear()

    def test_from_a_file_that_the_configuration_includes(self, top: Path, home: Path) -> None:
        (home / "more").write_text("[core]\n\texcludesFile = ~/theirs\n")
        (home / ".gitconfig").write_text("[INCLUDE]\n\tpath = more\n")
        assert self.excludes(top) == str(home / "theirs")

    def test_at_the_end_of_a_long_configuration(self, top: Path, home: Path) -> None:
        filling = "# nothing to be seen here\n" * 20_000
        (home / ".config" / "git").mkdir(parents=True)
        (home / ".config" / "git" / "config").write_text(f"{filling}[core]\n\texcludesFile = ~/late\n")
        assert self.excludes(top) == str(home / "late")

    @pytest.mark.skipif(sys.platform == "darwin", reason="git of Apple is always asked")
    def test_git_is_not_started_for_what_is_not_configured(
        self, top: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        answer = tmp_path / "bin" / "git"
        answer.parent.mkdir()
        answer.write_text("#!/bin/sh\nprintf '/by/git\\0'\n")
        answer.chmod(0o755)
        monkeypatch.setenv("PATH", str(answer.parent))
        find_program.cache_clear()
        try:
            assert self.excludes(top) == str(home / ".config" / "git" / "ignore")
            (home / ".gitconfig").write_text("[Core] EXCLUDESFILE=x\n")
            assert self.excludes(top) == "/by/git"
            (home / ".gitconfig").unlink()
            (tmp_path / "etc").mkdir()
            (tmp_path / "etc" / "gitconfig").write_text("[core]\n\texcludesFile = x\n")
            (top / ".git" / "config").write_text("[core]\n")
            assert self.excludes(top) == "/by/git"
        finally:
            find_program.cache_clear()

    def test_a_broken_configuration(self, top: Path, home: Path) -> None:
        (top / ".git" / "config").write_text("[core\n")
        assert self.excludes(top) == str(home / ".config" / "git" / "ignore")

    def test_a_repository_cannot_run_anything(self, top: Path, tmp_path: Path) -> None:
        mark = tmp_path / "mark"
        hook = top / ".git" / "hooks" / "post-index-change"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {mark}\n")
        hook.chmod(0o755)
        for key in ("core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "alias.config"):
            git(top, "config", key, f"!touch {mark}" if key == "alias.config" else f"touch {mark}")
        (top / "a.o").touch()
        (top / ".gitignore").write_text("*.o\n")
        rules = IgnoreRules(str(top), git=True, gemini=True)
        assert rules.check("a.o", is_directory=False) is IgnoreStatus.GIT
        assert not mark.exists()


class TestBranch:
    def test_of_a_directory_in_the_tree(self, top: Path) -> None:
        git(top, "checkout", "-q", "-b", "topic/one")
        inner = top / "a" / "b"
        inner.mkdir(parents=True)
        assert (current_branch(str(top)), current_branch(str(inner))) == ("topic/one", "topic/one")

    def test_of_a_commit_by_itself(self, top: Path) -> None:
        git(top, "commit", "-q", "--allow-empty", "-m", "one")
        git(top, "checkout", "-q", "--detach")
        asked = ["git", "-C", str(top), "rev-parse", "HEAD"]
        commit = subprocess.run(asked, check=True, capture_output=True, text=True).stdout
        assert current_branch(str(top)) == commit[:7]

    def test_of_another_working_tree(self, top: Path, tmp_path: Path) -> None:
        git(top, "commit", "-q", "--allow-empty", "-m", "one")
        git(top, "worktree", "add", "-q", "-b", "other", str(tmp_path / "tree"))
        assert current_branch(str(tmp_path / "tree")) == "other"

    def test_where_there_is_none(self, tmp_path: Path) -> None:
        (tmp_path / "empty" / ".git").mkdir(parents=True)
        (tmp_path / "strange" / ".git").mkdir(parents=True)
        (tmp_path / "strange" / ".git" / "HEAD").write_bytes(b"\xff\x1b[31m")
        places = [tmp_path / "home", tmp_path / "empty", tmp_path / "strange", tmp_path / "missing"]
        assert [current_branch(str(place)) for place in places] == [""] * 4
