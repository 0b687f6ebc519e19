"""Paths that the configuration of a real repository names."""

import subprocess
from pathlib import Path

import pytest

from tejat.workspace.control_paths.git_config import configured_paths


@pytest.fixture
def work_tree(tmp_path: Path) -> Path:
    work_tree = tmp_path.resolve() / "work tree"
    for name in ("hooks", 'od"d #\\x', "sub/hooks"):
        (work_tree / name).mkdir(parents=True)
    (work_tree / "gitconfig").touch()
    (tmp_path / "outside").mkdir()
    subprocess.run(["git", "init", "-q", work_tree], check=True)
    return work_tree


def configured(work_tree: Path, key: str, value: str) -> list[str]:
    subprocess.run(["git", "-C", work_tree, "config", key, value], check=True)
    found = configured_paths(str(work_tree / ".git"))
    assert all(Path(path).is_relative_to(work_tree) for path in found)
    return [str(Path(path).relative_to(work_tree)) for path in found]


@pytest.mark.parametrize(
    ("key", "value", "found"),
    [
        ("core.hooksPath", "hooks", ["hooks"]),
        ("core.hooksPath", "./sub/../hooks/", ["hooks"]),
        ("core.hooksPath", 'od"d #\\x', ['od"d #\\x']),
        ("core.hooksPath", "{work_tree}/sub/hooks", ["sub/hooks"]),
        ("include.path", "../gitconfig", ["gitconfig"]),
        ("includeIf.gitdir:/x.path", "../gitconfig", ["gitconfig"]),
        ("core.hooksPath", "missing", []),
        ("core.hooksPath", "../outside", []),
        ("core.hooksPath", ".", []),
        ("core.hooksPath", "..", []),
        ("core.editor", "hooks", []),
    ],
)
def test_what_it_names(work_tree: Path, key: str, value: str, found: list[str]) -> None:
    assert configured(work_tree, key, value.format(work_tree=work_tree)) == found


def test_written_by_hand(work_tree: Path) -> None:
    (work_tree / ".git" / "config").write_text(
        '[core] HooksPath = "hooks" ; mine\n[include]\n\tpath=../gitconfig # x\n'
    )
    assert configured_paths(str(work_tree / ".git")) == (str(work_tree / "hooks"), str(work_tree / "gitconfig"))


def test_without_a_configuration(tmp_path: Path) -> None:
    assert configured_paths(str(tmp_path / "none")) == ()
