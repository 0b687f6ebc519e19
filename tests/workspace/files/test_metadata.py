"""Owner, attributes, access lists and mode move from one file to another, or the move is refused."""

import errno
import os
import stat
import struct
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tejat.workspace.files.metadata import copy_metadata

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


def move(source: Path, target: Path) -> None:
    with source.open("rb") as from_file, target.open("r+b") as to_file:
        copy_metadata(from_file.fileno(), to_file.fileno())


def pair(place: str | Path) -> tuple[Path, Path]:
    source, target = Path(place, "source"), Path(place, "target")
    for path in (source, target):
        path.touch(0o600)
        path.chmod(0o600)
    return source, target


def read_metadata(path: Path) -> tuple[int, int, int, dict[str, bytes]]:
    status = path.stat()
    return status.st_uid, status.st_gid, status.st_mode, {name: os.getxattr(path, name) for name in os.listxattr(path)}


@pytest.mark.parametrize("mode", [0o754, 0o600, 0o666, 0o644, 0o4755, 0o2775, 0o6711, 0o1644])
def test_mode(tmp_path: Path, mode: int) -> None:
    source, target = pair(tmp_path)
    source.chmod(mode)
    move(source, target)
    assert stat.S_IMODE(target.stat().st_mode) == mode


@needs_root
def test_owner_and_set_user_id_together(tmp_path: Path) -> None:
    source, target = pair(tmp_path)
    os.chown(source, 1000, 1001)
    source.chmod(0o6754)
    move(source, target)
    assert read_metadata(target)[:3] == (1000, 1001, stat.S_IFREG | 0o6754)


@needs_root
def test_a_capability_survives_the_change_of_owner() -> None:
    with place_with_attributes() as place:
        source, target = pair(place)
        os.chown(source, 1000, 1001)
        if supports_attributes(place):
            may_bind_low_ports = struct.pack("<5I", 0x02000000, 1 << 10, 0, 0, 0)
            os.setxattr(source, "security.capability", may_bind_low_ports)
        move(source, target)
        assert read_metadata(target) == read_metadata(source)


@pytest.mark.parametrize("code", [errno.EPERM, errno.EACCES, errno.EINVAL])
def test_an_owner_that_cannot_be_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    source, target = pair(tmp_path)
    real_fstat = os.fstat
    foreign = list(source.stat())
    foreign[4:6] = 4321, 4322

    def fstat(descriptor: int) -> os.stat_result:
        found = real_fstat(descriptor)
        return os.stat_result(foreign) if found.st_ino == foreign[1] else found

    asked: list[tuple[int, int]] = []

    def fchown(_: int, user: int, group: int) -> None:
        asked.append((user, group))
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fstat", fstat)
    monkeypatch.setattr(os, "fchown", fchown)
    with pytest.raises(PermissionError) as caught:
        move(source, target)
    words = "The owner user 4321 and group 4322 cannot be preserved by this user"
    assert (caught.value.errno, caught.value.strerror, asked) == (errno.EPERM, words, [(4321, 4322)])


def test_another_failure_to_give_away_is_the_systems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = pair(tmp_path)
    monkeypatch.setattr(os, "fchown", failing(errno.EIO))
    monkeypatch.setattr(os, "fchmod", failing(errno.EIO))
    move(source, target)
    source.chmod(0o644)
    with pytest.raises(OSError, match=os.strerror(errno.EIO)):
        move(source, target)


