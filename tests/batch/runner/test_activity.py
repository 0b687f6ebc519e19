"""Activity of a run: one line per call, sanitized, never in the way."""

import json
import socket
from collections.abc import Generator
from contextlib import suppress

import pytest

from tejat.batch.runner.activity import ActivityReporter, describe_call
from tejat.core.agent.events import Answered, TextStreamed
from tejat.core.agent.subagent_events import AgentActivity
from tejat.core.messages.history import Message, Role
from tejat.core.messages.types import FunctionCall, Text
from tejat.core.model import ModelResponse, Usage
from tejat.core.tools.call_events import CallState, StateChanged

ANSWER = Answered(ModelResponse(Message(Role.MODEL, (Text("x"),)), usage=Usage(prompt=100, output=7)), 0.1)


@pytest.fixture
def channel() -> Generator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        yield ours, theirs


def executing(name: str, **args: object) -> StateChanged:
    return StateChanged(0, FunctionCall(name, args), CallState.EXECUTING)


@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [
        ("run_shell_command", {"command": "pytest -q"}, "run_shell_command pytest -q"),
        ("write_file", {"file_path": "/w/tree/src/a.py", "content": "x"}, "write_file src/a.py"),
        ("read_file", {"file_path": "/other/a.py"}, "read_file /other/a.py"),
        ("run_shell_command", {"command": "a\n\x1b[31mb"}, "run_shell_command a <U+001B>[31mb"),
        ("write_todos", {"todos": []}, "write_todos"),
        ("glob", {"pattern": 3}, "glob"),
    ],
)
def test_a_call_in_one_line(name: str, args: dict[str, object], expected: str) -> None:
    assert describe_call(FunctionCall(name, args), "/w/tree") == expected


def test_tokens_count_those_of_agents(channel: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = channel
    report = ActivityReporter(theirs, "/w/tree")
    for event in (ANSWER, AgentActivity("a#1", "a", ANSWER), TextStreamed("x"), executing("glob", pattern="*")):
        report(event)
    assert json.loads(ours.recv(1000)) == {"kind": "activity", "line": "glob *", "tokens": 214}


def test_calls_in_a_row_are_one_line(channel: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = channel
    report = ActivityReporter(theirs, "/w/tree")
    for _ in range(100):
        report(executing("glob", pattern="x" * 1000))
    lines = ours.recv(100_000).splitlines()
    assert len(lines) < 50  # one, unless this machine stands still
    assert len(json.loads(lines[0])["line"]) == 160


def test_a_driver_that_does_not_read_holds_up_nothing(channel: tuple[socket.socket, socket.socket]) -> None:
    _, theirs = channel
    theirs.setblocking(False)
    with suppress(BlockingIOError):
        while theirs.send(bytes(1 << 16)):
            pass
    theirs.setblocking(True)
    ActivityReporter(theirs, "/w/tree")(executing("glob"))


def test_a_driver_that_is_gone_is_no_error(channel: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = channel
    ours.close()
    ActivityReporter(theirs, "/w/tree")(executing("glob"))
