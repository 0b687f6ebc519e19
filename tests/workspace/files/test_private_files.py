"""Files of our own: shut to others whatever the umask, never through a link, kept within a quota."""

import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tejat.workspace.files.private_files import (
    UnusableDirectory,
    create_private_file,
    make_private_directory,
    open_private_file,
    remove_old_files,
)


@pytest.fixture(params=[0o000, 0o077, 0o777])
def umask(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[None]:
    assert tmp_path.is_dir()  # made under the usual one
    before = os.umask(request.param)
    yield
    os.umask(before)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


class TestDirectory:
    @pytest.mark.usefixtures("umask")
    def test_is_private_with_all_that_had_to_be_made(self, tmp_path: Path) -> None:
        make_private_directory(str(tmp_path / "a" / "b"))
        assert (mode_of(tmp_path / "a"), mode_of(tmp_path / "a" / "b")) == (0o700, 0o700)

    def test_one_that_is_there_is_shut(self, tmp_path: Path) -> None:
        (tmp_path / "a").mkdir()
        (tmp_path / "a").chmod(0o777)
        (tmp_path / "a" / "file").touch()
        make_private_directory(str(tmp_path / "a"))
        assert mode_of(tmp_path / "a") == 0o700
        assert os.listdir(tmp_path / "a") == ["file"]

    def test_a_link_or_a_file_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "real").mkdir(mode=0o755)
        (tmp_path / "link").symlink_to("real")
        (tmp_path / "file").touch()
        for name in ("link", "file"):
            with pytest.raises(UnusableDirectory):
                make_private_directory(str(tmp_path / name))
        assert mode_of(tmp_path / "real") == 0o755


class TestFile:
    @pytest.mark.usefixtures("umask")
    def test_one_that_is_opened_becomes_private(self, tmp_path: Path) -> None:
        for _ in range(2):
            os.close(open_private_file(str(tmp_path / "a"), os.O_WRONLY | os.O_CREAT))
            assert mode_of(tmp_path / "a") == 0o600
            (tmp_path / "a").chmod(0o666)

    @pytest.mark.parametrize("kind", ["directory", "link", "pipe"])
    def test_anything_else_is_left_alone(self, tmp_path: Path, kind: str) -> None:
        path = tmp_path / "a"
        (tmp_path / "target").touch(0o644)
        match kind:
            case "directory":
                path.mkdir(0o755)
            case "link":
                path.symlink_to("target")
            case _:
                os.mkfifo(path, 0o644)
        before = mode_of(path)
        with pytest.raises(OSError, match=r"."):
            open_private_file(str(path), os.O_RDWR | os.O_CREAT)
        assert mode_of(path) == before

    @pytest.mark.usefixtures("umask")
    def test_is_private(self, tmp_path: Path) -> None:
        with open(create_private_file(str(tmp_path / "a")), "wb") as file:
            file.write(b"x")
        assert (mode_of(tmp_path / "a"), (tmp_path / "a").read_bytes()) == (0o600, b"x")

    def test_what_is_there_is_left_alone(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("kept")
        (tmp_path / "link").symlink_to("file")
        (tmp_path / "dangling").symlink_to("missing")
        for name in ("file", "link", "dangling"):
            with pytest.raises(FileExistsError):
                create_private_file(str(tmp_path / name))
        assert (tmp_path / "file").read_text() == "kept"
        assert not (tmp_path / "missing").exists()


class TestQuota:
    def make(self, directory: Path, name: str, *, size: int, age: float) -> None:
        (directory / name).write_bytes(bytes(size))
        os.utime(directory / name, (time.time() - age, time.time() - age))

    def test_old_files_go_and_then_the_oldest(self, tmp_path: Path) -> None:
        self.make(tmp_path, "new", size=10, age=0)
        self.make(tmp_path, "middle", size=10, age=50)
        self.make(tmp_path, "late", size=10, age=90)
        self.make(tmp_path, "old", size=1, age=200)
        (tmp_path / "directory").mkdir()
        (tmp_path / "link").symlink_to("new")
        remove_old_files(str(tmp_path), before=time.time() - 100, max_bytes=25)
        assert sorted(os.listdir(tmp_path)) == ["directory", "link", "middle", "new"]
        remove_old_files(str(tmp_path), before=time.time() - 100, max_bytes=9)
        assert sorted(os.listdir(tmp_path)) == ["directory", "link"]

    def test_a_missing_directory_holds_nothing(self, tmp_path: Path) -> None:
        remove_old_files(str(tmp_path / "missing"), before=0, max_bytes=0)
