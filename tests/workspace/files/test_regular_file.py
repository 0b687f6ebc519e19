"""Files that are named are opened at once or not at all."""

import os
import socket
from pathlib import Path

import pytest

from support.descriptors import count_leaked, count_open
from support.terminal.pty_program import write_script
from tejat.workspace.files.regular_file import find_user_program, open_fd, regular_file_opener


def test_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"abc")
    (tmp_path / "link").symlink_to(path)
    for name in ("file", "link"):
        with open(tmp_path / name, "rb", opener=regular_file_opener) as file:
            assert file.read() == b"abc"
            assert not os.get_inheritable(file.fileno())


def test_everything_else_is_refused_at_once_and_closed_again(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    before = count_open()
    for path in (tmp_path / "pipe", tmp_path, Path("/dev/zero"), Path("/dev/null")):
        with pytest.raises(OSError, match="not a regular file"):
            regular_file_opener(str(path), os.O_RDONLY)
    with pytest.raises(FileNotFoundError):
        regular_file_opener(str(tmp_path / "none"), os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(tmp_path / "socket"))
        with pytest.raises(OSError, match="No such device"):
            regular_file_opener(str(tmp_path / "socket"), os.O_RDONLY)
    assert count_leaked(before) == 0


def test_a_descriptor_is_closed_after_its_block(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"abc")
    before = count_open()
    with open_fd(str(tmp_path), os.O_RDONLY | os.O_DIRECTORY) as directory:
        with open_fd("file", os.O_RDONLY, dir_fd=directory) as descriptor:
            assert (os.read(descriptor, 9), os.get_inheritable(descriptor)) == (b"abc", False)
        with pytest.raises(ZeroDivisionError), open_fd("file", os.O_RDONLY, dir_fd=directory):
            raise ZeroDivisionError
    assert count_leaked(before) == 0


def test_found_by_name_in_absolute_places_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_script(tmp_path / "tool")
    (tmp_path / "text").write_text("x")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f".::{tmp_path}")
    assert find_user_program("tool") == f"{tmp_path}/tool"
    assert find_user_program(f"{tmp_path}/tool") == f"{tmp_path}/tool"
    assert find_user_program("./tool") is None
    assert find_user_program("text") is None
    assert find_user_program("none") is None


def test_nothing_from_untrusted_directories_whatever_leads_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, other = tmp_path / "work", tmp_path / "bin"
    work.mkdir()
    other.mkdir()
    write_script(work / "tool")
    (other / "tool").symlink_to(work / "tool")
    monkeypatch.setenv("PATH", f"{work}:{other}")
    assert find_user_program("tool", untrusted=(str(work),)) is None
    assert find_user_program("tool", untrusted=(str(tmp_path / "else"),)) == f"{work}/tool"
