"""Tests of the socket of a session against front ends that misbehave, with a session in another process."""

import json
import os
import signal
import socket
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from support.live_sessions import (
    ended_sessions,
    find_live,
    live_sessions,
    shell_script,
    socket_directory,
    start_detached,
    wait_for_state,
)
from support.program import ProgramEnv, text_script
from support.wait import wait_until
from tejat.ui.remote.directory import LiveSession, LiveState
from tejat.workspace.files.unix_socket import connect_to_socket

METHODS = ("info", "attach", "prompt", "steer", "interrupt", "stop", "answer", "command", "complete", "files")
MORE_METHODS = ("shell", "mode", "sandbox")


def _connect(path: str) -> socket.socket:
    """Connect, also to a session that has not accepted earlier connections yet."""
    deadline = time.monotonic() + 60
    while True:
        try:
            return connect_to_socket(path)
        except BlockingIOError:
            assert time.monotonic() < deadline, "the session accepts no connection"
            time.sleep(0.01)


class Lines:
    """A front end that sends raw bytes."""

    def __init__(self, path: str) -> None:
        self.connection = _connect(path)
        self.connection.settimeout(60)
        self.file = self.connection.makefile("rb")

    def send(self, method: str, params: object = None, request_id: object = 1) -> None:
        request = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params or {}}
        self.connection.sendall(json.dumps(request).encode() + b"\n")

    def read(self) -> Any:
        line = self.file.readline()
        assert line, "the connection was closed"
        return json.loads(line)

    def ask(self, method: str, params: object = None) -> Any:
        self.send(method, params)
        while "id" not in (answer := self.read()):
            pass
        return answer


@contextmanager
def front_end(live: LiveSession) -> Generator[Lines]:
    lines = Lines(live.path)
    with lines.connection, lines.file:
        yield lines


@pytest.fixture
def env(tmp_path: Path) -> Generator[ProgramEnv]:
    env = ProgramEnv(tmp_path)
    with ended_sessions(env):
        yield env


@pytest.fixture
def waiting(env: ProgramEnv) -> LiveSession:
    """A session that waits for an answer."""
    return wait_for_state(env, start_detached(env, shell_script("touch x")), LiveState.WAITING)


def read_run(lines: Lines) -> list[str]:
    """The texts of a run up to its end."""
    texts: list[str] = []
    while True:
        message = lines.read()
        if message.get("method") == "event":
            event = message["params"]["event"]
            if event["$"] == "RunEnded":
                return texts
            if event["$"] == "TextStreamed":
                texts.append(event["text"])


def check_alive(env: ProgramEnv, live: LiveSession) -> None:
    found: list[LiveSession] = []

    def find() -> bool:
        now = find_live(env, live.session_id)
        found.extend([] if now is None else [now])
        return bool(found)

    wait_until(find, wanted="the session")  # a busy one is not listed for a moment
    assert found[0].state is LiveState.WAITING
    assert found[0].questions == live.questions


def test_lines_that_are_no_requests_get_errors(env: ProgramEnv, waiting: LiveSession) -> None:
    with front_end(waiting) as lines:
        for garbage in (b"hello\n", b"[]\n", b"{}\n", b"\xff\xfe\n", b'{"jsonrpc":"2.0","id":{},"method":1}\n'):
            lines.connection.sendall(garbage)
            assert lines.read()["error"]["code"] in (-32700, -32600)
        assert lines.ask("nonsense")["error"]["code"] == -32601
        assert lines.ask("info")["result"]["session_id"] == waiting.session_id
    check_alive(env, waiting)


@pytest.mark.parametrize("params", [{"reply": 1}, {"question_id": [], "line": {}, "text": 5, "prompt": 7, "id": "x"}])
def test_values_of_the_wrong_type_get_errors(env: ProgramEnv, waiting: LiveSession, params: dict[str, object]) -> None:
    with front_end(waiting) as lines:
        for method in ("prompt", "steer", "answer", "command", "complete", "files", "shell"):
            assert lines.ask(method, params)["error"]["code"] == -32602, method
    check_alive(env, waiting)


