"""Directories stay open while they are used, and are closed after it."""

import os
from pathlib import Path

import pytest

from tejat.workspace.undo.open_directories import OpenDirectories


def test_the_latest_stay_open(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / name / "in").mkdir(parents=True)
    root = os.open(tmp_path, os.O_RDONLY)
    before = len(os.listdir("/dev/fd"))
    with OpenDirectories(root, limit=2) as opened:
        first = opened.get("a/in")
        assert os.path.samestat(os.fstat(first), (tmp_path / "a" / "in").stat())
        assert opened.get("a/in") == first
        second = opened.get("")
        assert os.path.samestat(os.fstat(second), tmp_path.stat())
        opened.get("b")
        opened.get("c")
        assert len(os.listdir("/dev/fd")) == before + 2
    assert len(os.listdir("/dev/fd")) == before
    os.close(root)


def test_no_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "link").symlink_to("a")
    root = os.open(tmp_path, os.O_RDONLY)
    with OpenDirectories(root) as opened:
        for name in ("link", "none"):
            with pytest.raises(OSError, match=name):
                opened.get(name)
    os.close(root)
