"""`tejat mcp serve` as other agents meet it: a program, and the official client library at the other end."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import mcp_types as types
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from pydantic import FileUrl

from support.program import TEJAT, ProgramEnv
from support.wait import wait_until_async

TOKEN = "a-token-that-nobody-guesses"
SERVE = ("mcp", "serve", "--sandbox", "off")
ERAS = {"legacy": "2025-11-25", "auto": "2026-07-28"}

both_ways = pytest.mark.parametrize("way", ["stdio", "http"])
both_eras = pytest.mark.parametrize("era", ERAS)


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path)


Connect = Callable[..., Any]


@asynccontextmanager
async def connecting(machine: ProgramEnv, way: str, *flags: str) -> AsyncGenerator[Connect]:
    """Gives a function that makes clients of one server, or (stdio) of one server each."""
    words = [*SERVE, *flags]
    if way == "stdio":
        command = StdioServerParameters(
            command=sys.executable, args=[*TEJAT[1:], *words], env=machine.environment, cwd=machine.project
        )

        def over_pipes(**options: Any) -> Client:
            return Client(command, read_timeout_seconds=60, **options)

        yield over_pipes
        return
    process = await asyncio.create_subprocess_exec(
        *TEJAT,
        *words,
        "--http",
        cwd=machine.project,
        env={**machine.environment, "TEJAT_MCP_TOKEN": TOKEN},
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    try:
        line = (await process.stderr.readline()).decode()
        found = re.search(r"http://127\.0\.0\.1:\d+/mcp", line)
        assert found, line
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with httpx2.AsyncClient(headers=headers, timeout=60) as http:

            def over_http(**options: Any) -> Client:
                transport = streamable_http_client(found.group(), http_client=http)
                return Client(transport, read_timeout_seconds=60, **options)

            yield over_http
    finally:
        process.terminate()
        rest = (await process.stderr.read()).decode()
        assert await process.wait() == 128 + signal.SIGTERM
        assert "Traceback" not in rest


def visit(machine: ProgramEnv, way: str, work: Callable[[Connect], Awaitable[object]], *flags: str) -> None:
    async def main() -> None:
        async with asyncio.timeout(100), connecting(machine, way, *flags) as connect:
            await work(connect)

    asyncio.run(main())


def text_of(result: types.CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, types.TextContent)
    return block.text


def answering(asked: list[str], decision: str | None) -> Callable[..., Awaitable[types.ElicitResult]]:
    """Somebody who decides always the same; None: they decline."""

    async def answer(_: object, params: Any) -> types.ElicitResult:
        asked.append(params.message)
        if decision is None:
            return types.ElicitResult(action="decline")
        return types.ElicitResult(action="accept", content={"decision": decision})

    return answer


@both_ways
@both_eras
def test_a_visit_with_questions(machine: ProgramEnv, way: str, era: str) -> None:
    (machine.project / "a.txt").write_text("hello\n")
    asked: list[str] = []
    path = machine.project / "new.txt"

    async def work(connect: Connect) -> None:
        async with connect(mode=era, elicitation_callback=answering(asked, "allow once")) as client:
            assert client.protocol_version == ERAS[era]
            assert client.server_info.name == "tejat"
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert tools["read_file"].annotations.read_only_hint is True
            assert text_of(await client.call_tool("read_file", {"path": "a.txt"})) == "hello\n"
            await client.call_tool("write_file", {"file_path": str(path), "content": "x\n"})
            assert path.read_text() == "x\n"
            with pytest.raises(MCPError, match="Unknown tool: nothing") as caught:
                await client.call_tool("nothing", {})
            assert caught.value.error.code == types.INVALID_PARAMS
        path.unlink()
        async with connect(mode=era, elicitation_callback=answering(asked, None)) as client:
            refused = await client.call_tool("write_file", {"file_path": str(path), "content": "x\n"})
            assert refused.is_error
            assert text_of(refused) == "[Operation Cancelled] Reason: User did not allow tool call."

    visit(machine, way, work)
    assert not path.exists()
    assert [message.split("\n")[0] for message in asked] == ["Confirm Write: new.txt"] * 2


@both_ways
@both_eras
def test_a_visit_of_somebody_who_cannot_be_asked(machine: ProgramEnv, way: str, era: str) -> None:
    told: list[str] = []

    async def hear(_done: float, _total: float | None, message: str | None) -> None:
        told.append(message or "")

    async def work(connect: Connect) -> None:
        async with connect(mode=era) as client:
            denied = await client.call_tool("run_shell_command", {"command": "touch x"})
            assert denied.is_error
            assert text_of(denied).endswith("Add a rule to allow it: allow run_shell_command: touch")
            command = "echo one; sleep 1; echo two"
            done = await client.call_tool("run_shell_command", {"command": command}, progress_callback=hear)
            assert not done.is_error

    visit(machine, way, work, "--allowed-tools", "run_shell_command(echo),run_shell_command(sleep)")
    assert told[0] == "one\n"
    assert list(machine.project.iterdir()) == []


@both_ways
@both_eras
def test_a_call_that_is_given_up_ends_with_its_command(machine: ProgramEnv, way: str, era: str) -> None:
    pid = machine.project / "pid"

    async def work(connect: Connect) -> None:
        async with connect(mode=era) as client:
            call = client.call_tool("run_shell_command", {"command": "echo $$ > pid; sleep 3600"})
            running = asyncio.create_task(call)
            await wait_until_async(lambda: pid.exists() and pid.read_text())
            running.cancel()
            await wait_until_async(lambda: not is_alive(pid))
            assert not (await client.call_tool("glob", {"pattern": "*"})).is_error

    visit(machine, way, work, "--approval-mode", "yolo")


@both_ways
def test_roots_of_the_client(machine: ProgramEnv, way: str) -> None:
    for name in ("a", "b"):
        (machine.project / name).mkdir()
        (machine.project / name / "file").write_text(f"{name}\n")

    async def roots(_: object) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=FileUrl(f"file://{machine.project}/a"))])

    async def work(connect: Connect) -> None:
        async with connect(mode="legacy", list_roots_callback=roots) as client:
            inside = await client.call_tool("read_file", {"path": f"{machine.project}/a/file"})
            outside = await client.call_tool("read_file", {"path": f"{machine.project}/b/file"})
            assert (text_of(inside), inside.is_error, outside.is_error) == ("a\n", False, True)

    visit(machine, way, work)


def is_alive(pid: Path) -> bool:
    return Path(f"/proc/{pid.read_text().strip()}").exists()


HELLO = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}}
LONG = {"name": "run_shell_command", "arguments": {"command": "echo $$ > pid; sleep 3600 & wait"}}


@pytest.mark.parametrize(
    ("number", "code"), [(None, 0), (signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)]
)
def test_the_end_leaves_nothing_behind(machine: ProgramEnv, number: signal.Signals | None, code: int) -> None:
    """Whoever hangs up or sends a signal ends the commands that run, and gets no traceback."""
    lines = [HELLO, {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": LONG}]
    process = machine.start(*SERVE, "--approval-mode", "yolo", stdin=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    process.stdin.flush()
    pid = machine.project / "pid"
    asyncio.run(wait_until_async(lambda: pid.exists() and pid.read_text()))
    if number is None:
        process.stdin.close()
        process.stdin = None
    else:
        process.send_signal(number)
    out, aside = process.communicate(timeout=60)
    assert (process.returncode, aside) == (code, b"")
    assert [json.loads(line)["id"] for line in out.splitlines()] == [1]
    assert not is_alive(pid)


class TestStarting:
    @pytest.mark.parametrize(
        ("flags", "words"),
        [
            (["--root", "nowhere"], "nowhere"),
            (["--token-file", "x"], "--token-file works only with --http"),
            (["--http", "--token-file", "nothing"], "The token file does not exist: nothing"),
            (["--http", "99999"], "must be a port number from 0 to 65535"),
            (["extra"], "Unexpected argument 'extra'."),
        ],
    )
    def test_what_cannot_be_served(self, machine: ProgramEnv, flags: list[str], words: str) -> None:
        done = machine.run(*SERVE, *flags, stdin="")
        assert (done.code, done.stdout) == (2, "")
        assert words in done.stderr

    def test_tokens_that_are_none(self, machine: ProgramEnv) -> None:
        (machine.project / "token").write_text("short\n")
        (machine.project / "token").chmod(0o600)
        done = machine.run(*SERVE, "--http", "--token-file", "token")
        assert (done.code, done.stderr) == (
            2,
            "tejat: The token in the file token must have at least 16 printable ASCII characters and no spaces.\n",
        )
        done = machine.run(*SERVE, "--http", TEJAT_MCP_TOKEN="with a space in it")
        assert done.code == 2

    def test_what_is_said_when_it_listens(self, machine: ProgramEnv) -> None:
        (machine.project / "token").write_text(f"{TOKEN}\n")
        (machine.project / "token").chmod(0o600)
        told: list[str] = []
        for flags in ([], ["--token-file", "token"]):
            process = machine.start(*SERVE, "--http", *flags)
            assert process.stderr is not None
            told += [process.stderr.readline().decode() for _ in range(2)]
            process.terminate()
            out, aside = process.communicate(timeout=60)
            assert (process.returncode, out, aside) == (143, b"", b"")
        assert re.fullmatch(r"tejat: Serving on http://127\.0\.0\.1:\d+/mcp\n", told[0])
        assert re.fullmatch(r"tejat: Clients must send the header Authorization: Bearer [\w-]{43}\n", told[1])
        assert (
            told[3]
            == "tejat: Clients must send the token from the file token in the header Authorization: Bearer ...\n"
        )

    def test_a_port_that_is_taken(self, machine: ProgramEnv) -> None:
        process = machine.start(*SERVE, "--http")
        assert process.stderr is not None
        port = re.findall(r":(\d+)/", process.stderr.readline().decode())[0]
        done = machine.run(*SERVE, "--http", port)
        process.terminate()
        process.communicate(timeout=60)
        assert done.code == 2
        assert f"Could not listen on port {port}" in done.stderr

    def test_only_messages_go_to_standard_output(self, machine: ProgramEnv) -> None:
        """Nothing that runs in the program can write between them, not even with `print`."""
        program = (
            "import os, sys, tejat.ui.mcp_server.tool_list as tool_list\n"
            "before = tool_list.list_tools\n"
            "def noisy(tools, **options):\n"
            "    print('noise', flush=True); os.system('echo more noise')\n"
            "    return before(tools, **options)[:1]\n"
            "import tejat.ui.mcp_server.server_session as server_session\n"
            "server_session.list_tools = noisy\n"
            "from tejat.cli.main import main\n"
            "sys.exit(main(['mcp', 'serve']))\n"
        )
        lines = [HELLO, {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}]
        done = subprocess.run(
            [sys.executable, "-c", program],
            input="".join(json.dumps(line) + "\n" for line in lines),
            capture_output=True,
            text=True,
            cwd=machine.project,
            env=machine.environment | {"PYTHONPATH": os.pathsep.join(sys.path)},
            timeout=60,
            check=True,
        )
        assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [1, 2]
        assert done.stderr == "noise\nmore noise\n"

    def test_somebody_at_a_terminal_is_told(self, machine: ProgramEnv) -> None:
        ours, theirs = os.openpty()
        process = machine.start(*SERVE, stdin=theirs)
        assert process.stderr is not None
        told = process.stderr.readline().decode()
        os.write(ours, b"\x04")
        out, aside = process.communicate(timeout=60)
        os.close(ours)
        os.close(theirs)
        assert told.startswith("tejat: Waiting for an MCP client on standard input")
        assert (process.returncode, out, aside) == (0, b"", b"")

    def test_the_help(self, machine: ProgramEnv) -> None:
        done = machine.run("mcp", "serve", "--help")
        assert (done.code, done.stderr) == (0, "")
        for flag in ("--root", "--approval-mode", "--allowed-tools", "--exclude-tools", "--sandbox", "--http"):
            assert flag in done.stdout


@both_ways
def test_todos_documentation_and_a_plan(machine: ProgramEnv, way: str) -> None:
    """The official client checks structured content against the schema of the tool."""
    asked: list[str] = []

    async def work(connect: Connect) -> None:
        async with connect(mode="legacy", elicitation_callback=answering(asked, "approve")) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert {"write_todos", "get_internal_docs", "enter_plan_mode", "exit_plan_mode"} <= set(tools)
            todos = [{"description": "Read", "status": "in_progress"}, {"description": "Write", "status": "pending"}]
            result = await client.call_tool("write_todos", {"todos": todos})
            assert result.structured_content == {"todos": todos}
            assert "- settings.md" in text_of(await client.call_tool("get_internal_docs", {}))
            assert text_of(await client.call_tool("enter_plan_mode", {})).startswith("Switching to Plan mode.")
            await client.call_tool("write_file", {"file_path": "plan.md", "content": "# Plan\n"})
            left = await client.call_tool("exit_plan_mode", {"plan_filename": "plan.md"})
            assert text_of(left).startswith("Plan approved.")

    visit(machine, way, work)
    (message,) = asked
    assert message.startswith("Approve plan: plan.md\nPlan: ")
