"""Repositories of the tasks: clean, the same each time, without anything that decides."""

import os
import subprocess
from pathlib import Path

import pytest
from bench.tasks.case import load_cases
from bench.tasks.repository import create_repository

CASES = {case.id: case for case in load_cases()}


def git(path: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=path, check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.parametrize("name", CASES)
def test_repository(name: str, tmp_path: Path) -> None:
    path = tmp_path / "repository"
    create_repository(CASES[name], path)
    assert git(path, "status", "--porcelain") == ""
    names = git(path, "ls-files").splitlines()
    assert len(names) >= 2
    assert not {"check.py", "script.toml", "task.toml", "setup.py"} & set(names)
    text = "".join(
        (path / each).read_text(encoding="utf-8") for each in names if (path / each).suffix in (".py", ".md", ".toml")
    )
    assert (CASES[name].folder / "check.py").read_text(encoding="utf-8").splitlines()[0] not in text


@pytest.mark.parametrize("name", ["01-failing-test", "13-merge"])
def test_the_same_commits_each_time(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    create_repository(CASES[name], tmp_path / "first")
    (tmp_path / ".gitconfig").write_text("[core]\nautocrlf = true\n[user]\nname = Other\n", encoding="utf-8")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Other")
    create_repository(CASES[name], tmp_path / "second")
    first, second = (git(tmp_path / each, "rev-parse", "HEAD") for each in ("first", "second"))
    assert first == second


def test_bytes_are_kept(tmp_path: Path) -> None:
    case = CASES["04-bytes"]
    create_repository(case, tmp_path / "repository")
    subprocess.run(
        ["git", "clone", "-q", "-c", "core.autocrlf=true", str(tmp_path / "repository"), str(tmp_path / "clone")],
        check=True,
    )
    for name in ("config/station.ini", "config/labels.csv"):
        content = (tmp_path / "clone" / name).read_bytes()
        assert content == (case.files / name).read_bytes()
        assert b"\r\n" in content


def test_history_of_the_merge(tmp_path: Path) -> None:
    create_repository(CASES["13-merge"], tmp_path / "repository")
    assert len(git(tmp_path / "repository", "log", "-1", "--format=%P").split()) == 2
    assert "<<<<<<<" in git(tmp_path / "repository", "show", "HEAD:shop/pricing.py")


def test_an_existing_repository_stays_and_a_partial_one_is_made_again(tmp_path: Path) -> None:
    case, path = CASES["01-failing-test"], tmp_path / "repository"
    create_repository(case, path)
    kept = path / "kept.txt"
    kept.touch()
    create_repository(case, path)
    assert kept.exists()
    os.remove(path / ".git" / "complete")
    create_repository(case, path)
    assert not kept.exists()
