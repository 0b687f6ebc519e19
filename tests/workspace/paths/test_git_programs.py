import os
import subprocess
from pathlib import Path

import pytest

from tejat.workspace.paths.git_programs import find_git_programs


def git(*words: str, cwd: Path) -> None:
    environment = {**os.environ, "HOME": str(cwd), "GIT_CONFIG_NOSYSTEM": "1"}
    identity = ["-c", "user.name=n", "-c", "user.email=n@x", "-c", "protocol.file.allow=always"]
    subprocess.run(["git", *identity, *words], cwd=cwd, env=environment, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "r"
    root.mkdir()
    git("init", "-q", cwd=root)
    git("commit", "-q", "--allow-empty", "-m", "one", cwd=root)
    return root


def test_an_ordinary_repository_has_none(repository: Path) -> None:
    git("config", "user.name", "n", cwd=repository)
    git("config", "core.fsmonitor", "x", cwd=repository)
    git("config", "remote.o.promisor", "true", cwd=repository)
    assert find_git_programs(str(repository)) == ()
    assert find_git_programs(str(repository / "sub")) == ()
    assert find_git_programs("/") == ()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('[diff "x"]\n\ttextconv = y', "textconv"),
        ('[diff "x"] textconv = y', "textconv"),
        ('[DIFF "x"]\n TextConv=y', "textconv"),
        ("[diff]external=y", "external"),
        ('[filter "x"]\r\n\tclean = y\r\n', "clean"),
        ('[filter "x"]\n\tprocess = y', "process"),
        ("[gpg]\n\tprogram = y", "program"),
        ("[include]\n\tpath = y", "path"),
        ("[core]\n\tworktree = /", "worktree"),
        ('[remote "o"]\n\tpromisor = true\n\turl = ext::sh\n', "ext::"),
    ],
)
def test_settings_that_run_programs(repository: Path, text: str, found: str) -> None:
    (repository / ".git" / "config").write_text(text, newline="")
    assert find_git_programs(str(repository)) == (found,)


def test_submodules_and_linked_working_trees_are_looked_at(repository: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git("init", "-q", cwd=other)
    git("commit", "-q", "--allow-empty", "-m", "one", cwd=other)
    git("submodule", "add", "-q", str(other), "sub", cwd=repository)
    assert find_git_programs(str(repository)) == ()
    git("config", "filter.x.clean", "y", cwd=repository / "sub")
    assert find_git_programs(str(repository)) == ("clean",)
    git("worktree", "add", "-q", str(tmp_path / "linked"), cwd=repository)
    git("config", "diff.external", "y", cwd=repository)
    assert find_git_programs(str(tmp_path / "linked")) == ("external",)


def test_a_huge_file_may_hold_anything(repository: Path) -> None:
    (repository / ".git" / "config").write_text("#" * 2_000_000)
    assert find_git_programs(str(repository)) == ("config",)
