"""A connection to the terminal client, which runs as a program of its own, and a shell tool that uses it."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from support.acp.terminal_client import Behaviour
from tejat.core.approval.modes import SandboxMode
from tejat.core.messages.types import JsonObject
from tejat.core.tools.base import ToolContext, ToolResult, validate_and_execute
from tejat.policy.control_files import control_paths, plantable_paths
from tejat.tools.run_shell_command import ShellTool
from tejat.ui.acp.client import AcpConnection
from tejat.ui.acp.editor_terminals import ClientTerminals
from tejat.ui.jsonrpc.peer import RequestError
from tejat.ui.shared.stdio_pipes import PipeInput, PipeOutput
from tejat.workspace.context import Workspace
from tejat.workspace.jobs.store import JobStore
from tejat.workspace.processes.environment import child_environment
from tejat.workspace.processes.shell import ShellContext, run_without_sandbox
from tejat.workspace.processes.supervisor_client import ProcessSupervisor
from tejat.workspace.processes.terminals import displays as displays_module
from tejat.workspace.processes.terminals.displays import TerminalDisplays
from tejat.workspace.sandbox.session_sandbox import SandboxPaths, SessionSandbox

EDITOR_SECRET = "EDITOR_KEY_0123456789"
PATH = "/usr/local/bin:/usr/bin:/bin"


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Displays that wait for a client on a busy machine."""
    for name in ("_START_SECONDS", "_PRINT_SECONDS", "_EXIT_SECONDS"):
        monkeypatch.setattr(displays_module, name, 60.0)


class TerminalClient:
    """The running client, as the agent sees it."""

    def __init__(self, connection: AcpConnection, process: "subprocess.Popen[bytes]") -> None:
        self.connection = connection
        self.process = process
        self.terminals = ClientTerminals(connection, "session-1")
        self.shown: list[tuple[str, ...]] = []
        """The ids of calls and their terminals, with the agent if it is a sub-agent."""
        self.terminals.on_started = self._note_shown

    def _note_shown(self, call_id: str, terminal_id: str, *, agent: str) -> None:
        self.shown.append((call_id, terminal_id, agent) if agent else (call_id, terminal_id))

    async def states(self, condition: Callable[[Any], object] = lambda _: True) -> list[Any]:
        """All terminals that the client ever opened, as soon as the condition holds for them."""
        async with asyncio.timeout(60):
            while True:
                await asyncio.sleep(0.01)  # what was sent before comes first
                answer: Any = await self.connection.request("test/terminals", {})
                if condition(answer["terminals"]):
                    return answer["terminals"]

    async def methods(self) -> list[str]:
        """The methods of all messages that the client got."""
        answer: Any = await self.connection.request("test/messages", {})
        return [message["method"] for message in answer["messages"]]

    async def kill_program(self, terminal_id: str = "term_1") -> None:
        await self.connection.request("test/kill", {"terminalId": terminal_id})


class _NoRequests:
    async def handle_request(self, method: str, params: JsonObject) -> JsonObject:
        raise RequestError(-32601, f"{method}: {params}")

    def handle_notification(self, method: str, params: JsonObject) -> None:
        raise AssertionError(method, params)


@asynccontextmanager
async def start_client(
    behaviour: Behaviour = Behaviour.GOOD, states_file: Path | None = None
) -> AsyncGenerator[TerminalClient]:
    process = subprocess.Popen(  # noqa: ASYNC220 -- its descriptors are what the connection is tested with
        [
            *(sys.executable, Path(__file__).with_name("terminal_client.py"), behaviour),
            *(() if states_file is None else (states_file,)),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "EDITOR_API_KEY": EDITOR_SECRET},
        bufsize=0,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    connection = AcpConnection([].append)
    source = await PipeInput.open(process.stdout.fileno())
    sink = await PipeOutput.open(process.stdin.fileno())
    serving = asyncio.create_task(connection.serve(_NoRequests(), source, sink))
    try:
        yield TerminalClient(connection, process)
    finally:
        source.close()
        sink.close()
        process.stdin.close()
        serving.cancel()
        await asyncio.wait((serving,))
        try:
            await asyncio.to_thread(process.wait, 10)
        finally:
            process.kill()
            process.stdout.close()


class ShellEnv:
    """A shell tool in `root` whose output is shown in terminals of a client."""

    def __init__(self, tool: ShellTool, client: TerminalClient, root: Path, warnings: list[str]) -> None:
        self.tool = tool
        self.client = client
        self.root = root
        self.warnings = warnings
        self.partial: list[ToolResult] = []
        self.texts: list[str] = []

    async def run(self, command: str, *, call_id: str = "call-1", **params: object) -> ToolResult:
        context = ToolContext(call_id=call_id, keep_partial=self.partial.append, update_output=self.texts.append)
        return await validate_and_execute(self.tool, {"command": command, **params}, context)


@asynccontextmanager
async def open_shell(
    directory: Path,
    behaviour: Behaviour = Behaviour.GOOD,
    *,
    sandbox: SandboxMode = SandboxMode.AUTO,
    idle: float | None = None,
    states_file: Path | None = None,
) -> AsyncGenerator[ShellEnv]:
    root, home, state = (directory / name for name in ("root", "home", "state"))
    for place in (root, home, state, state / "sandbox"):
        place.mkdir(exist_ok=True)
    paths = SandboxPaths(
        roots=(str(root),),
        home=str(home),
        own_directories=(str(state),),
        control_paths=control_paths(),
        blocked_paths=plantable_paths(),
        state_directory=str(state / "sandbox"),
    )
    async with start_client(behaviour, states_file) as client:
        with SessionSandbox(sandbox, paths) as session_sandbox, Workspace([root]) as workspace:
            warnings: list[str] = []
            displays = TerminalDisplays(client.terminals, warnings.append)
            shell = ShellContext(
                ProcessSupervisor(),
                JobStore(str(state / "jobs")),
                child_environment({"PATH": PATH, "HOME": str(home)}),
                str(state / "outputs"),
                wrap=run_without_sandbox if session_sandbox.report.sandbox is None else session_sandbox.wrap,
                idle=idle,
                displays=displays,
            )
            try:
                yield ShellEnv(ShellTool(workspace, shell), client, root, warnings)
            finally:
                shell.close()
