"""Tests of connections to sockets that do not answer as sessions do."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tejat.core.errors import UsageError
from tejat.ui.remote import methods
from tejat.ui.remote.client import read_info, request_once
from tejat.ui.remote.directory import find_live_session, list_live_sessions

# Listens on a socket with its own process in the name, and sends what it is told to everyone.
SERVER = """
import os, socket, sys
os.chdir(sys.argv[1])
listener = socket.socket(socket.AF_UNIX)
listener.bind(f"{os.getpid()}-a.sock")
listener.listen()
print(f"{os.getpid()}-a.sock", flush=True)
kept = []
while True:
    connection, _ = listener.accept()
    try:
        connection.recv(1000)
        connection.sendall(sys.argv[2].encode())
    except OSError: pass  # a client that refuses to talk
    if sys.argv[3] == "keep": kept.append(connection)
"""


@contextmanager
def server(directory: Path, answer: str, *, keep: bool = True) -> Generator[str]:
    """A process of the user that listens, and the path of its socket."""
    words = [sys.executable, "-W", "ignore", "-c", SERVER, str(directory), answer, "keep" if keep else "close"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield str(directory / process.stdout.readline().strip())
        finally:
            process.kill()


def test_a_session_that_does_not_answer_is_given_up_after_two_seconds(tmp_path: Path) -> None:
    with server(tmp_path, "") as path:
        began = time.monotonic()
        with pytest.raises(UsageError, match="The session does not answer"):
            asyncio.run(request_once(path, methods.INFO, {}))
        assert 1.5 < time.monotonic() - began < 5
        assert os.path.exists(path)


@pytest.mark.parametrize(
    "answer",
    [
        "garbage\n",
        '{"jsonrpc":"2.0","id":1,"result":{}}\n',
        '{"jsonrpc":"2.0","id":1,"result":{"session_id":"s","pid":"x"}}\n',
        '{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}\n',
        '{"jsonrpc":"2.0","id":9,"method":"enter","params":{"label":"Password","initial":"","is_secret":true}}\n',
    ],
)
def test_other_answers_are_no_session(tmp_path: Path, answer: str) -> None:
    with server(tmp_path, answer, keep=False):
        assert asyncio.run(list_live_sessions(str(tmp_path))) == []
        with pytest.raises(UsageError, match="No running session"):
            asyncio.run(find_live_session(str(tmp_path), "s"))


def test_only_the_socket_of_an_ended_session_is_removed(tmp_path: Path) -> None:
    with server(tmp_path, "garbage\n", keep=False) as path:
        assert asyncio.run(read_info(path)) is None
        assert os.path.exists(path)
    assert asyncio.run(read_info(path)) is None
    assert not os.path.exists(path)


def test_a_name_without_a_process_is_refused(tmp_path: Path) -> None:
    with server(tmp_path, "garbage\n") as path:
        os.rename(path, tmp_path / "session.sock")
        with pytest.raises(UsageError, match="Not the socket of a session"):
            asyncio.run(request_once(str(tmp_path / "session.sock"), methods.INFO, {}))
        os.rename(tmp_path / "session.sock", tmp_path / "1-a.sock")
        with pytest.raises(UsageError, match="Refused the socket of the session: another process listens there"):
            asyncio.run(request_once(str(tmp_path / "1-a.sock"), methods.INFO, {}))