def test_a_mode_that_the_system_drops_silently(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = pair(tmp_path)
    source.chmod(0o2755)
    real_fchmod = os.fchmod
    monkeypatch.setattr(os, "fchmod", lambda fd, mode: real_fchmod(fd, mode & ~stat.S_ISGID))
    with pytest.raises(PermissionError) as caught:
        move(source, target)
    assert caught.value.strerror == "The mode 2755 cannot be preserved by this user"


def test_attributes_are_the_same_afterwards() -> None:
    with place_with_attributes() as place:
        source, target = pair(place)
        if supports_attributes(place):
            os.setxattr(source, "user.note", b"kept")
            os.setxattr(source, "user.empty", b"")
            os.setxattr(target, "user.note", b"other")
            os.setxattr(target, "user.extra", b"goes")
        source.chmod(0o754)
        move(source, target)
        assert read_metadata(target) == read_metadata(source)


def test_an_access_list_is_kept() -> None:
    with place_with_attributes() as place:
        source, target = pair(place)
        if supports_attributes(place):
            os.setxattr(source, "system.posix_acl_access", access_list(reader=1000))
            assert "system.posix_acl_access" in read_metadata(source)[3]
        move(source, target)
        assert read_metadata(target) == read_metadata(source)


def test_an_access_list_of_the_directory_is_not_added() -> None:
    with place_with_attributes() as place:
        source = Path(place, "source")
        source.touch(0o640)
        source.chmod(0o640)
        if supports_attributes(place):
            os.setxattr(place, "system.posix_acl_default", access_list(reader=1001))
        target = Path(place, "target")
        target.touch(0o600)
        assert ("system.posix_acl_access" in read_metadata(target)[3]) == supports_attributes(place)
        move(source, target)
        assert read_metadata(target) == read_metadata(source)


def test_an_attribute_that_cannot_be_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = pair(tmp_path)
    number = source.stat().st_ino
    monkeypatch.setattr(os, "listxattr", lambda fd: ["user.x"] if os.fstat(fd).st_ino == number else [])
    monkeypatch.setattr(os, "getxattr", lambda *_: b"value")
    monkeypatch.setattr(os, "setxattr", failing(errno.EPERM))
    with pytest.raises(PermissionError) as caught:
        move(source, target)
    assert caught.value.strerror == "The extended attribute user.x cannot be preserved by this user"


@pytest.mark.parametrize("name", ["security.ima", "security.evm"])
def test_signatures_of_the_content_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    source, target = pair(tmp_path)
    monkeypatch.setattr(os, "listxattr", lambda _: [name])
    monkeypatch.setattr(os, "getxattr", failing(errno.EIO))
    move(source, target)


def test_a_label_that_only_the_target_has_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = pair(tmp_path)
    number = target.stat().st_ino
    monkeypatch.setattr(os, "listxattr", lambda fd: ["security.label"] if os.fstat(fd).st_ino == number else [])
    monkeypatch.setattr(os, "getxattr", lambda *_: b"value")
    monkeypatch.setattr(os, "removexattr", failing(errno.EPERM))
    move(source, target)


@pytest.mark.parametrize(("code", "tolerated"), [(errno.ENOTSUP, True), (errno.EIO, False)])
def test_a_file_system_without_attributes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, tolerated: bool
) -> None:
    source, target = pair(tmp_path)
    source.chmod(0o751)
    monkeypatch.setattr(os, "listxattr", failing(code))
    if not tolerated:
        with pytest.raises(OSError, match=os.strerror(code)):
            move(source, target)
        return
    move(source, target)
    assert stat.S_IMODE(target.stat().st_mode) == 0o751


def failing(code: int):
    def fail(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    return fail


@contextmanager
def place_with_attributes() -> Iterator[str]:
    """A directory on a file system with attributes if one is within reach, else any: then a move must still succeed."""
    for parent in (None, "/dev/shm", os.path.dirname(__file__)):
        if parent is not None and not os.access(parent, os.W_OK):
            continue
        with tempfile.TemporaryDirectory(dir=parent) as place:
            if supports_attributes(place):
                yield place
                return
    with tempfile.TemporaryDirectory() as place:
        yield place


def supports_attributes(place: str) -> bool:
    """Both kinds that the tests use."""
    try:
        with tempfile.NamedTemporaryFile(dir=place) as probe:
            os.setxattr(probe.fileno(), "user.probe", b"")
            os.setxattr(probe.fileno(), "system.posix_acl_access", access_list(reader=1))
    except OSError:
        return False
    return True


def access_list(*, reader: int) -> bytes:
    """An access list as the kernel stores it: rw- owner, r-- one more user, r-- group, r-- mask, --- others."""
    nobody = 0xFFFFFFFF
    entries = [(1, 6, nobody), (2, 4, reader), (4, 4, nobody), (16, 4, nobody), (32, 0, nobody)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)
