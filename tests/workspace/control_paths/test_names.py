"""What counts as a control path, at every depth."""

import pytest

from tejat.workspace.control_paths.names import ControlNames

NAMES = ControlNames([".git/config", ".git/hooks", ".git/info/attributes", ".vscode", ".cargo/config", ".envrc"])


def test_names_by_where_they_count() -> None:
    assert NAMES.in_git == ("config", "hooks", "info/attributes")
    assert NAMES.by_first_name == {".vscode": (".vscode",), ".cargo": (".cargo/config",), ".envrc": (".envrc",)}


@pytest.mark.parametrize(
    "path",
    [
        ".git/config",
        "a/b/.git/hooks/pre-commit",
        "a/.vscode",
        "a/.vscode/tasks.json",
        "a/.cargo/config",
        ".envrc",
        "a/.git",  # a file: it names a repository
        "a/HEAD",
        "a/commondir",
    ],
)
def test_control_paths(path: str) -> None:
    assert NAMES.matches(path, is_directory=False)


@pytest.mark.parametrize("path", ["a", "a/config", ".git/index", "a/.git/HEAD", "a/.vscode2/x", "a/.cargo/bin/x"])
def test_others(path: str) -> None:
    assert not NAMES.matches(path, is_directory=False)


@pytest.mark.parametrize("path", ["a/.git", "a/HEAD"])
def test_directories_that_matter_only_by_their_contents(path: str) -> None:
    assert not NAMES.matches(path, is_directory=True)
