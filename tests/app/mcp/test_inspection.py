"""Looking at servers: in order, within their limits, told step by step, with nothing left of them."""

import asyncio
import json
from collections.abc import Coroutine
from pathlib import Path
from typing import cast

import pytest

from support.mcp.cli_env import HOSTILE, OFFICIAL, write_servers
from support.mcp.clients import SECONDS, living_pids, read_messages
from support.program import write_json
from tejat.app.mcp.inspection import NoSuchServer, find_server, open_server_probe
from tejat.app.run_config import load_run_config
from tejat.config.paths import app_paths
from tejat.config.trust.decision import trust_folder
from tejat.mcp.types import ConnectionStep, ServerState, ServerStatus

SECRET = "hunter2-hunter2-hunter2"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("home", "project"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    trust_folder(app_paths({"HOME": str(tmp_path / "home")}), str(tmp_path / "project"))
    return tmp_path / "home"


@pytest.fixture
def project(home: Path) -> str:
    return str(home.parent / "project")


def run(main: Coroutine[None, None, None]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(SECONDS):
            await main

    asyncio.run(bounded())


def test_each_as_soon_as_it_and_those_before_it_have_settled(home: Path, project: str, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    write_servers(
        home,
        first=[*HOSTILE, f"pids={pids}"],
        never={
            "command": HOSTILE[0],
            "args": [*HOSTILE[1:], "silent=initialize", "silent=server/discover", f"pids={pids}"],
            "startTimeout": 1000,
        },
        last=[*HOSTILE, "die=start", f"pids={pids}"],
    )

    async def main() -> None:
        found: list[tuple[str, ServerState]] = []
        async with open_server_probe([project]) as servers:
            assert {status.state for status in servers.statuses()} == {ServerState.DISCONNECTED}
            async for status in servers.connect_all():
                found.append((status.alias, status.state))
                if status.alias == "first":
                    assert servers.statuses()[1].state is ServerState.CONNECTING
        assert found == [
            ("first", ServerState.CONNECTED),
            ("never", ServerState.DISCONNECTED),
            ("last", ServerState.DISCONNECTED),
        ]

    run(main())
    assert living_pids(pids) == []


def test_every_step_of_one(home: Path, project: str) -> None:
    write_servers(home, good=OFFICIAL, other=["no-such-program-here"])
    told: list[ServerStatus] = []

    async def main() -> None:
        async with open_server_probe([project], only="good", on_change=told.append) as servers:
            assert [status.alias async for status in servers.connect_all()] == ["good"]

    run(main())
    steps = [(status.state, status.step) for status in told]
    assert steps[: steps.index((ServerState.CONNECTED, None)) + 1] == [
        (ServerState.CONNECTING, ConnectionStep.START),
        (ServerState.CONNECTING, ConnectionStep.HANDSHAKE),
        (ServerState.CONNECTING, ConnectionStep.LIST),
        (ServerState.CONNECTED, None),
    ]


def test_what_a_session_would_have(home: Path, project: str) -> None:
    pins = Path(load_run_config([project]).paths.mcp_tool_pins(project))
    pins.parent.parent.mkdir(parents=True, mode=0o700)
    write_json(pins, {"version": 1, "tools": {"good__echo": "0" * 64}})
    write_servers(
        home, good={"command": HOSTILE[0], "args": [*HOSTILE[1:], "bad-items"], "includeTools": ["echo", "look"]}
    )

    async def main() -> None:
        async with open_server_probe([project]) as servers:
            async for status in servers.connect_all():
                offer = servers.offer(status)
                assert [(tool.name, tool.has_changed) for tool in offer.tools] == [
                    ("good__echo", True),
                    ("good__look", False),
                ]
                assert offer.tools[0].tokens > offer.tools[1].tokens > 0
                assert offer.problems
            assert servers.source("good") == f"{home / '.gemini' / 'settings.json'}:1"

    run(main())


@pytest.mark.parametrize("faults", [("die=start",), ()])
@pytest.mark.parametrize("is_in_settings", [True, False])
def test_secrets_that_servers_print(
    home: Path, project: str, monkeypatch: pytest.MonkeyPatch, faults: tuple[str, ...], is_in_settings: bool
) -> None:
    entry: dict[str, object] = {"command": HOSTILE[0], "args": [*HOSTILE[1:], *faults, f"words=key: {SECRET}"]}
    if is_in_settings:
        entry["env"] = {"API_KEY": SECRET}
    else:
        monkeypatch.setenv("API_KEY", SECRET)
    write_servers(home, one=entry)
    told: list[ServerStatus] = []

    async def main() -> None:
        async with open_server_probe([project], on_change=told.append) as servers:
            told.extend([status async for status in servers.connect_all()])
            assert servers.stderr_tail("one") == ("key: [the secret API_KEY]",)

    run(main())
    assert SECRET not in repr(told)


@pytest.mark.parametrize(
    ("entry", "warning"),
    [
        ({"httpUrl": "http://wiki.test/mcp?k=hunter2"}, "http://wiki.test is not encrypted: "),
        ({"httpUrl": "https://wiki.test/mcp"}, ""),
        ({"httpUrl": "http://127.0.0.1:9/"}, ""),
        ({"command": "x"}, ""),
        ({}, ""),
    ],
)
def test_warnings(home: Path, project: str, entry: dict[str, str], warning: str) -> None:
    write_servers(home, one=entry)

    async def main() -> None:
        async with open_server_probe([project]) as servers:
            said = servers.warning("one")
            assert said.startswith(warning)
            assert bool(said) == bool(warning)
            assert "hunter2" not in said

    run(main())


def test_what_we_can_do_for_a_server(home: Path, project: str, tmp_path: Path) -> None:
    """It may want to know where we work before it offers anything. Nobody is there to be asked."""
    record = tmp_path / "record"
    write_servers(home, one=[*HOSTILE, f"record={record}"])

    async def main() -> None:
        async with open_server_probe([project]) as servers:
            assert [status.state async for status in servers.connect_all()] == [ServerState.CONNECTED]

    run(main())
    greeting = next(message for message in read_messages(record) if message.get("method") == "initialize")
    assert cast("dict[str, dict[str, object]]", greeting["params"])["capabilities"].keys() == {"roots"}


def test_a_name_that_nobody_knows(home: Path, project: str) -> None:
    write_servers(home, one=["x"], two=["y"])

    async def main() -> None:
        with pytest.raises(NoSuchServer) as raised:
            async with open_server_probe([project], only="three"):
                pass
        assert (raised.value.name, raised.value.known, raised.value.notes) == ("three", ("one", "two"), ())

    run(main())


def test_the_server_of_the_command(home: Path, project: str) -> None:
    write_json(home / ".gemini" / "settings.json", {"mcpServerCommand": "x y"})
    setting = find_server(load_run_config([project]), "mcp")
    assert (setting.value.command, setting.value.arguments) == ("x", ("y",))


def test_whoever_leaves_early_leaves_nothing_behind(home: Path, project: str, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    write_servers(home, one=[*HOSTILE, "stubborn", f"pids={pids}"], two=[*HOSTILE, f"pids={pids}"])

    async def main() -> None:
        async with open_server_probe([project]) as servers:
            async for _ in servers.connect_all():
                break

    run(main())
    assert pids.exists()
    assert living_pids(pids) == []
    assert json.loads((home / ".gemini" / "settings.json").read_text())
