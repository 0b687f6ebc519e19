"""`tejat mcp list`: real servers, good and bad, side by side, and nothing left of them."""

import signal
import subprocess
import time
from pathlib import Path

import pytest

from support.mcp.cli_env import HOSTILE, OFFICIAL, McpCliEnv, make_cli_env, write_servers
from support.mcp.clients import living_pids
from support.mcp.oauth_server import oauth_server
from support.program import ProgramEnv, wait_for_exit, write_json
from support.raw_server import run_checked
from support.terminal.pty_program import run_at_terminal

LIMIT = 60
NO_PROGRAM = (
    "The server did not start: no program 'no-such-program-here' on PATH. "
    "Install it, or fix `command`, which may be a path."
)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> McpCliEnv:
    here = make_cli_env(tmp_path, monkeypatch, capsys)
    here.trust()
    return here


def test_none(here: McpCliEnv) -> None:
    done = here.mcp("list")
    assert (done.code, done.stdout, done.stderr) == (0, "No MCP servers configured.\n", "")
    assert here.mcp("list", "--json").json == []


def test_what_became_of_each(here: McpCliEnv) -> None:
    here.write_servers(
        good=OFFICIAL,
        some={"command": HOSTILE[0], "args": HOSTILE[1:], "includeTools": ["echo"]},
        ends=[*HOSTILE, "die=start", "words=no\x1b[2J key"],
        missing=["no-such-program-here", "--token", "hunter2"],
        off=["x"],
        shut={"command": "x"},
        away={"httpUrl": "http://127.0.0.1:9/mcp?key=hunter2"},
        neither={},
    )
    write_json(here.project_file, {"mcp": {"excluded": ["shut"]}})
    here.trust()
    here.mcp("disable", "off")
    done = here.mcp("list")
    python = HOSTILE[0]
    assert (done.code, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "Configured MCP servers:",
        "",
        f"✓ good: {python} (stdio) - Connected (2 tools)",
        f"✓ some: {python} (stdio) - Connected (1 tool)",
        f"✗ ends: {python} (stdio) - Disconnected",
        "    The server exited with code 3.",
        "    | no key",
        "    Details: tejat mcp test ends",
        "✗ missing: no-such-program-here (stdio) - Disconnected",
        f"    {NO_PROGRAM}",
        "    Details: tejat mcp test missing",
        "○ off: x (stdio) - Disabled",
        "    It is disabled. Enable it with `tejat mcp enable off`.",
        "✗ shut: x (stdio) - Blocked",
        f"    {here.project_file}:1 excludes it.",
        "✗ away: http://127.0.0.1:9 (http) - Disconnected",
        "    Could not connect to 127.0.0.1:9: Connection refused.",
        "    Details: tejat mcp test away",
        "✗ neither:  (unknown) - Disconnected",
        "    Invalid configuration: missing httpUrl (for Streamable HTTP), url (for SSE), and command (for stdio).",
        "    Details: tejat mcp test neither",
    ]


def test_json(here: McpCliEnv) -> None:
    here.write_servers(good=[*HOSTILE, "bad-items"], ends=[*HOSTILE, "die=start", "words=bye"])
    done = here.mcp("list", "--json")
    good, ends = done.json
    assert done.code == 0
    assert {**good, "tools": good["tools"][0], "problems": 0, "seconds": 0} == {
        "name": "good",
        "state": "connected",
        "transport": "stdio",
        "where": HOSTILE[0],
        "source": f"{here.user_file}:1",
        "step": None,
        "reason": "",
        "lastWords": [],
        "seconds": 0,
        "server": {"name": "hostile", "version": "1", "revision": good["server"]["revision"]},
        "tools": {"name": "good__echo", "tokens": good["tools"][0]["tokens"]},
        "prompts": ["greet", "part"],
        "resources": ["memo://one", "memo://two"],
        "problems": 0,
    }
    assert good["tools"][0]["tokens"] > 10
    assert good["problems"] != []
    told = (ends["state"], ends["step"], ends["lastWords"], ends["server"], ends["tools"], ends["problems"])
    assert told == ("disconnected", "handshake", ["bye"], None, [], [])


