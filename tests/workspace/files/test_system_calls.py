"""What the standard library has no function for."""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tejat.workspace.files.system_calls import (
    O_TRAVERSE,
    file_system_type,
    is_on_kernel_filesystem,
    kernel_path,
    openat2,
    sync_files,
)

linux = pytest.mark.skipif(sys.platform != "linux", reason="openat2 and /proc are Linux's")


@contextmanager
def opened(path: str | Path, flags: int = os.O_RDONLY) -> Iterator[int]:
    descriptor = os.open(path, flags)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@linux
class TestOpenat2:
    def test_opens_a_file_beneath(self, tmp_path: Path) -> None:
        (tmp_path / "d").mkdir()
        (tmp_path / "d" / "f").write_bytes(b"x")
        with opened(tmp_path, O_TRAVERSE) as directory:
            descriptor = openat2(directory, "d/f", os.O_RDONLY | os.O_CLOEXEC)
            try:
                assert os.read(descriptor, 9) == b"x"
                assert not os.get_inheritable(descriptor)
            finally:
                os.close(descriptor)

    @pytest.mark.parametrize(
        ("path", "number"),
        [
            ("missing", errno.ENOENT),
            ("..", errno.EXDEV),
            ("up/f", errno.EXDEV),
            ("absolute", errno.EXDEV),
            ("/etc/passwd", errno.EXDEV),
            ("loop", errno.ELOOP),
            ("f/x", errno.ENOTDIR),
            ("n" * 300, errno.ENAMETOOLONG),
        ],
    )
    def test_answers_with_the_reason(self, tmp_path: Path, path: str, number: int) -> None:
        (tmp_path / "f").touch()
        (tmp_path / "up").symlink_to("..")
        (tmp_path / "absolute").symlink_to(tmp_path / "f")
        (tmp_path / "loop").symlink_to("loop")
        with opened(tmp_path, O_TRAVERSE) as directory, pytest.raises(OSError, match=os.strerror(number)) as caught:
            openat2(directory, path, os.O_RDONLY)
        assert (caught.value.errno, caught.value.filename) == (number, path)

    def test_does_not_follow_magic_links(self) -> None:
        with opened("/", O_TRAVERSE) as directory, pytest.raises(OSError, match=os.strerror(errno.ELOOP)):
            openat2(directory, "proc/self/root/etc/passwd", os.O_RDONLY)


class TestKernelFileSystems:
    @linux
    @pytest.mark.parametrize("path", ["/proc", "/proc/self/environ", "/sys"])
    def test_are_told(self, path: str) -> None:
        with opened(path) as descriptor:
            assert is_on_kernel_filesystem(descriptor)

    def test_are_told_from_others(self, tmp_path: Path) -> None:
        with opened(tmp_path) as descriptor, opened("/dev/null") as device:
            assert not is_on_kernel_filesystem(descriptor)
            assert not is_on_kernel_filesystem(device)

    @linux
    def test_a_bad_descriptor_is_an_error_not_an_answer(self) -> None:
        with pytest.raises(OSError, match="Bad file descriptor"):
            is_on_kernel_filesystem(-1)


class TestKernelPath:
    def test_is_where_the_file_is_after_links_and_renames(self, tmp_path: Path) -> None:
        real = tmp_path.resolve()
        (tmp_path / "f").touch()
        (tmp_path / "link").symlink_to("f")
        with opened(tmp_path / "link") as descriptor:
            assert kernel_path(descriptor) == str(real / "f")
            (tmp_path / "f").rename(tmp_path / "g")
            assert kernel_path(descriptor) == str(real / "g")

    @linux
    def test_a_removed_file_keeps_its_name(self, tmp_path: Path) -> None:
        (tmp_path / ".env").touch()
        with opened(tmp_path / ".env") as descriptor:
            (tmp_path / ".env").unlink()
            assert kernel_path(descriptor) == str(tmp_path.resolve() / ".env")

    def test_a_name_that_looks_like_a_removed_file_is_a_name(self, tmp_path: Path) -> None:
        (tmp_path / "f (deleted)").touch()
        with opened(tmp_path / "f (deleted)") as descriptor:
            assert kernel_path(descriptor) == str(tmp_path.resolve() / "f (deleted)")

    def test_bytes_that_are_no_text_round_trip(self, tmp_path: Path) -> None:
        name = os.fsdecode(b"\xff\xfe")
        (tmp_path / name).touch()
        with opened(tmp_path / name) as descriptor:
            assert kernel_path(descriptor) == str(tmp_path.resolve() / name)

    def test_nothing_open_has_none(self) -> None:
        assert kernel_path(-1) is None


@pytest.mark.parametrize("count", [0, 1, 50])
def test_many_files_become_durable_at_once(tmp_path: Path, count: int) -> None:
    with ExitStack() as stack:
        files = [stack.enter_context(opened(tmp_path / str(each), os.O_RDWR | os.O_CREAT)) for each in range(count)]
        sync_files(files)
    if count:
        with pytest.raises(OSError, match="Bad file descriptor"):
            sync_files(files)


@linux
def test_kinds_of_file_systems() -> None:
    with opened("/proc") as proc:
        assert file_system_type(proc) == 0x9FA0
    with pytest.raises(OSError, match="Bad file descriptor"):
        file_system_type(-1)
