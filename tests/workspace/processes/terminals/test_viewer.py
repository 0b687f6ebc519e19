"""The program that prints the output of a command in a terminal."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tejat.workspace.processes.terminals import viewer


@contextmanager
def started(directory: Path, stdout: int) -> "Iterator[tuple[subprocess.Popen[bytes], socket.socket]]":
    """The program, and the connection that it made."""
    path = str(directory / "socket")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        server.settimeout(30)
        process = subprocess.Popen([sys.executable, "-I", "-S", viewer.__file__, path], stdout=stdout)
        try:
            with server.accept()[0] as connection:
                yield process, connection
        finally:
            process.kill()
            process.wait()


def frame(data: bytes) -> bytes:
    return len(data).to_bytes(viewer.LENGTH_BYTES, "big") + data


@pytest.mark.parametrize("code", [0, 3, 255])
def test_it_prints_what_it_gets_and_ends_with_the_given_code(tmp_path: Path, code: int) -> None:
    readable, writable = os.pipe()
    with started(tmp_path, writable) as (process, connection):
        os.close(writable)
        sent = frame(b"one\n") + frame(b"\xfftwo\x00") + frame(b"") + bytes([code])
        for byte in sent:  # however it is divided
            connection.sendall(bytes([byte]))
        with open(readable, "rb") as output:
            assert output.read() == b"one\n\xfftwo\x00"
        assert process.wait(30) == code


def test_a_lost_agent_ends_it(tmp_path: Path) -> None:
    with started(tmp_path, subprocess.DEVNULL) as (process, connection):
        connection.sendall(frame(b"one\n") + b"\x00")
        connection.close()
        assert process.wait(30) == 1


def test_it_says_nothing_if_there_is_no_agent(tmp_path: Path) -> None:
    words = [sys.executable, "-I", "-S", viewer.__file__, str(tmp_path / "missing")]
    ended = subprocess.run(words, capture_output=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, b"", b"")


def test_an_interrupt_ends_it_without_a_traceback(tmp_path: Path) -> None:
    with started(tmp_path, subprocess.DEVNULL) as (process, connection):
        connection.sendall(frame(b"one\n"))
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == -signal.SIGINT


def test_a_closed_terminal_ends_it(tmp_path: Path) -> None:
    readable, writable = os.pipe()
    with started(tmp_path, writable) as (process, connection):
        os.close(writable)
        os.close(readable)
        connection.sendall(frame(b"one\n"))
        assert process.wait(30) == 1
