"""A trial start of servers that nobody has agreed to: what they see, what they cannot do, and that nothing is left."""

import asyncio
import json
import os
import socket
import sys
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from support.packages import write_tree
from support.process_marks import living_pids, new_mark
from support.program import ProgramEnv
from support.wait import wait_until, wait_until_async
from tejat.app.extensions.description.server_tools import ProbedServer, ProbeState
from tejat.app.extensions.environment import ExtensionEnvironment
from tejat.app.extensions.probe import probe_servers, starts_programs
from tejat.app.extensions.staged import StagedExtension, prepare_package
from tejat.app.run_config import load_user_config
from tejat.config.extensions.install_record import InstallRecord, InstallType
from tejat.config.trust.decision import trust_folder
from tejat.core.approval.modes import SandboxMode
from tejat.workspace.downloads.package import FetchedPackage, PackageType
from tejat.workspace.sandbox.selection import select_sandbox

SECRET = "sk-test-0123456789abcdef"
SERVER = """\
import json, os, socket, sys

def works(action):
    try:
        action()
    except OSError:
        return False
    return True

def connect():
    socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=2).close()

facts = {
    "has_key": os.environ.get("MY_KEY") == sys.argv[2],
    "has_another_secret": "OTHER_TOKEN" in os.environ,
    "has_no_bytecode": os.environ.get("PYTHONDONTWRITEBYTECODE") == "1",
    "is_in_the_project": os.path.exists("marker"),
    "writes_here": works(lambda: open("written", "w").close()),
    "writes_the_extension": works(lambda: open(os.path.join(os.path.dirname(__file__), "x"), "w").close()),
    "reads_keys": works(lambda: open(os.path.expanduser("~/.ssh/id")).read()),
    "reaches_others": works(connect),
}
for line in sys.stdin:
    request = json.loads(line)
    if request.get("method") == "initialize":
        about = {"name": "s", "version": "1"}
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": about}
    elif request.get("method") == "tools/list":
        names = [name for name, holds in facts.items() if holds] + ["last"]
        result = {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in names]}
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"""
PYTHON = {"command": sys.executable}


@pytest.fixture
def listener() -> Generator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server


class Prober:
    """Probes extensions in a home with a key, and a project."""

    def __init__(self, machine: ProgramEnv, listener: socket.socket) -> None:
        self.machine = machine
        self._listener = listener
        write_tree(machine.home, {".ssh/id": "key"})
        (machine.project / "marker").write_text("")
        machine.environment |= {"OTHER_TOKEN": SECRET, "MY_KEY": SECRET}

    @property
    def environment(self) -> ExtensionEnvironment:
        config = load_user_config([str(self.machine.project)], environment=self.machine.environment)
        return ExtensionEnvironment(config.load_project(extensions=()))

    def stage(self, servers: dict[str, Any], **fields: Any) -> StagedExtension:
        """An extension that was fetched, beside the installed ones."""
        manifest = {"name": "demo", "version": "1.0.0", "mcpServers": servers, **fields}
        tree = self.machine.home / ".gemini/extensions/.staging/tree"
        write_tree(tree, {"gemini-extension.json": json.dumps(manifest), "server.py": SERVER})
        record = InstallRecord("/source", InstallType.LOCAL)
        return prepare_package(self.environment, FetchedPackage(str(tree), PackageType.LOCAL), record)

    def probe(self, servers: dict[str, Any], **fields: Any) -> dict[str, ProbedServer]:
        staged = self.stage(servers, **fields)
        return {server.alias: server for server in asyncio.run(probe_servers(self.environment, staged))}

    def facts(self, **fields: Any) -> set[str]:
        """What the server finds out about itself."""
        probed = self.probe({"s": {**PYTHON, "args": self.arguments}}, **fields)["s"]
        assert probed.state is ProbeState.LISTED, probed
        return {tool.name.removeprefix("s__") for tool in probed.tools} - {"last"}

    @property
    def arguments(self) -> list[str]:
        return ["${extensionPath}/server.py", str(self._listener.getsockname()[1]), SECRET]


