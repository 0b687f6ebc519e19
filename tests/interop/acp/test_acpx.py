"""acpx, a command-line client that others wrote, as the client.

It needs Node 22.13 or newer, which scripts/test installs with it.
"""

import json
import os
import shlex
import signal
import subprocess
import time
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path

import pytest
from acp.meta import AGENT_METHODS

from support.acp.message_log import Json, MessageLog
from support.acp.scripts import call_topic, text_topic
from support.mcp.node_programs import PACKAGES, find_node
from support.process_marks import living_pids
from support.program import TEJAT, ProgramEnv
from support.wait import wait_until

ACPX = PACKAGES / "acpx" / "dist" / "cli.js"
MIN_NODE = 22
DENIED = 5
"""Its exit code if it denied a permission."""
EDIT = {"file_path": "${root}/price.py", "old_string": "cost = 1", "new_string": "cost = 2"}


class Acpx:
    """The program, with a project and a scripted model."""

    def __init__(self, base: Path, mark: str) -> None:
        self.env = ProgramEnv(base)
        self.mark = mark
        self._node = find_node(ACPX, min_version=MIN_NODE)
        (self.env.project / "price.py").write_text("cost = 1\n")
        script = (
            text_topic("Hello", "Good day.")
            + call_topic("Edit", "replace", EDIT)
            + call_topic("Read", "read_file", {"file_path": "${root}/price.py"})
            + call_topic("Sleep", "run_shell_command", {"command": f"sleep {mark}"})
        )
        self._agent = shlex.join([*TEJAT, "acp", "-m", self.env.script(script)])

    def command(self, *words: str) -> list[str]:
        options = ["--agent", self._agent, "--cwd", str(self.env.project), "--ttl", "60"]
        return [self._node, str(ACPX), *options, *words]

    def run(self, *words: str, code: int = 0) -> str:
        """Run it and return its standard output."""
        done = subprocess.run(
            self.command(*words),
            env=self.env.environment,
            cwd=self.env.project,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    def messages(self, *words: str) -> MessageLog:
        """Run it with JSON output, which has the messages of both sides, and check them against the protocol."""
        log = MessageLog()
        open_requests: list[tuple[object, bool]] = []
        for line in self.run("--format", "json", *words).splitlines():
            message: Json = json.loads(line)
            if "method" in message:
                is_sent = message["method"] in AGENT_METHODS.values()
                open_requests += [(message["id"], is_sent)] if "id" in message else []
            else:
                # Both sides count from 0. Requests are nested, so an answer is that to the last one with its id.
                asked = next(each for each in reversed(open_requests) if each[0] == message["id"])
                open_requests.remove(asked)
                is_sent = not asked[1]
            log.add(message, is_sent=is_sent)
        assert log.problems == []
        return log

    def kill(self) -> None:
        """Kill the owner of its sessions, which goes on after the last prompt, and the agents."""
        for pid in living_pids(str(self.env.base)):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        wait_until(lambda: living_pids(str(self.env.base)) == [], wanted="the end of acpx")


@pytest.fixture
def acpx(tmp_path: Path, mark: str) -> Generator[Acpx]:
    program = Acpx(tmp_path, mark)
    yield program
    program.kill()


def test_one_prompt(acpx: Acpx) -> None:
    assert acpx.run("--format", "quiet", "exec", "Hello?") == "Good day.\n"


def test_every_message_is_one_of_the_protocol(acpx: Acpx) -> None:
    log = acpx.messages("--approve-all", "exec", "Edit.")
    assert [update["sessionUpdate"] for update in log.updates()].count("tool_call") == 1
    assert len(log.requests("session/request_permission")) == 1
    assert (acpx.env.project / "price.py").read_text() == "cost = 2\n"


def test_denied(acpx: Acpx) -> None:
    assert "Then not." in acpx.run("--deny-all", "exec", "Edit.", code=DENIED)
    assert (acpx.env.project / "price.py").read_text() == "cost = 1\n"


def test_reads_are_approved_and_edits_are_not(acpx: Acpx) -> None:
    words = ("--approve-reads", "--non-interactive-permissions", "deny", "exec")
    assert "Done." in acpx.run(*words, "Read.")
    assert "Then not." in acpx.run(*words, "Edit.", code=DENIED)
    assert (acpx.env.project / "price.py").read_text() == "cost = 1\n"


def test_without_its_files_and_terminals(acpx: Acpx) -> None:
    assert "Done." in acpx.run("--approve-all", "--no-fs", "--no-terminal", "exec", "Edit.")
    assert (acpx.env.project / "price.py").read_text() == "cost = 2\n"


def test_a_session(acpx: Acpx) -> None:
    acpx.run("--no-fs", "sessions", "new")
    assert "Good day." in acpx.run("--no-fs", "prompt", "Hello?")
    acpx.run("--no-fs", "set-mode", "auto_edit")
    assert "Done." in acpx.run("--no-fs", "--deny-all", "prompt", "Edit.")  # so nothing was asked
    assert (acpx.env.project / "price.py").read_text() == "cost = 2\n"
    assert "Hello?" in acpx.run("sessions", "history")
    assert "Hello?" in acpx.run("--format", "json", "sessions", "list")
    acpx.run("sessions", "close")


def test_a_session_goes_on_after_its_agent_was_killed(acpx: Acpx) -> None:
    acpx.run("sessions", "new")
    assert "Good day." in acpx.run("prompt", "Hello?")
    acpx.kill()
    assert "Good day." in acpx.run("prompt", "Hello again.")
    assert "Hello?" in acpx.run("sessions", "history")


def test_cancel(acpx: Acpx) -> None:
    acpx.run("sessions", "new")
    prompt = subprocess.Popen(
        acpx.command("--approve-all", "prompt", "Sleep."),
        env=acpx.env.environment,
        cwd=acpx.env.project,
        stdout=subprocess.PIPE,
        text=True,
    )
    wait_until(lambda: living_pids(f"sleep\0{acpx.mark}"))
    began = time.monotonic()
    acpx.run("cancel")
    shown, _ = prompt.communicate(timeout=60)
    assert "cancelled" in shown
    assert time.monotonic() - began < 30
    assert living_pids(f"sleep\0{acpx.mark}") == []


def test_options(acpx: Acpx) -> None:
    assert "Then not." in acpx.run("--approve-all", "exec", "--config-option", "mode=plan", "Edit.")
    assert (acpx.env.project / "price.py").read_text() == "cost = 1\n"
