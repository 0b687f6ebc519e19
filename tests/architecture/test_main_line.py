"""The path of a prompt is short: prompt, model, question and tool are reached through few files."""

import json
import os
import pty
import select
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from support import main_line

MOST_FILES = 30

SCRIPT = """
[[answer]]
[[answer.call]]
name = "replace"
args = { file_path = "${root}/a.txt", old_string = "hello", new_string = "goodbye" }
[[answer]]
say = "Done."
"""


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, list[str]]]:
    """One prompt in the plain user interface: a call of `replace`, approved by the user."""
    scratch = tmp_path_factory.mktemp("main_line")
    project, report, script = scratch / "project", scratch / "report.json", scratch / "script.toml"
    project.mkdir()
    (scratch / "home").mkdir()
    (project / "a.txt").write_text("hello world\n")
    script.write_text(SCRIPT)
    words = [str(report), "-m", f"scripted:{script}", "-i", "change it"]
    environment = {"HOME": str(scratch / "home"), "PATH": os.environ["PATH"], "TERM": "dumb", "LANG": "C.UTF-8"}
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(project)
        os.execve(sys.executable, [sys.executable, str(Path(main_line.__file__)), *words], environment)
    try:
        read_until(terminal, b"Your answer")
        os.write(terminal, b"y\n")
        read_until(terminal, b"Done.")
        os.write(terminal, b"\x04")
        read_until(terminal, b"tejat -r")
        read_until_closed(terminal)  # closed too early, it would end the program before its report is written
    finally:
        os.close(terminal)
        os.waitpid(pid, 0)
    assert (project / "a.txt").read_text() == "goodbye world\n"
    return json.loads(report.read_text())


def read_until(terminal: int, expected: bytes) -> None:
    seen, deadline = b"", time.monotonic() + 60
    while expected not in seen:
        readable, _, _ = select.select([terminal], [], [], max(deadline - time.monotonic(), 0))
        assert readable, f"{expected!r} did not come: {seen!r}"
        seen += os.read(terminal, 65536)


def read_until_closed(terminal: int) -> None:
    with suppress(OSError):
        while os.read(terminal, 65536):
            pass


def test_all_milestones_are_reached(trace: dict[str, Any]) -> None:
    assert set(trace["stacks"]) == set(main_line.MILESTONES.values())


def test_few_files_are_on_the_way(trace: dict[str, Any]) -> None:
    files = {file for stack in trace["stacks"].values() for file in stack}
    assert len(files) <= MOST_FILES, sorted(files)


def test_start_up_does_not_go_back_to_the_command_line(trace: dict[str, Any]) -> None:
    """The command line loads the configuration, makes the front end, opens the session and hands it over."""
    startup = trace["startup"]
    assert startup[0] == "cli"
    assert startup.count("cli") <= 5, startup
