"""`tejat mcp auth`: a login with a browser on this machine or another, and forgetting it."""

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.mcp.cli_env import McpCliEnv, make_cli_env, write_servers
from support.mcp.oauth_server import OAuthServer, follow_redirects, oauth_server
from support.program import ProgramEnv, wait_for_exit
from support.terminal.pty_program import PtyProgram, run_at_terminal, write_script

LIMIT = 60
PASTE = "paste the address it ends at: "


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> McpCliEnv:
    return make_cli_env(tmp_path, monkeypatch, capsys)


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path)


@contextmanager
def served(home: Path) -> Generator[OAuthServer]:
    """A server that wants to know who asks, called wiki in the settings. It answers while this thread waits."""
    ready, leave = threading.Event(), asyncio.Event()
    found: list[tuple[OAuthServer, asyncio.AbstractEventLoop]] = []

    async def serve() -> None:
        async with oauth_server() as server:
            found.append((server, asyncio.get_running_loop()))
            ready.set()
            await leave.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    assert ready.wait(LIMIT)
    server, loop = found[0]
    write_servers(home, wiki={"httpUrl": server.mcp})
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(leave.set)
        thread.join(LIMIT)


def directory(home: Path) -> Path:
    return home / ".local" / "state" / "tejat" / "mcp-logins"


def kept(home: Path) -> int:
    """How many logins are kept."""
    return len(list(directory(home).glob("*.json")))


def address_shown(process: "subprocess.Popen[bytes]") -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith(b"  http"):
            return line.decode().strip()
    pytest.fail("no address was shown")


def logged_in(home: Path) -> str:
    return f"Logged in to wiki. Credentials are stored in {directory(home)}\n"


class TestLogin:
    def test_with_a_browser_on_this_machine(self, machine: ProgramEnv) -> None:
        with served(machine.home) as server:
            process = machine.start("mcp", "auth", "wiki")
            address = address_shown(process)
            assert address.startswith(f"{server.url}/authorize?")
            assert asyncio.run(follow_redirects(address)) == "HTTP/1.1 200 OK"
            done = wait_for_exit(process)
        assert (done.code, done.stdout.lstrip("\n"), done.stderr) == (0, logged_in(machine.home), "")
        assert kept(machine.home) == 1
        assert directory(machine.home).stat().st_mode & 0o777 == 0o700

    def test_the_browser_is_opened_only_if_wanted(self, machine: ProgramEnv, tmp_path: Path) -> None:
        opened = tmp_path / "opened"
        browser = write_script(tmp_path / "browser", f'echo "$1" > {opened}.new', f"mv {opened}.new {opened}")
        machine.environment["BROWSER"] = f"{browser} %s"
        with served(machine.home):
            process = machine.start("mcp", "auth", "wiki", "--open")
            address = address_shown(process)
            deadline = time.monotonic() + LIMIT
            while not opened.exists():
                assert time.monotonic() < deadline
                time.sleep(0.02)
            assert opened.read_text() == f"{address}\n"
            asyncio.run(follow_redirects(address))
            assert wait_for_exit(process).code == 0
            opened.unlink()
            machine.run("mcp", "auth", "wiki", "--forget")
            process = machine.start("mcp", "auth", "wiki")
            asyncio.run(follow_redirects(address_shown(process)))
            assert wait_for_exit(process).code == 0
            machine.environment["NO_BROWSER"] = "true"
            process = machine.start("mcp", "auth", "wiki", "--open")
            asyncio.run(follow_redirects(address_shown(process)))
            ended = wait_for_exit(process)
            assert (ended.code, "No browser was opened, because NO_BROWSER is set." in ended.stderr) == (0, True)
        assert not opened.exists()

    def test_with_a_browser_on_another_machine(self, machine: ProgramEnv) -> None:
        with served(machine.home), sitting(machine) as terminal:
            address = address_shown(terminal.process)
            terminal.wait_for(PASTE)
            terminal.type(b"what is this?\n")
            terminal.wait_for(PASTE)
            terminal.type(redirect(address).encode() + b"\n")
            code, printed = terminal.wait_for_exit()
        assert (code, printed.lstrip("\n")) == (0, logged_in(machine.home))
        assert kept(machine.home) == 1

    def test_an_interrupt_ends_it_at_once(self, machine: ProgramEnv) -> None:
        with served(machine.home), sitting(machine) as terminal:
            address_shown(terminal.process)
            terminal.wait_for(PASTE)
            terminal.type(b"\x03")
            code, _ = terminal.wait_for_exit()
        assert code == 130
        assert "Traceback" not in terminal.shown
        assert kept(machine.home) == 0

    def test_a_refusal(self, machine: ProgramEnv) -> None:
        with served(machine.home):
            process = machine.start("mcp", "auth", "wiki")
            back = redirect(address_shown(process))
            state = back.partition("state=")[2]
            asyncio.run(follow_redirects(f"{back.partition('?')[0]}?error=access_denied%1b%5B2J&state={state}"))
            done = wait_for_exit(process)
        assert (done.code, done.stderr) == (1, "tejat: The login was refused: access_denied<U+001B>[2J\n")
        assert kept(machine.home) == 0

    def test_a_server_that_is_not_there(self, here: McpCliEnv) -> None:
        here.write_servers(wiki={"httpUrl": "http://127.0.0.1:9/mcp"})
        done = here.mcp("auth", "wiki")
        assert (done.code, done.stdout) == (1, "")
        assert done.stderr == "tejat: Could not connect to 127.0.0.1:9: Connection refused.\n"

    def test_without_what_it_needs(self, here: McpCliEnv, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "mcp", None)
        here.write_servers(wiki={"httpUrl": "http://127.0.0.1:9/mcp"})
        done = here.mcp("auth", "wiki")
        told = "tejat: Server logins need the mcp package: pip install 'tejat[oauth]'\n"
        assert (done.code, done.stdout, done.stderr) == (1, "", told)