def test_a_value_of_another_class_does_not_become_an_answer(env: ProgramEnv, waiting: LiveSession) -> None:
    question = waiting.questions[0].question_id
    for reply in ({"$": "Outcome", "value": "proceed_once"}, {"$": "ApprovalReply"}, {"$": "os.system"}, None, "yes"):
        with front_end(waiting) as lines:
            assert "error" in lines.ask("answer", {"question_id": question, "reply": reply})
    check_alive(env, waiting)


def test_a_line_of_a_hundred_megabytes_gets_an_error(env: ProgramEnv, waiting: LiveSession) -> None:
    with front_end(waiting) as lines:
        for _ in range(110):
            lines.connection.sendall(b"x" * (1 << 20))
        lines.connection.sendall(b"\n")
        assert "error" in lines.read()
        assert "result" in lines.ask("info")
    check_alive(env, waiting)


@pytest.mark.parametrize("method", [each for each in (*METHODS, *MORE_METHODS) if each not in ("stop", "interrupt")])
def test_a_front_end_may_end_in_the_middle_of_every_request(env: ProgramEnv, waiting: LiveSession, method: str) -> None:
    with front_end(waiting) as lines:
        lines.send(method, {"line": "/theme", "typed": "a", "limit": 5, "text": "x", "id": 1, "history": True})
    with front_end(waiting) as lines:
        lines.connection.sendall(b'{"jsonrpc":"2.0","id":1,"met')
    check_alive(env, waiting)


def test_a_front_end_that_reads_nothing_does_not_stop_the_run(env: ProgramEnv) -> None:
    words = " ".join(map(str, range(30_000)))
    script = shell_script("true") + text_script(*[words] * 20)
    live = wait_for_state(env, start_detached(env, script), LiveState.WAITING)
    with front_end(live) as silent, front_end(live) as other:
        silent.send("attach")
        assert "result" in other.ask("attach")
        env.run("sessions", "answer", live.session_id, live.questions[0].question_id, "yes")
        read_run(other)
        for _ in range(20):
            other.send("prompt", {"prompt": "more", "waits": False}, 7)
            assert len("".join(read_run(other))) == len(words)
        # On a slow machine the silent one is gone by now: it has a minute to read a line.
        assert other.ask("info")["result"]["front_ends"] in (1, 2)


def test_too_many_front_ends_are_turned_away(env: ProgramEnv, waiting: LiveSession) -> None:
    opened = [Lines(waiting.path) for _ in range(100) if not time.sleep(0.02)]
    try:
        assert all("result" in each.ask("info") for each in opened)
        with front_end(waiting) as late, pytest.raises((AssertionError, OSError)):
            late.ask("info")
    finally:
        for each in opened:
            each.file.close()
            each.connection.close()
    check_alive(env, waiting)


def test_a_session_that_hangs_does_not_hang_the_list(env: ProgramEnv, waiting: LiveSession) -> None:
    os.kill(waiting.pid, signal.SIGSTOP)
    try:
        began = time.monotonic()
        assert live_sessions(env) == []
        assert time.monotonic() - began < 4
        assert os.path.exists(waiting.path)
    finally:
        os.kill(waiting.pid, signal.SIGCONT)
    check_alive(env, waiting)


def test_the_socket_of_a_killed_session_is_removed(env: ProgramEnv, waiting: LiveSession) -> None:
    os.kill(waiting.pid, signal.SIGKILL)
    deadline = time.monotonic() + 20
    while os.path.exists(waiting.path) and time.monotonic() < deadline:
        assert live_sessions(env) == []
        time.sleep(0.05)
    assert not os.path.exists(waiting.path)


def test_other_files_in_the_directory_are_left_alone(env: ProgramEnv, waiting: LiveSession) -> None:
    directory = socket_directory(env)
    (directory / "notes").write_text("x")
    (directory / "1-file.sock").write_text("x")
    (directory / "bound.sock").symlink_to("nowhere")
    assert [each.session_id for each in live_sessions(env)] == [waiting.session_id]
    assert (directory / "notes").exists()
