"""The client's terminals over a real connection."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from support.acp.terminal_client import Behaviour
from support.acp.terminals import TerminalClient, patient, start_client
from tejat.app.session.lifespan import open_session_manager
from tejat.core.agent.editor import TerminalCommand
from tejat.core.agent.options import AgentOptions


def run(test: Callable[[TerminalClient], Awaitable[None]], behaviour: Behaviour = Behaviour.GOOD) -> None:
    async def main() -> None:
        async with start_client(behaviour) as client:
            await asyncio.wait_for(test(client), 60)

    asyncio.run(main())


def command(directory: Path, line: str) -> TerminalCommand:
    return TerminalCommand(("/bin/sh", "-c", line), str(directory), 1000)


def test_a_program_runs_in_a_terminal(tmp_path: Path) -> None:
    async def test(client: TerminalClient) -> None:
        terminal = await client.terminals.start(command(tmp_path, "test -t 1 && pwd; exit 3"), call_id="call-1")
        assert client.shown == []
        terminal.show()
        assert client.shown == [("call-1", "term_1")]
        assert await terminal.wait() == 3
        terminal.release()
        terminal.release()
        (state,) = await client.states()
        assert state["released"]
        assert state["output"] == f"{tmp_path}\r\n"
        assert state["params"] == {
            "sessionId": "session-1",
            "command": "/bin/sh",
            "args": ["-c", "test -t 1 && pwd; exit 3"],
            "cwd": str(tmp_path),
            "outputByteLimit": 1000,
        }
        assert await client.methods() == ["terminal/create", "terminal/wait_for_exit", "terminal/release"]

    run(test)


SCRIPT = """
[[answer]]
[[answer.call]]
name = "run_shell_command"
args = { command = "echo new > file; echo $EDITOR_API_KEY out" }
expect = "Stdout: out"

[[answer]]
say = "Done."
"""


@pytest.mark.usefixtures(patient.__name__)
def test_the_commands_of_a_session_are_shown_in_terminals_and_can_be_undone(tmp_path: Path) -> None:
    for name in ("home", "project"):
        (tmp_path / name).mkdir()
    (tmp_path / "script.toml").write_text(SCRIPT)
    file = tmp_path / "project" / "file"
    file.write_text("old\n")

    async def test(client: TerminalClient) -> None:
        options = AgentOptions(
            directories=(str(tmp_path / "project"),),
            model=f"scripted:{tmp_path}/script.toml",
            mode="yolo",
            terminals=client.terminals,
            environment={"HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"]},
        )
        async with open_session_manager(options, interactive=False) as manager:
            ended = await manager.session.prompt("go")
            assert ended.text == "Done."
            (state,) = await client.states()
            assert (state["output"], state["exit"], state["released"]) == (
                "out\r\n",
                {"exitCode": 0, "signal": None},
                True,
            )
            assert [terminal for _, terminal in client.shown] == ["term_1"]
            assert file.read_text() == "new\n"
            undo = manager.toolset.services.undo
            undo.restore(undo.entries()[0].id)
            assert file.read_text() == "old\n"

    run(test)


def test_a_signal_is_no_exit_code(tmp_path: Path) -> None:
    async def test(client: TerminalClient) -> None:
        terminal = await client.terminals.start(command(tmp_path, "kill -9 $$"), call_id="call-1")
        assert await terminal.wait() is None

    run(test)


@pytest.mark.parametrize(
    ("behaviour", "message"),
    [
        (Behaviour.REFUSE, "the client answered: Permission denied for terminal/create"),
        (Behaviour.NONSENSE, "the client opened a terminal without an id"),
        (Behaviour.CRASH, "the client answered: The connection was closed."),
    ],
)
def test_no_terminal(tmp_path: Path, behaviour: Behaviour, message: str) -> None:
    async def test(client: TerminalClient) -> None:
        with pytest.raises(OSError, match="the client") as raised:
            await client.terminals.start(command(tmp_path, "true"), call_id="call-1")
        assert str(raised.value) == message

    run(test, behaviour)


def test_an_error_while_waiting(tmp_path: Path) -> None:
    async def test(client: TerminalClient) -> None:
        terminal = await client.terminals.start(command(tmp_path, "sleep 1000"), call_id="call-1")
        with pytest.raises(OSError, match="Internal error"):
            await terminal.wait()
        terminal.release()
        assert (await client.states())[0]["released"]

    run(test, Behaviour.FAILING)


def test_a_client_that_goes_away_while_the_program_runs(tmp_path: Path) -> None:
    async def test(client: TerminalClient) -> None:
        terminal = await client.terminals.start(command(tmp_path, "sleep 1000"), call_id="call-1")
        waiting = asyncio.create_task(terminal.wait())
        await asyncio.sleep(0.05)
        client.process.kill()
        with pytest.raises(OSError, match="closed"):
            await waiting
        terminal.release()
        await asyncio.sleep(0)

    run(test)


def test_a_terminal_that_nobody_waits_for_any_more_is_released(tmp_path: Path) -> None:
    async def test(client: TerminalClient) -> None:
        opening = asyncio.create_task(client.terminals.start(command(tmp_path, "sleep 1000"), call_id="call-1"))
        await asyncio.sleep(0.1)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
        (state,) = await client.states(lambda states: states and states[0]["exit"])
        assert state["released"]
        assert "$/cancel_request" not in await client.methods()

    run(test, Behaviour.LATE)


def test_cancelled_waiting_is_told_to_the_client(tmp_path: Path) -> None:
    async def test(client: TerminalClient) -> None:
        terminal = await client.terminals.start(command(tmp_path, "sleep 1000"), call_id="call-1")
        waiting = asyncio.create_task(terminal.wait())
        await asyncio.sleep(0.05)
        waiting.cancel()
        await asyncio.wait((waiting,))
        await client.states()
        assert await client.methods() == ["terminal/create", "terminal/wait_for_exit", "$/cancel_request"]

    run(test)