@pytest.fixture
def prober(tmp_path: Path, listener: socket.socket) -> Prober:
    (tmp_path / "state").mkdir()
    report = select_sandbox(SandboxMode.AUTO, roots=[str(tmp_path)], state_directory=str(tmp_path / "state"))[1]
    if not (report.files.enforced and report.network.enforced):
        pytest.skip("SANDBOX MISSING: no sandbox works here")
    return Prober(ProgramEnv(tmp_path), listener)


def test_tools_and_tokens(prober: Prober) -> None:
    probed = prober.probe({"s": {**PYTHON, "args": prober.arguments, "includeTools": ["last"]}})["s"]
    assert [tool.name for tool in probed.tools] == ["s__last"]
    assert probed.tokens == probed.tools[0].tokens > 0
    assert (probed.state, probed.reason, probed.quote) == (ProbeState.LISTED, "", "")


class TestConfined:
    def test_in_a_folder_that_is_not_trusted(self, prober: Prober) -> None:
        """The workspace is an empty directory, the only place that can be written to."""
        assert prober.facts() == {"has_no_bytecode", "writes_here"}

    def test_in_a_trusted_folder(self, prober: Prober) -> None:
        trust_folder(prober.environment.paths, str(prober.machine.project))
        assert prober.facts() == {"has_no_bytecode", "is_in_the_project"}
        assert [path.name for path in prober.machine.project.iterdir()] == ["marker"]
        assert not (prober.machine.home / ".gemini/extensions/.staging/tree/x").exists()

    def test_in_the_home_directory(self, prober: Prober) -> None:
        prober.machine.environment["HOME"] = str(prober.machine.project)
        write_tree(prober.machine.project, {".ssh/id": "key"})
        trust_folder(prober.environment.paths, str(prober.machine.project))
        assert prober.facts() == {"has_no_bytecode", "is_in_the_project"}


class TestValues:
    """Only the values that the user gave to this extension."""

    SETTINGS = ({"name": "Key", "envVar": "MY_KEY", "sensitive": True},)

    def install(self, prober: Prober, source: str, *, agree: bool = True) -> None:
        place = prober.machine.home / ".gemini/extensions/demo"
        manifest = {"name": "demo", "version": "0.9.0", "settings": self.SETTINGS}
        record = {"source": source, "type": "local"}
        files = {"gemini-extension.json": json.dumps(manifest), ".gemini-extension-install.json": json.dumps(record)}
        write_tree(place, files)
        stored = prober.machine.home / ".config/tejat/extension-settings"
        stored.mkdir(parents=True, mode=0o700)
        (stored / "demo.env").write_text(f"MY_KEY={SECRET}\n")
        (stored / "demo.env").chmod(0o600)
        if agree:
            assert prober.machine.run("extensions", "review", "demo", "--yes").code == 0

    def test_of_the_installed_one_from_the_same_source(self, prober: Prober) -> None:
        self.install(prober, "/source")
        assert "has_key" in prober.facts(settings=self.SETTINGS)

    @pytest.mark.parametrize(("source", "agree"), [("/other", True), ("/source", False)])
    def test_not_of_another_one_of_that_name(self, prober: Prober, source: str, agree: bool) -> None:
        self.install(prober, source, agree=agree)
        assert "has_key" not in prober.facts(settings=self.SETTINGS)

    def test_a_server_that_needs_one_is_not_started(self, prober: Prober) -> None:
        mark = new_mark()
        server = {"command": "sleep", "args": [mark], "env": {"K": "$MY_KEY"}}
        probed = prober.probe({"s": server}, settings=self.SETTINGS)["s"]
        assert (probed.state, str(probed.reason)) == (ProbeState.NOT_STARTED, "missing settings: Key")

    def test_they_are_not_shown(self, prober: Prober) -> None:
        self.install(prober, "/source")
        code = "import os, sys; sys.exit(os.environ['MY_KEY'])"
        probed = prober.probe({"s": {**PYTHON, "args": ["-c", code]}}, settings=self.SETTINGS)["s"]
        assert probed.state is ProbeState.FAILED
        assert SECRET not in str(probed.to_json())


