"""Paths for people: relative, and short enough for a line."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tejat.tools.files.display_path import relative_path, short_relative_path, shorten_path
from tejat.workspace.files.roots import Roots


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("", ""),
        ("short", "short"),
        ("x" * 35, "x" * 35),
        ("/home/user/projects/very/deep/nested/dir/file.txt", "/home/.../deep/nested/dir/file.txt"),
        ("home/user/projects/very/deep/nested/dir/file.txt", "home/.../deep/nested/dir/file.txt"),
        ("first/second/third/fourth/fifth/sixth/last", "first/.../fourth/fifth/sixth/last"),
    ],
)
def test_the_first_directory_and_as_many_of_the_last_as_fit(path: str, expected: str) -> None:
    assert shorten_path(path) == expected


def test_a_single_name_is_cut_in_the_middle() -> None:
    assert shorten_path("averyveryverylongnamethatneverendsandhashes.txt", 20) == "averyver...shes.txt"


def test_a_last_name_too_long_to_stand_beside_the_first_directory() -> None:
    assert shorten_path("directory/" + "x" * 40 + ".txt") == "directory/xxxxxx...xxxxxxxxxxxx.txt"


@given(st.text("ab/", max_size=80), st.integers(5, 60))
def test_never_longer_than_allowed_and_untouched_if_it_fits(path: str, length: int) -> None:
    shown = shorten_path(path, length)
    assert len(shown) <= length
    assert (shown == path) == (len(path) <= length)


def test_relative_to_the_root(tmp_path: Path) -> None:
    with Roots([tmp_path]) as roots:
        root, inside = roots.locate("."), roots.locate("a/very/deep/directory/with/a/long/path/f")
        assert (relative_path(root), short_relative_path(root)) == (".", ".")
        assert relative_path(inside) == "a/very/deep/directory/with/a/long/path/f"
        assert short_relative_path(inside) == "a/.../directory/with/a/long/path/f"