def test_one_that_wants_to_know_who_asks(here: McpCliEnv) -> None:
    async def main() -> None:
        async with oauth_server() as server:
            here.write_servers(wiki={"httpUrl": server.mcp})
            done = await here.run_in_process("list")
            lines = done.stdout.splitlines()
            assert lines[2] == f"✗ wiki: {server.url} (http) - Needs login"
            assert lines[-1] == "    Log in: tejat mcp auth wiki"

    run_checked(main())


@pytest.mark.parametrize(("locale", "marks"), [({"LANG": "C"}, "+x"), ({"LC_ALL": "C.UTF-8"}, "✓✗")])
def test_marks_for_every_terminal(
    here: McpCliEnv, monkeypatch: pytest.MonkeyPatch, locale: dict[str, str], marks: str
) -> None:
    here.write_servers(good=HOSTILE, bad=["no-such-program-here"])
    for name in ("LANG", "LC_ALL", "LC_CTYPE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in locale.items():
        monkeypatch.setenv(name, value)
    lines = here.mcp("list").stdout.splitlines()
    assert lines[2][0] + lines[3][0] == marks


class TestTrust:
    def test_nothing_is_started_where_nobody_trusts(self, here: McpCliEnv, tmp_path: Path) -> None:
        pids = tmp_path / "pids"
        here.write_servers(mine=[*HOSTILE, f"pids={pids}"])
        write_json(here.project_file, {"mcpServers": {"theirs": {"command": "touch", "args": [str(pids)]}}})
        done = here.mcp("list")
        reason = f"{here.project} is no longer trusted. Changed since then: .gemini/settings.json."
        assert done.stdout.splitlines()[2:] == [
            f"✗ mine: {HOSTILE[0]} (stdio) - Blocked",
            f"    {reason} Its servers are not started. See `tejat trust`.",
        ]
        assert done.stderr == (
            "tejat: This folder has changed since it was trusted: its configuration is ignored "
            "(.gemini/settings.json). See `tejat trust`.\n"
        )
        assert not pids.exists()


class TestEnding:
    """Whoever ends the command ends its servers too, however stubborn they are."""

    def test_in_the_ordinary_way(self, here: McpCliEnv, tmp_path: Path) -> None:
        pids = tmp_path / "pids"
        here.write_servers(a=[*HOSTILE, "stubborn", f"pids={pids}"], b=[*HOSTILE, f"pids={pids}"])
        assert here.mcp("list").code == 0
        assert len(pids.read_text().split()) == 4
        assert living_pids(pids) == []

    @pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
    def test_by_a_signal(self, tmp_path: Path, number: int, code: int) -> None:
        machine = ProgramEnv(tmp_path)
        pids = tmp_path / "pids"
        stall(machine, pids)
        process = machine.start("mcp", "list")
        wait_for(pids, process)
        process.send_signal(number)
        done = wait_for_exit(process)
        assert (done.code, done.stderr) == (code, "")
        assert living_pids(pids) == []

    def test_by_a_person(self, tmp_path: Path) -> None:
        machine = ProgramEnv(tmp_path)
        pids = tmp_path / "pids"
        stall(machine, pids)
        with run_at_terminal("-m", "tejat", "mcp", "list", cwd=machine.project, HOME=str(machine.home)) as terminal:
            wait_for(pids, terminal.process)
            terminal.type(b"\x03")
            code, printed = terminal.wait_for_exit()
        assert (code, terminal.shown.strip(), printed) == (130, "^C", "")
        assert living_pids(pids) == []


def stall(machine: ProgramEnv, pids: Path) -> None:
    write_servers(
        machine.home, slow=[*HOSTILE, "silent=initialize", "silent=server/discover", "stubborn", f"pids={pids}"]
    )
    assert machine.run("trust", "--yes").code == 0


def wait_for(path: Path, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + LIMIT
    while not path.exists() or not path.read_text().endswith("\n"):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize("words", [["a"], ["--nonsense"]])
def test_bad_usage(here: McpCliEnv, words: list[str]) -> None:
    assert here.mcp("list", *words).code == 2
