"""Only the owner gets in, whatever the umask; one at a time; all or nothing is written."""

import errno
import os
import resource
import signal
import stat
import threading
from pathlib import Path

import pytest

from tejat.workspace.files.regular_file import read_bytes
from tejat.workspace.undo import private_directory
from tejat.workspace.undo.private_directory import PrivateDirectory, append_bytes


def never() -> None:
    return


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("umask", [0, 0o022, 0o277])
def test_modes(tmp_path: Path, umask: int) -> None:
    old = os.umask(umask)
    try:
        directory = PrivateDirectory(str(tmp_path / "a" / "b"))
        assert not directory.exists()
        with directory.open("file", os.O_WRONLY | os.O_CREAT):
            pass
        with directory.lock(never), directory.replace_file("other") as descriptor:
            append_bytes(descriptor, b"x")
    finally:
        os.umask(old)
    assert (mode(tmp_path / "a"), mode(tmp_path / "a" / "b")) == (0o700, 0o700)
    assert {path.name: mode(path) for path in (tmp_path / "a" / "b").iterdir()} == {
        "file": 0o600,
        "lock": 0o600,
        "other": 0o600,
    }


def test_a_directory_that_is_too_open_is_closed(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir(mode=0o755)
    PrivateDirectory(str(tmp_path / "a")).ensure()
    assert mode(tmp_path / "a") == 0o700


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "target").write_text("precious")
    (tmp_path / "a" / "file").symlink_to(tmp_path / "target")
    directory = PrivateDirectory(str(tmp_path / "a"))
    for flags in (os.O_RDONLY, os.O_WRONLY | os.O_CREAT | os.O_TRUNC):
        with pytest.raises(OSError, match="symbolic links"), directory.open("file", flags):
            pass
    assert (tmp_path / "target").read_text() == "precious"


def test_one_at_a_time(tmp_path: Path) -> None:
    directory = PrivateDirectory(str(tmp_path / "a"))
    order: list[str] = []
    inside = threading.Event()

    def other() -> None:
        inside.wait()
        with directory.lock(never):
            order.append("other")

    thread = threading.Thread(target=other)
    thread.start()
    with directory.lock(never):
        inside.set()
        thread.join(0.1)
        order.append("first")
    thread.join()
    assert order == ["first", "other"]


def test_waiting_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(private_directory, "_LOCK_TIMEOUT_SECONDS", 0.05)
    directory = PrivateDirectory(str(tmp_path / "a"))
    with directory.lock(never), pytest.raises(TimeoutError, match="another process"), directory.lock(never):
        pass


def test_a_failed_replacement_changes_nothing(tmp_path: Path) -> None:
    directory = PrivateDirectory(str(tmp_path / "a"))
    with directory.replace_file("file") as descriptor:
        append_bytes(descriptor, b"old")

    def fail() -> None:
        with directory.replace_file("file") as descriptor:
            append_bytes(descriptor, b"new")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert {path.name: path.read_bytes() for path in (tmp_path / "a").iterdir()} == {"file": b"old"}


def test_append_writes_all_or_nothing(tmp_path: Path) -> None:
    descriptor = os.open(tmp_path / "f", os.O_RDWR | os.O_CREAT)
    append_bytes(descriptor, b"12345")
    old_limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    old_handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8, old_limit[1]))
    try:
        with pytest.raises(OSError, match=os.strerror(errno.EFBIG)):
            append_bytes(descriptor, b"abcdef")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old_limit)
        signal.signal(signal.SIGXFSZ, old_handler)
    assert read_bytes(descriptor, 0, 100) == b"12345"
    assert read_bytes(descriptor, 3, 1) == b"4"
    os.close(descriptor)
