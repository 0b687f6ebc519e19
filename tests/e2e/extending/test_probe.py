"""`tejat extensions preview --probe`: servers start after a yes of their own, and the numbers are in the sheet."""

import json
import sys
from pathlib import Path

import pytest

from support.packages import write_tree
from support.process_marks import living_pids, new_mark
from support.program import ProgramEnv
from support.terminal.chat import TerminalEnv, terminal_env
from support.wait import wait_until

__all__ = ["terminal_env"]

SERVER = """\
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    if request.get("method") == "initialize":
        about = {"name": "s", "version": "1"}
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": about}
    elif request.get("method") == "tools/list":
        result = {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in ("find", "store")]}
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"""


def write_probed(directory: Path, **servers: object) -> str:
    """An extension with a server that works, and others; the argument that marks the first."""
    mark = new_mark()
    first = {"command": sys.executable, "args": ["${extensionPath}/server.py", mark]}
    manifest = {"name": "demo", "version": "1.0.0", "mcpServers": {"files": first, **servers}}
    write_tree(directory, {"gemini-extension.json": json.dumps(manifest), "server.py": SERVER})
    return mark


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path)


def test_numbers_in_the_sheet(machine: ProgramEnv) -> None:
    mark = write_probed(machine.project / "demo", web={"httpUrl": "https://example.org/mcp"}, bad={"command": "false"})
    done = machine.run("extensions", "preview", "./demo", "--probe", "--yes")
    assert (done.code, done.stderr) == (0, "")
    section = done.stdout[done.stdout.index("Tools, from a trial start") :]
    assert "  MCP server files: 2 tools, " in section
    assert "      > files__find (" in section
    assert "  MCP server web\n      not contacted: it is a remote server\n      > https://example.org/mcp\n" in section
    assert "  MCP server bad\n      failed: The server exited with code 1.\n" in section
    assert "2 tools of files; known after the first start of: web, bad" in section
    assert living_pids(mark) == []
    assert list((machine.home / ".gemini/extensions").iterdir()) == []


def test_numbers_in_json(machine: ProgramEnv) -> None:
    write_probed(machine.project / "demo")
    without = machine.run("extensions", "preview", "./demo", "-o", "json").json
    found = machine.run("extensions", "preview", "./demo", "--probe", "--yes", "-o", "json").json
    assert "probe" not in without
    (server,) = found["probe"]
    assert (server["server"], server["state"], server["reason"]) == ("files", "listed", "")
    assert [tool["name"] for tool in server["tools"]] == ["files__find", "files__store"]
    assert server["tokens"] == sum(tool["tokens"] for tool in server["tools"]) > 0
    assert found["effect"]["tools"]["change"] == server["tokens"]
    assert found["effect"]["tokens"]["with"] == without["effect"]["tokens"]["with"] + server["tokens"]


@pytest.mark.parametrize(
    ("words", "message"), [([], "Use --yes to agree to what is shown."), (["-o", "json"], "Add --yes to start")]
)
def test_nobody_to_ask(machine: ProgramEnv, words: list[str], message: str) -> None:
    write_probed(machine.project / "demo")
    done = machine.run("extensions", "preview", "./demo", "--probe", *words)
    assert done.code == 3
    assert message in done.stderr
    assert "from a trial start" not in done.stdout


def test_nothing_to_start(machine: ProgramEnv) -> None:
    write_tree(machine.project / "plain", {"gemini-extension.json": '{"name": "plain", "version": "1.0.0"}'})
    done = machine.run("extensions", "preview", "./plain", "--probe")
    assert done.code == 0
    assert done.stdout.endswith("It has no MCP servers to start.\n")
    assert machine.run("extensions", "preview", "./plain", "--probe", "-o", "json").json["probe"] == []


def test_yes_to_nothing(machine: ProgramEnv) -> None:
    write_probed(machine.project / "demo")
    done = machine.run("extensions", "preview", "./demo", "--yes")
    assert (done.code, "Use --yes with --probe." in done.stderr) == (2, True)


def test_the_servers_of_an_extension_that_is_linked_or_installed_are_not_started(machine: ProgramEnv) -> None:
    """Only the preview starts anything."""
    started = machine.project / "started"
    server = {"command": "touch", "args": [str(started)]}
    write_probed(machine.project / "demo", other=server)
    for words in (["validate", "./demo"], ["preview", "./demo"], ["install", "./demo", "--yes"], ["list"]):
        assert machine.run("extensions", *words).code == 0
    assert not started.exists()


class TestAtTheTerminal:
    @pytest.mark.parametrize(("keys", "code"), [("\n", 3), ("1\n", 3), ("\x03", 130)])
    def test_no(self, terminal_env: TerminalEnv, keys: str, code: int) -> None:
        mark = write_probed(terminal_env.project / "demo")
        with terminal_env.open_program("extensions", "preview", "./demo", "--probe", PAGER="cat") as user:
            user.wait_for("Start its MCP servers once, in the sandbox and without network")
            user.wait_for("Your choice", idle=True)
            user.type(keys)
            assert user.wait_for_exit() == code
            assert "from a trial start" not in user.screen.history()
        assert living_pids(mark) == []

    def test_yes(self, terminal_env: TerminalEnv) -> None:
        write_probed(terminal_env.project / "demo")
        with terminal_env.open_program("extensions", "preview", "./demo", "--probe", PAGER="cat") as user:
            user.wait_for("Your choice", idle=True)
            user.type("2\n")
            user.wait_for("MCP server files: 2 tools")
            assert user.wait_for_exit() == 0

    def test_ctrl_c_ends_the_servers(self, terminal_env: TerminalEnv) -> None:
        mark = new_mark()
        write_probed(terminal_env.project / "demo", slow={"command": "sleep", "args": [mark]})
        with terminal_env.open_program("extensions", "preview", "./demo", "--probe", "--yes") as user:
            wait_until(lambda: living_pids(mark), wanted="the server")
            user.press("c-c")
            assert user.wait_for_exit() == 130
        wait_until(lambda: not living_pids(mark), 5, "the end of the server")
        assert list((terminal_env.home / ".gemini/extensions").iterdir()) == []
