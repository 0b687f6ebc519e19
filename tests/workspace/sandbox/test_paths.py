import os
from pathlib import Path

import pytest

from tejat.workspace.sandbox.paths import ancestors, program_files, program_tree


def test_ancestors() -> None:
    assert ancestors("/a/b/c/d", "/a") == ["/a/b", "/a/b/c"]
    assert ancestors("/a/b", "/a") == []
    assert ancestors("/a/b/c", "/") == ["/a", "/a/b"]
    assert ancestors("/a", "/") == []
    assert ancestors("/x/y", "/a") == []


def test_program_files_are_the_program_its_target_and_the_script(tmp_path: Path) -> None:
    top = os.path.realpath(tmp_path)
    for name in ("python", "server.py", "data"):
        Path(top, name).touch()
    Path(top, "bin").mkdir()
    Path(top, "bin", "python").symlink_to(f"{top}/python")
    found = program_files([f"{top}/bin/python", "-S", "server.py", "data"], top)
    assert found == (f"{top}/bin/python", f"{top}/server.py", f"{top}/python")
    assert program_files(["/none/such", "-c", "pass"], top) == ("/none/such",)


@pytest.mark.parametrize(
    ("program", "files", "tree"),
    [
        ("server", [], "server"),
        ("a/server", [], "a"),
        ("a/b/server", [], "a/b"),
        ("a/b/bin/server", [], "a/b"),
        ("bin/server", [], "bin"),
        ("a/b/c/server", ["a/pyproject.toml"], "a"),
        ("a/b/bin/python", ["a/.git", "a/b/pyvenv.cfg"], "a/b"),
        ("a/node_modules/b/dist/server", ["a/node_modules/b/package.json"], "a"),
        ("a/server", ["a/node_modules/b/x", "a/package.json"], "a"),
        ("server", ["pyproject.toml"], "server"),
    ],
)
def test_the_tree_of_a_program(tmp_path: Path, program: str, files: list[str], tree: str) -> None:
    for name in (program, *files):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert program_tree(f"{tmp_path}/{program}", str(tmp_path)) == f"{tmp_path}/{tree}"
