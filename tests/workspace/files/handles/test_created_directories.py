"""Directories made one in the other, and taken back."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from support.descriptors import count_leaked, count_open
from tejat.workspace.files.handles.created_directories import make_directories
from tejat.workspace.files.system_calls import O_TRAVERSE


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[int]:
    """The temporary directory, held as a root is held."""
    descriptor = os.open(tmp_path, O_TRAVERSE)
    yield descriptor
    os.close(descriptor)


def test_each_is_made_in_the_one_before(tmp_path: Path, directory: int) -> None:
    with closing(make_directories(directory, ["a", "b"])) as made:
        assert os.path.samestat(os.fstat(made.fd), os.stat(tmp_path / "a" / "b"))
        os.fsync(made.fd)
        made.remove()
        assert os.listdir(tmp_path) == []
        made.close()


def test_none_is_the_directory_itself(tmp_path: Path, directory: int) -> None:
    with closing(make_directories(directory, [])) as made:
        assert os.path.samestat(os.fstat(made.fd), os.stat(tmp_path))
        made.remove()
    assert os.path.samestat(os.fstat(directory), os.stat(tmp_path))


def test_the_umask_is_followed(tmp_path: Path, directory: int) -> None:
    before = os.umask(0o027)
    try:
        make_directories(directory, ["a"]).close()
    finally:
        os.umask(before)
    assert stat.S_IMODE(os.stat(tmp_path / "a").st_mode) == 0o750


def test_only_what_was_made_is_removed(tmp_path: Path, directory: int) -> None:
    (tmp_path / "theirs" / "too").mkdir(parents=True)
    with closing(make_directories(directory, ["theirs", "too", "ours", "inner"])) as made:
        assert (tmp_path / "theirs" / "too" / "ours" / "inner").is_dir()
        made.remove()
    assert os.listdir(tmp_path / "theirs" / "too") == []


def test_what_leads_to_a_directory_of_others_stays(tmp_path: Path, directory: int) -> None:
    with closing(make_directories(directory, ["ours"])) as made:
        (tmp_path / "ours" / "theirs").mkdir()
        made.make_and_enter("theirs")
        made.make_and_enter("inner")
        made.remove()
    assert os.listdir(tmp_path / "ours") == ["theirs"]
    assert os.listdir(tmp_path / "ours" / "theirs") == []


def test_only_what_is_empty_is_removed(tmp_path: Path, directory: int) -> None:
    with closing(make_directories(directory, ["outer", "used", "inner"])) as made:
        (tmp_path / "outer" / "used" / "f").touch()
        made.remove()
        made.remove()
    assert os.listdir(tmp_path / "outer" / "used") == ["f"]


def test_removing_goes_through_no_link(tmp_path: Path, directory: int) -> None:
    (tmp_path / "outside" / "b").mkdir(parents=True)
    with closing(make_directories(directory, ["a", "b"])) as made:
        (tmp_path / "a").rename(tmp_path / "moved")
        (tmp_path / "a").symlink_to("outside")
        made.remove()
    assert (tmp_path / "outside" / "b").is_dir()


@pytest.mark.parametrize(
    ("names", "number"),
    [
        (["file", "x"], errno.ENOTDIR),
        (["link", "x"], errno.ENOTDIR),
        (["a", "b", "n" * 300], errno.ENAMETOOLONG),
    ],
)
def test_a_failure_leaves_nothing(tmp_path: Path, directory: int, names: list[str], number: int) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "outside").mkdir()
    (tmp_path / "link").symlink_to("outside")
    before = count_open()
    with pytest.raises(OSError, match=os.strerror(number)):
        make_directories(directory, names)
    assert sorted(os.listdir(tmp_path)) == ["file", "link", "outside"]
    assert os.listdir(tmp_path / "outside") == []
    assert count_leaked(before) == 0
