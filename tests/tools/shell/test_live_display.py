"""Commands whose output is shown in terminals of a real client: results, limits, stops, and what cannot happen."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from support.acp.terminal_client import Behaviour
from support.acp.terminals import EDITOR_SECRET, ShellEnv, open_shell, patient
from support.process_marks import living_pids, new_mark
from support.source_tree import ROOT
from support.wait import wait_until
from tejat.core.agent.subagents import enter_agent
from tejat.core.approval.modes import SandboxMode
from tejat.core.errors import ErrorType
from tejat.core.tools.base import ToolResult

pytestmark = pytest.mark.usefixtures(patient.__name__)

BOTH = pytest.mark.parametrize("sandbox", [SandboxMode.AUTO, SandboxMode.OFF])


def run(directory: Path, test: Callable[[ShellEnv], Awaitable[None]], *given: Behaviour, **options: Any) -> None:
    async def main() -> None:
        async with open_shell(directory, *given, **options) as env:
            await asyncio.wait_for(test(env), 120)

    asyncio.run(main())


def content(result: ToolResult) -> str:
    assert isinstance(result.llm_content, str)
    return result.llm_content


@BOTH
def test_the_result_is_that_of_a_command_without_a_terminal(tmp_path: Path, sandbox: SandboxMode) -> None:
    line = "printf 'o\\033[31mu\\033[mt'; printf err >&2; seq 20000; exit 3"

    async def test(env: ShellEnv) -> None:
        with_terminal, without = await env.run(line), await env.run(line, call_id="")
        assert (
            content(with_terminal).partition("For full output see:")[0]
            == (content(without).partition("For full output see:")[0])
        )
        lines = content(with_terminal).splitlines()
        assert "Exit Code: 3" in lines
        assert "Stderr: err" in lines
        (terminal,) = await env.client.states()
        assert terminal["output"].startswith("o\x1b[31mu\x1b[mt")
        assert "\r\n20000\r\n" in terminal["output"]
        assert (terminal["exit"], terminal["released"]) == ({"exitCode": 3, "signal": None}, True)
        assert env.client.shown == [("call-1", "term_1")]
        assert env.texts  # for other front ends

    run(tmp_path, test, sandbox=sandbox)


def test_a_signal_has_the_exit_code_of_a_shell(tmp_path: Path) -> None:
    async def test(env: ShellEnv) -> None:
        result = await env.run("kill -KILL $$")
        assert result.exit_code in (-9, 137)
        assert (await env.client.states())[0]["exit"] == {"exitCode": 137, "signal": None}

    run(tmp_path, test)


def test_output_is_shown_while_the_command_runs(tmp_path: Path) -> None:
    async def test(env: ShellEnv) -> None:
        running = asyncio.create_task(env.run("echo begun; until [ -e go ]; do sleep 0.05; done; echo done"))
        await env.client.states(lambda states: states and "begun" in states[0]["output"])
        assert not running.done()
        (env.root / "go").touch()
        assert "done" in content(await running)

    run(tmp_path, test)


@BOTH
@pytest.mark.parametrize("limit", ["idle", "total"])
def test_a_command_at_its_time_limit(tmp_path: Path, sandbox: SandboxMode, limit: str) -> None:
    mark = new_mark()

    async def test(env: ShellEnv) -> None:
        result = await env.run(
            f"echo begun; (setsid sleep {mark} &); sleep {mark}", timeout=60 if limit == "idle" else 1
        )
        assert result.error is not None
        assert result.error.type is ErrorType.TIMEOUT
        assert "begun" in content(result)
        (terminal,) = await env.client.states()
        assert terminal["output"].splitlines() == ["begun", str(result.error.message)]
        assert (terminal["exit"], terminal["released"]) == ({"exitCode": 1, "signal": None}, True)
        assert living_pids(mark) == []

    run(tmp_path, test, sandbox=sandbox, idle=1.0 if limit == "idle" else None)


@BOTH
def test_stopping_the_terminal_stops_the_command_with_all_its_processes(tmp_path: Path, sandbox: SandboxMode) -> None:
    mark = new_mark()

    async def test(env: ShellEnv) -> None:
        running = asyncio.create_task(env.run(f"echo begun; (setsid sleep {mark} &); sleep {mark}"))
        await env.client.states(lambda states: states and "begun" in states[0]["output"])
        await env.client.kill_program()
        result = await running
        assert content(result).startswith("Command was cancelled by user before it could complete.")
        assert "begun" in content(result)
        assert living_pids(mark) == []
        assert (await env.client.states())[0]["released"]
        assert env.warnings == []

    run(tmp_path, test, sandbox=sandbox)


@BOTH
def test_cancelling_the_call_stops_both(tmp_path: Path, sandbox: SandboxMode) -> None:
    mark = new_mark()

    async def test(env: ShellEnv) -> None:
        running = asyncio.create_task(env.run(f"echo begun; (setsid sleep {mark} &); sleep {mark}"))
        await env.client.states(lambda states: states and "begun" in states[0]["output"])
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert living_pids(mark) == []
        assert "begun" in content(env.partial[0])
        (terminal,) = await env.client.states(lambda states: states[0]["exit"])
        assert terminal["released"]

    run(tmp_path, test, sandbox=sandbox)


def test_cancelling_at_any_moment_leaves_nothing(tmp_path: Path) -> None:
    mark = new_mark()

    async def test(env: ShellEnv) -> None:
        for step in range(25):
            running = asyncio.create_task(env.run(f"echo begun; sleep {mark}", call_id=f"call-{step}"))
            await asyncio.sleep(step * 0.015)
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            assert living_pids(mark) == []
        states = await env.client.states(lambda states: all(terminal["exit"] for terminal in states))
        assert states
        assert all(terminal["released"] for terminal in states)

    run(tmp_path, test)


def test_cancelling_while_the_terminal_prints_the_rest_keeps_the_result(tmp_path: Path) -> None:
    async def test(env: ShellEnv) -> None:
        running = asyncio.create_task(env.run("echo begun; exit 4"))
        await asyncio.sleep(1.0)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert "Exit Code: 4" in content(env.partial[-1])

    run(tmp_path, test, Behaviour.SILENT)


@pytest.mark.parametrize(
    "behaviour",
    [Behaviour.REFUSE, Behaviour.ABSENT, Behaviour.NONSENSE, Behaviour.LIAR, Behaviour.FAILING, Behaviour.CRASH],
)
def test_a_client_that_fails_changes_no_result(tmp_path: Path, behaviour: Behaviour) -> None:
    async def test(env: ShellEnv) -> None:
        for call in ("call-1", "call-2"):
            result = await env.run("echo out; echo run >> count; exit 3", call_id=call)
            assert "Stdout: out" in content(result)
            assert result.exit_code == 3
        assert (env.root / "count").read_text() == "run\nrun\n"
        assert len(env.warnings) == (0 if len(env.client.shown) == 2 else 1)

    run(tmp_path, test, behaviour)


def test_commands_in_the_background_have_no_terminal(tmp_path: Path) -> None:
    async def test(env: ShellEnv) -> None:
        assert "background" in content(await env.run("sleep 5", is_background=True))
        assert await env.client.methods() == []

    run(tmp_path, test)


def test_the_terminal_of_a_sub_agent_is_shown_in_the_call_of_that_agent(tmp_path: Path) -> None:
    async def test(env: ShellEnv) -> None:
        enter_agent("agent-1", "call-0")
        await env.run("true", call_id="call-1")
        assert env.client.shown == [("call-1", "term_1", "agent-1")]

    run(tmp_path, test)


def test_the_user_sees_what_the_sandbox_reports(tmp_path: Path) -> None:
    async def test(env: ShellEnv) -> None:
        result = await env.run("printf out; echo x > .envrc")
        if "Sandbox: New files" not in content(result):
            pytest.skip("NOT TESTED: there is no sandbox on this machine")
        output = (await env.client.states())[0]["output"].splitlines()
        assert output[0] == "out"
        assert output[1].startswith("New files that control what other programs run: ")

    run(tmp_path, test)


class TestEscapes:
    @BOTH
    def test_nothing_of_the_editor_reaches_the_command(self, tmp_path: Path, sandbox: SandboxMode) -> None:
        async def test(env: ShellEnv) -> None:
            result = await env.run("env; cat /proc/self/environ; ls -l /proc/self/fd")
            assert EDITOR_SECRET not in content(result)
            assert "EDITOR_API_KEY" not in content(result)
            assert "/dev/pts" not in content(result)

        run(tmp_path, test, sandbox=sandbox)

    @BOTH
    def test_a_command_has_no_terminal_to_push_keys_into(self, tmp_path: Path, sandbox: SandboxMode) -> None:
        push = (
            "import fcntl, os, sys, termios\n"
            "print([os.isatty(n) for n in range(3)])\n"
            "for target in (0, 1, 2, '/dev/tty'):\n"
            "    try:\n"
            "        fd = os.open(target, os.O_RDWR) if isinstance(target, str) else target\n"
            "        fcntl.ioctl(fd, termios.TIOCSTI, b'x')\n"
            "        print('PUSHED', target)\n"
            "    except OSError as error:\n"
            "        print('refused', target)\n"
        )

        async def test(env: ShellEnv) -> None:
            (env.root / "push.py").write_text(push)
            result = await env.run(f"{sys.executable} push.py")
            assert "[False, False, False]" in content(result)
            assert content(result).count("refused") == 4
            assert "PUSHED" not in content(result)

        run(tmp_path, test, sandbox=sandbox)

    def test_no_control_sequence_but_colours_reaches_the_terminal(self, tmp_path: Path) -> None:
        async def test(env: ShellEnv) -> None:
            await env.run(
                r"printf 'a\033]52;c;cm0gLXJmIH4=\007b\033[6nc\033[?1049hd\033[1me\033]0;t\033'; printf '\\f'"
            )
            assert (await env.client.states())[0]["output"] == "abcd\x1b[1mef"

        run(tmp_path, test)

    def test_a_sandboxed_command_cannot_use_the_socket(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Not even if temporary files are kept in the root."""
        connect = (
            "import glob, socket\n"
            "for path in glob.glob('tejat-session-*/1'):\n"
            "    try:\n"
            "        socket.socket(socket.AF_UNIX).connect(path)\n"
            "        print('CONNECTED')\n"
            "    except OSError as error:\n"
            "        print('refused')\n"
        )

        async def test(env: ShellEnv) -> None:
            (env.root / "connect.py").write_text(connect)
            line = f"until ls tejat-session-*/1; do sleep 0.05; done; {sys.executable} connect.py"
            assert content(await env.run(line)).count("refused") == 1

        with tempfile.TemporaryDirectory(prefix="t") as directory:  # sockets need a short path
            (Path(directory) / "root").mkdir()
            monkeypatch.setattr(tempfile, "tempdir", f"{directory}/root")
            run(Path(directory), test)