@contextmanager
def sitting(machine: ProgramEnv) -> Generator[PtyProgram]:
    with run_at_terminal("-m", "tejat", "mcp", "auth", "wiki", cwd=machine.project, HOME=str(machine.home)) as terminal:
        yield terminal


def redirect(address: str) -> str:
    """Where the page of the login leads to, without going there."""

    async def ask() -> str:
        host, _, target = address.removeprefix("http://").partition("/")
        name, _, port = host.partition(":")
        reader, writer = await asyncio.open_connection(name, int(port))
        writer.write(f"GET /{target} HTTP/1.1\r\nhost: x\r\n\r\n".encode())
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        writer.close()
        return next(line for line in head.split("\r\n") if line.startswith("location: ")).partition(": ")[2]

    return asyncio.run(ask())


class TestForgetting:
    def test_once_and_twice(self, machine: ProgramEnv) -> None:
        with served(machine.home):
            process = machine.start("mcp", "auth", "wiki")
            asyncio.run(follow_redirects(address_shown(process)))
            assert wait_for_exit(process).code == 0
            said = [machine.run("mcp", "auth", "wiki", "--forget") for _ in range(2)]
        assert [(done.code, done.stdout, done.stderr) for done in said] == [
            (0, "Deleted the login for wiki. It was not revoked at the server.\n", ""),
            (0, "There is no login for wiki.\n", ""),
        ]
        assert kept(machine.home) == 0


class TestWrong:
    @pytest.mark.parametrize("words", [[], ["--forget"]])
    def test_a_program_has_nowhere_to_log_in(self, here: McpCliEnv, words: list[str]) -> None:
        here.write_servers(one=["x"])
        done = here.mcp("auth", "one", *words)
        told = 'tejat: MCP server "one" is a local program and needs no login.\n'
        assert (done.code, done.stdout, done.stderr) == (2, "", told)

    def test_one_that_cannot_be_reached_at_all(self, here: McpCliEnv) -> None:
        here.write_servers(one={})
        done = here.mcp("auth", "one")
        assert (done.code, done.stdout) == (2, "")
        assert done.stderr.startswith("tejat: Invalid configuration: missing httpUrl ")

    def test_a_name_that_nobody_knows(self, here: McpCliEnv) -> None:
        here.write_servers(wiki=["x"])
        done = here.mcp("auth", "wikki")
        told = 'tejat: There is no MCP server "wikki" in the settings. Known servers: wiki.\n'
        assert (done.code, done.stdout, done.stderr) == (1, "", told)
        assert os.listdir(here.home) == [".gemini"]

    @pytest.mark.parametrize("words", [[], ["a", "b"], ["a", "--open", "--forget"], ["a", "--nonsense"]])
    def test_bad_usage(self, here: McpCliEnv, words: list[str]) -> None:
        assert here.mcp("auth", *words).code == 2
