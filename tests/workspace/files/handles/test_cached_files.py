"""Files are read without waiting, or not at all."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tejat.workspace.files.handles.cached_files import Storage, find_storage
from tejat.workspace.files.handles.open_file import CachedFile
from tejat.workspace.files.openat import PathResolution
from tejat.workspace.files.roots import Roots

LIMIT = 1000


@pytest.fixture
def roots(tmp_path: Path) -> Iterator[Roots]:
    with Roots(tmp_path) as roots:
        if roots.first.storage is Storage.ELSEWHERE:
            pytest.skip("the temporary directory is not on a local file system")
        yield roots


def open_cached(roots: Roots, name: str) -> CachedFile | None:
    return roots.open_cached(roots.locate(name), limit=LIMIT)


def content(roots: Roots, name: str) -> bytes | None:
    opened = open_cached(roots, name)
    if opened is None:
        return None
    with opened as file:
        assert file.status.st_size == len(file.read_all())
        assert os.path.samestat(os.fstat(file.fd), os.stat(file.real_path))
        return file.read_all()


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


class TestFiles:
    @pytest.mark.parametrize("data", [b"", b"a", b"a\nb\n", bytes(range(256)), b"x" * LIMIT])
    def test_a_small_file_that_was_just_written_is_read(self, roots: Roots, tmp_path: Path, data: bytes) -> None:
        (tmp_path / "f").write_bytes(data)
        assert content(roots, "f") == data

    def test_a_link_inside_is_followed(self, roots: Roots, tmp_path: Path) -> None:
        (tmp_path / "d").mkdir()
        (tmp_path / "d/f").write_bytes(b"a")
        (tmp_path / "link").symlink_to("d/f")
        assert content(roots, "link") == content(roots, "d/f") == b"a"

    def test_the_beginning(self, roots: Roots, tmp_path: Path) -> None:
        (tmp_path / "f").write_bytes(b"abc")
        opened = open_cached(roots, "f")
        assert opened is not None
        with opened as file:
            assert (file.read(2), file.read(9)) == (b"ab", b"abc")


class TestOthers:
    def test_nothing_else_is_opened_and_no_descriptor_is_left(self, roots: Roots, tmp_path: Path) -> None:
        outside = tmp_path.parent / f"{tmp_path.name}-outside"
        outside.write_bytes(b"a")
        (tmp_path / "large").write_bytes(b"x" * (LIMIT + 1))
        (tmp_path / "directory").mkdir()
        (tmp_path / "relative").symlink_to(f"../{outside.name}")
        (tmp_path / "absolute").symlink_to(outside)
        (tmp_path / "loop").symlink_to("loop")
        (tmp_path / "process").symlink_to("/proc/self/environ")
        os.mkfifo(tmp_path / "fifo")
        with socket.socket(socket.AF_UNIX) as listener:
            directory = os.open(tmp_path, os.O_RDONLY)
            listener.bind(f"/proc/self/fd/{directory}/socket")
            os.close(directory)
            before = descriptors()
            for name in (*os.listdir(tmp_path), ".", "missing", "large/below"):
                assert open_cached(roots, name) is None, name
            assert descriptors() == before
        outside.unlink()

    def test_what_is_only_on_the_disk_is_not_read(self, roots: Roots, tmp_path: Path) -> None:
        if roots.first.storage is not Storage.DISK:
            pytest.skip("the temporary directory is not on a disk")
        with open(tmp_path / "f", "wb") as file:
            file.write(b"a" * LIMIT)
            file.flush()
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        # The kernel may keep it in memory all the same.
        assert content(roots, "f") in (None, b"a" * LIMIT)
        with roots.open_file(roots.locate("f")) as file:
            assert len(file.read_all()) == LIMIT
        assert content(roots, "f") == b"a" * LIMIT

    def test_without_openat2(self, tmp_path: Path) -> None:
        (tmp_path / "f").write_bytes(b"a")
        with Roots(tmp_path, opener=PathResolution.WALK) as roots:
            assert open_cached(roots, "f") is None


class TestStorage:
    def test_what_the_kernel_makes_up_is_not_on_this_machine(self) -> None:
        descriptor = os.open("/proc", os.O_RDONLY)
        assert find_storage(descriptor) is Storage.ELSEWHERE
        os.close(descriptor)
        assert find_storage(-1) is Storage.ELSEWHERE

    def test_shared_memory(self, tmp_path: Path) -> None:
        if not os.path.isdir("/dev/shm"):
            pytest.skip("no shared memory here")
        descriptor = os.open("/dev/shm", os.O_RDONLY)
        assert find_storage(descriptor) is Storage.MEMORY
        os.close(descriptor)
