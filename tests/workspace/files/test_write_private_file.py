"""A small file of ours, replaced in one step."""

import os
import stat
from pathlib import Path

import pytest

from tejat.workspace.files.private_files import write_private_file


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o777])
def test_for_the_person_alone_whatever_the_umask(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        write_private_file(f"{tmp_path}/f", "ä\n")
        write_private_file(f"{tmp_path}/f", "new\n")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "f").stat().st_mode) == 0o600
    assert (tmp_path / "f").read_text() == "new\n"
    assert os.listdir(tmp_path) == ["f"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "f").symlink_to("kept/g")
    write_private_file(f"{tmp_path}/f", "x")
    assert os.readlink(tmp_path / "f") == "kept/g"
    assert (tmp_path / "kept" / "g").read_text() == "x"


def test_no_directory(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_private_file(f"{tmp_path}/missing/f", "x")
