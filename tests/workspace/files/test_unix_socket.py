"""Tests of sockets in private directories."""

import os
from collections import deque
from contextlib import ExitStack
from pathlib import Path

import pytest

from tejat.workspace.files.unix_socket import connect_to_socket, listen_on_socket


def talk(path: str) -> bytes:
    with listen_on_socket(path) as listener, connect_to_socket(path) as connection:
        accepted, _ = listener.accept()
        with accepted:
            connection.send(b"hello")
            return accepted.recv(10)


def test_only_the_user_can_open_it(tmp_path: Path) -> None:
    path = tmp_path / "run" / "a.sock"
    before = os.umask(0)
    try:
        with listen_on_socket(str(path)):
            assert path.stat().st_mode & 0o777 == 0o600
            assert path.parent.stat().st_mode & 0o777 == 0o700
    finally:
        os.umask(before)


@pytest.mark.parametrize("length", [1, 90, 107, 108, 200, 250])
def test_paths_of_any_length(tmp_path: Path, length: int) -> None:
    directory = tmp_path / ("d" * length) / ("e" * length)
    assert talk(str(directory / "a.sock")) == b"hello"


def test_a_path_with_letters_of_several_bytes(tmp_path: Path) -> None:
    assert talk(str(tmp_path / ("ü" * 60) / "a.sock")) == b"hello"


def test_a_socket_that_was_left_over_is_replaced(tmp_path: Path) -> None:
    path = str(tmp_path / "a.sock")
    listen_on_socket(path).close()
    with pytest.raises(ConnectionRefusedError):
        connect_to_socket(path)
    assert talk(path) == b"hello"


def test_a_directory_of_somebody_else_is_not_used(tmp_path: Path) -> None:
    directory = tmp_path / "run"
    directory.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError):  # noqa: PT011 -- which one depends on the system
        listen_on_socket(str(directory / "a.sock"))


def test_nobody_listens(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        connect_to_socket(str(tmp_path / "a.sock"))


def test_a_full_queue_does_not_block(tmp_path: Path) -> None:
    path = str(tmp_path / "a.sock")
    with ExitStack() as opened:
        opened.enter_context(listen_on_socket(path))
        with pytest.raises(BlockingIOError):
            deque((opened.enter_context(connect_to_socket(path)) for _ in range(1000)), maxlen=0)