class TestFailures:
    """Each is one line of ours, with a line of the server."""

    @pytest.mark.parametrize(
        ("code", "state", "reason", "quote"),
        [
            ("sys.exit('no \\x1b[2Jkey')", ProbeState.FAILED, "The server exited with code 1.", "no key"),
            (
                "import urllib.request as u; u.urlopen('http://example.org')",
                ProbeState.NEEDS_NETWORK,
                "The server exited with code 1.",
                "name resolution",
            ),
            ("sys.exit('Error: getaddrinfo EAI_AGAIN x')", ProbeState.NEEDS_NETWORK, "The server exited", "EAI_AGAIN"),
            ("print('{}'); sys.stdin.read()", ProbeState.FAILED, "Could not", ""),
        ],
        ids=["exit", "network", "words of Node", "silent"],
    )
    def test_of_a_program(self, prober: Prober, code: str, state: ProbeState, reason: str, quote: str) -> None:
        server = {**PYTHON, "args": ["-c", f"import sys; {code}"], "startTimeout": 1500}
        probed = prober.probe({"s": server})["s"]
        assert probed.state is state, probed
        assert quote in probed.quote
        if code.startswith("sys"):
            assert reason in str(probed.reason)

    def test_no_program(self, prober: Prober) -> None:
        probed = prober.probe({"s": {"command": "no-such-program"}})["s"]
        assert probed.state is ProbeState.FAILED
        assert "no program 'no-such-program'" in str(probed.reason)

    def test_downloaders_are_not_started(self, prober: Prober) -> None:
        began = time.monotonic()
        probed = prober.probe({"s": {"command": "npx", "args": ["-y", "thing"]}})["s"]
        assert (probed.state, str(probed.reason)) == (
            ProbeState.NEEDS_NETWORK,
            "it fetches its code at every start",
        )
        assert time.monotonic() - began < 10

    def test_switched_off_by_the_user(self, prober: Prober) -> None:
        prober.machine.write_user_settings(mcp={"excluded": ["s"]})
        probed = prober.probe({"s": {**PYTHON, "args": prober.arguments}})["s"]
        assert probed.state is ProbeState.NOT_STARTED
        assert "excludes it" in str(probed.reason)

    def test_one_does_not_affect_another(self, prober: Prober) -> None:
        servers = {"a": {"command": "false"}, "b": {**PYTHON, "args": prober.arguments}}
        assert [probed.state for probed in prober.probe(servers).values()] == [ProbeState.FAILED, ProbeState.LISTED]


def test_remote_servers_are_not_contacted(prober: Prober, listener: socket.socket) -> None:
    address = f"http://127.0.0.1:{listener.getsockname()[1]}/$MY_KEY"
    servers = {"h": {"httpUrl": address}, "u": {"url": address}}
    assert not starts_programs(prober.stage(servers))
    for probed in prober.probe(servers).values():
        assert (probed.state, str(probed.reason), probed.quote) == (
            ProbeState.REMOTE,
            "it is a remote server",
            address,
        )
    with pytest.raises(BlockingIOError):
        listener.accept()


class TestNothingLeft:
    DAEMONS = "import os, subprocess, sys, time, signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " + "; ".join(
        [
            "[subprocess.Popen(['sleep', sys.argv[1]], start_new_session=True) for _ in range(2)]",
            "time.sleep(float(sys.argv[1]))",
        ]
    )

    def left(self, prober: Prober, mark: str) -> bool:
        staging = [path.name for path in Path(os.environ.get("TMPDIR", "/tmp")).glob("tejat-probe-*")]
        return bool(living_pids(mark) or staging)

    def test_of_a_server_that_hangs(self, prober: Prober) -> None:
        mark, began = new_mark(), time.monotonic()
        server = {**PYTHON, "args": ["-c", self.DAEMONS, mark], "startTimeout": 1500}
        assert prober.probe({"s": server})["s"].state is ProbeState.FAILED
        assert time.monotonic() - began < 15
        wait_until(lambda: not living_pids(mark), 5, "the end of all processes")

    def test_after_a_cancellation(self, prober: Prober) -> None:
        mark = new_mark()
        staged = prober.stage({"s": {**PYTHON, "args": ["-c", self.DAEMONS, mark]}})

        async def cancel() -> None:
            task = asyncio.create_task(probe_servers(prober.environment, staged))
            await wait_until_async(lambda: len(living_pids(mark)) >= 3)
            task.cancel()
            await asyncio.wait([task])
            assert task.cancelled()

        asyncio.run(cancel())
        wait_until(lambda: not self.left(prober, mark), 5, "the end of all processes")