def test_an_agent_that_is_killed_leaves_nothing_running(tmp_path: Path) -> None:
    """The editor goes on, but its terminal ends by itself, and so does the command."""
    mark = new_mark()
    line = f"echo begun; (setsid sleep {mark} &); touch begun; sleep {mark}"
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'tests'}:{ROOT / 'src'}"}
    agent = subprocess.Popen([sys.executable, "-m", "support.acp.terminal_agent", tmp_path, line], env=environment)
    try:
        wait_until((tmp_path / "root" / "begun").exists)
        wait_until(lambda: living_pids("workspace/processes/terminals/viewer.py"))
    finally:
        agent.send_signal(signal.SIGKILL)
        agent.wait()
    wait_until((tmp_path / "states.json").exists)
    wait_until(lambda: not living_pids(mark))
    (terminal,) = json.loads((tmp_path / "states.json").read_text())
    assert terminal["exit"] == {"exitCode": 1, "signal": None}


def test_a_client_that_is_killed_takes_the_command_along(tmp_path: Path) -> None:
    mark = new_mark()

    async def test(env: ShellEnv) -> None:
        running = asyncio.create_task(env.run(f"echo begun; sleep {mark}"))
        await env.client.states(lambda states: states and "begun" in states[0]["output"])
        env.client.process.kill()
        assert "begun" in content(await running)
        assert living_pids(mark) == []

    run(tmp_path, test)
