"""Git directories written by hand are valid ones."""

import os
from pathlib import Path

import pytest

from support.packages import make_repository, run_git
from tejat.batch.git.git_directory import (
    open_output,
    read_file,
    read_shallow,
    write_config,
    write_file,
    write_git_directory,
)


@pytest.mark.parametrize("name", ["plain", "new\nline", '"quoted"', "#comment", "back\\slash"])
def test_objects_elsewhere(tmp_path: Path, name: str) -> None:
    commit = make_repository(tmp_path / name, {"a": "1"})
    path = tmp_path / "tree/.git"
    write_git_directory(str(path), commit=commit, objects=str(tmp_path / name / ".git/objects"))
    assert run_git(tmp_path / "tree", "rev-parse", "HEAD") == commit
    assert run_git(tmp_path / "tree", "ls-tree", "--name-only", "HEAD") == "a"
    assert run_git(tmp_path / "tree", "rev-parse", "--is-bare-repository") == "false"


@pytest.mark.parametrize(("length", "expected"), [(40, "sha1"), (64, "sha256")])
def test_bare(tmp_path: Path, length: int, expected: str) -> None:
    write_git_directory(str(tmp_path / "bare"), commit="1" * length, is_bare=True)
    assert (
        run_git(tmp_path / "bare", "rev-parse", "--is-bare-repository", "--show-object-format") == f"true\n{expected}"
    )
    assert run_git(tmp_path / "bare", "for-each-ref") == ""


def test_an_existing_directory(tmp_path: Path) -> None:
    write_git_directory(str(tmp_path / "x"), commit="1" * 40)
    with pytest.raises(FileExistsError):
        write_git_directory(str(tmp_path / "x"), commit="1" * 40)


def test_config_is_replaced(tmp_path: Path) -> None:
    run_git(tmp_path, "init", "-q", "--bare", "x")
    run_git(tmp_path / "x", "config", "a.b", "c")
    write_config(str(tmp_path / "x"), commit="1" * 40, is_bare=True)
    assert "a.b" not in run_git(tmp_path / "x", "config", "--list")


def test_shallow(tmp_path: Path) -> None:
    write_git_directory(str(tmp_path / "x"), commit="1" * 40, shallow=b"2\n")
    assert read_shallow(str(tmp_path / "x")) == b"2\n"
    assert read_shallow(str(tmp_path)) == b""


def test_files(tmp_path: Path) -> None:
    path = str(tmp_path / "x")
    assert read_file(path) == b""
    write_file(path, b"content")
    assert read_file(path) == b"content"
    with open_output(str(tmp_path)) as file:
        file.write(b"new")
        file.seek(0)
        assert file.read() == b"new"
    assert os.listdir(tmp_path) == ["x"]
