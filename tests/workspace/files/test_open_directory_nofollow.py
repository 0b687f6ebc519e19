"""A directory is opened beneath another only along plain names."""

import os
from pathlib import Path

import pytest

from support.descriptors import count_leaked, count_open
from tejat.workspace.files.openat import open_directory_nofollow


@pytest.fixture
def root(tmp_path: Path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "here").touch()
    (tmp_path / "link").symlink_to("a")
    (tmp_path / "file").touch()
    descriptor = os.open(tmp_path, os.O_RDONLY)
    yield descriptor
    os.close(descriptor)


def test_along_plain_names(root: int) -> None:
    with open_directory_nofollow(root, "a/b") as opened:
        assert os.listdir(opened) == ["here"]
    with open_directory_nofollow(root, "") as opened:
        assert sorted(os.listdir(opened)) == ["a", "file", "link"]


@pytest.mark.parametrize("path", ["link", "link/b", "file", "missing", "a/missing"])
def test_nothing_else(root: int, path: str) -> None:
    descriptors = count_open()
    with pytest.raises(OSError, match="directory"), open_directory_nofollow(root, path):
        pass
    assert count_leaked(descriptors) == 0
