"""One path is put back in one step, and never over something that was not seen there."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from tejat.core.undo import PathKind, PathState
from tejat.workspace.undo.restore_operations import (
    ConcurrentChange,
    ExpectedState,
    PreparedFile,
    grant_owner_access,
    make_directory,
    remove_directory,
    remove_file,
    restore_link,
    restore_renamed_file,
    set_permissions,
)
from tejat.workspace.undo.tree_state import pack_file_key


@pytest.fixture
def place(tmp_path: Path) -> Iterator[int]:
    descriptor = os.open(tmp_path, os.O_RDONLY)
    yield descriptor
    os.close(descriptor)


def file_node(mode: int) -> PathState:
    return PathState(PathKind.FILE, permissions=mode, owner=(os.geteuid(), os.getegid()))


def key(path: Path) -> bytes:
    return pack_file_key(path.lstat())


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def put_file(place: int, name: str, content: bytes, node: PathState, *, expected: ExpectedState) -> None:
    with PreparedFile(place, name, content, node, expected=expected) as file:
        file.publish()


class TestFiles:
    def test_prepared_but_not_published(self, place: int, tmp_path: Path) -> None:
        (tmp_path / "f").write_text("old")
        with PreparedFile(place, "f", b"content", file_node(0o600), expected=key(tmp_path / "f")) as file:
            assert os.pread(file.fd, 100, 0) == b"content"
            assert (tmp_path / "f").read_text() == "old"
        assert os.listdir(tmp_path) == ["f"]
        assert (tmp_path / "f").read_text() == "old"

    def test_changed_between_the_steps(self, place: int, tmp_path: Path) -> None:
        (tmp_path / "f").write_text("old")
        with PreparedFile(place, "f", b"content", file_node(0o600), expected=key(tmp_path / "f")) as file:
            (tmp_path / "f").write_text("edited since")
            with pytest.raises(ConcurrentChange):
                file.publish()
        assert (tmp_path / "f").read_text() == "edited since"
        assert os.listdir(tmp_path) == ["f"]

    @pytest.mark.parametrize("permissions", [0o644, 0o444, 0o4755, 0o000])
    def test_new(self, place: int, tmp_path: Path, permissions: int) -> None:
        old = os.umask(0o077)
        try:
            put_file(place, "f", b"content", file_node(permissions), expected=None)
        finally:
            os.umask(old)
        assert mode(tmp_path / "f") == permissions
        (tmp_path / "f").chmod(0o600)
        assert (tmp_path / "f").read_bytes() == b"content"

    def test_over_a_read_only_file(self, place: int, tmp_path: Path) -> None:
        (tmp_path / "f").write_text("other")
        (tmp_path / "f").chmod(0o444)
        put_file(place, "f", b"content", file_node(0o640), expected=key(tmp_path / "f"))
        assert ((tmp_path / "f").read_bytes(), mode(tmp_path / "f")) == (b"content", 0o640)
        assert os.listdir(tmp_path) == ["f"]

    def test_over_a_link(self, place: int, tmp_path: Path) -> None:
        (tmp_path / "target").write_text("precious")
        (tmp_path / "f").symlink_to("target")
        put_file(place, "f", b"content", file_node(0o600), expected="target")
        assert (tmp_path / "f").read_bytes() == b"content"
        assert not (tmp_path / "f").is_symlink()
        assert (tmp_path / "target").read_text() == "precious"

    def test_never_over_something_unexpected(self, place: int, tmp_path: Path) -> None:
        (tmp_path / "f").write_text("mine")
        seen = key(tmp_path / "f")
        (tmp_path / "f").write_text("edited since")
        (tmp_path / "l").symlink_to("mine")
        (tmp_path / "d").mkdir()
        before = sorted(os.listdir(tmp_path))
        for name, expected in (("f", None), ("f", seen), ("f", "link"), ("l", None), ("l", "other"), ("l", seen)):
            with pytest.raises(ConcurrentChange):
                put_file(place, name, b"content", file_node(0o600), expected=expected)
        with pytest.raises(ConcurrentChange):
            put_file(place, "missing", b"content", file_node(0o600), expected="target")
        with pytest.raises(ConcurrentChange):
            put_file(place, "d", b"content", file_node(0o600), expected=None)
        assert (tmp_path / "f").read_text() == "edited since"
        assert sorted(os.listdir(tmp_path)) == before

    def test_removing(self, place: int, tmp_path: Path) -> None:
        (tmp_path / "f").write_text("x")
        (tmp_path / "l").symlink_to("f")
        seen = key(tmp_path / "f")
        with pytest.raises(ConcurrentChange):
            remove_file(place, "l", expected="g")
        with pytest.raises(ConcurrentChange):
            remove_file(place, "gone", expected=seen)
        remove_file(place, "l", expected="f")
        (tmp_path / "f").write_text("xy")
        with pytest.raises(ConcurrentChange):
            remove_file(place, "f", expected=seen)
        remove_file(place, "f", expected=key(tmp_path / "f"))
        assert os.listdir(tmp_path) == []

    def test_moving(self, place: int, tmp_path: Path) -> None:
        (tmp_path / "f").write_text("x")
        (tmp_path / "taken").touch()
        with pytest.raises(ConcurrentChange):
            restore_renamed_file(place, "f", place, "taken", expected=key(tmp_path / "f"))
        with pytest.raises(ConcurrentChange):
            restore_renamed_file(place, "f", place, "free", expected=key(tmp_path / "taken"))
        assert sorted(os.listdir(tmp_path)) == ["f", "taken"]
        restore_renamed_file(place, "f", place, "free", expected=key(tmp_path / "f"))
        assert sorted(os.listdir(tmp_path)) == ["free", "taken"]


class TestLinks:
    def test_new_and_over(self, place: int, tmp_path: Path) -> None:
        restore_link(place, "l", "a", expected=None)
        with pytest.raises(FileExistsError):
            restore_link(place, "l", "b", expected=None)
        with pytest.raises(ConcurrentChange):
            restore_link(place, "l", "b", expected="x")
        restore_link(place, "l", "b", expected="a")
        (tmp_path / "f").touch()
        restore_link(place, "f", "c\udcff", expected=key(tmp_path / "f"))
        assert {name: os.readlink(tmp_path / name) for name in os.listdir(tmp_path)} == {"l": "b", "f": "c\udcff"}


class TestDirectories:
    def test_made_open_and_closed_later(self, place: int, tmp_path: Path) -> None:
        node = PathState(PathKind.DIRECTORY, permissions=0o2511, owner=(os.geteuid(), os.getegid()))
        old = os.umask(0o777)
        try:
            make_directory(place, "d", node)
        finally:
            os.umask(old)
        assert mode(tmp_path / "d") & 0o777 == 0o700
        set_permissions(place, "d", node)
        assert mode(tmp_path / "d") == 0o2511
        grant_owner_access(place, "d")
        assert mode(tmp_path / "d") == 0o2711

    def test_removed_only_if_empty(self, place: int, tmp_path: Path) -> None:
        (tmp_path / "d").mkdir()
        (tmp_path / "d" / "mine").touch()
        assert not remove_directory(place, "d")
        (tmp_path / "d" / "mine").unlink()
        assert remove_directory(place, "d")
        with pytest.raises(FileNotFoundError):
            remove_directory(place, "d")


def test_permissions_go_through_no_link(place: int, tmp_path: Path) -> None:
    (tmp_path / "f").touch(0o600)
    (tmp_path / "l").symlink_to("f")
    with pytest.raises(ConcurrentChange):
        set_permissions(place, "l", file_node(0o777))
    assert mode(tmp_path / "f") == 0o600
    (tmp_path / "f").chmod(0)
    set_permissions(place, "f", file_node(0o640))
    assert mode(tmp_path / "f") == 0o640
