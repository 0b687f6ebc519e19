"""Paths in titles and questions."""

import pytest

from tejat.ui.shared.path_labels import shorten_path


@pytest.mark.parametrize(
    ("path", "folder", "label"),
    [
        ("/w/src/a.py", "/w", "src/a.py"),
        ("/w/src/a.py", "/w/", "src/a.py"),
        ("/w", "/w", "."),
        ("/wide/a", "/w", "/wide/a"),
        ("/home/ada/notes", "/w", "~/notes"),
        ("/home/ada", "/w", "~"),
        ("/home/adam/x", "/w", "/home/adam/x"),
        ("/home/ada/p/x", "/home/ada/p", "x"),
        ("/w/~/.bashrc", "/w", "./~/.bashrc"),
        ("/w/~root", "/w", "./~root"),
        ("/etc/passwd", "", "/etc/passwd"),
        ("/etc/passwd", "/", "etc/passwd"),
        ("relative", "/w", "relative"),
        ("", "/w", ""),
    ],
)
def test_relative_to_the_project_or_home(monkeypatch: pytest.MonkeyPatch, path: str, folder: str, label: str) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    assert shorten_path(path, folder=folder) == label


def test_a_home_that_is_the_root_shortens_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/")
    assert shorten_path("/etc/passwd") == "/etc/passwd"
