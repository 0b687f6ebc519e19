"""Tools that join a session while it runs: when they are looked for, who waits for them, what is left in the end."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from support.external_tools import SECONDS, ExternalToolsEnv, hostile_server
from support.mcp.clients import living_pids
from support.raw_server import run_checked
from support.wait import wait_until_async
from tejat.app.run_config import load_run_config
from tejat.app.tools.external_tools import ExternalToolContext, ExternalTools
from tejat.app.tools.tool_services import ToolServices
from tejat.config.mcp.enablement import set_server_enabled
from tejat.config.paths import app_paths
from tejat.tools.registry import ToolRegistry
from tejat.workspace.context import Workspace


@pytest.fixture
def env(tmp_path: Path) -> ExternalToolsEnv:
    return ExternalToolsEnv(tmp_path)


@asynccontextmanager
async def opened(
    env: ExternalToolsEnv, *, trusts_folder: bool = True
) -> AsyncGenerator[tuple[ExternalTools, ToolRegistry]]:
    """Those of the project, not begun yet, and in the end closed."""
    run_config = load_run_config([str(env.project)], environment=env.environment, trusts_folder=trusts_folder)
    with Workspace(run_config.roots) as workspace, ToolServices(workspace, run_config, "off") as services:
        registry = ToolRegistry()
        external = ExternalTools(ExternalToolContext(run_config, services, registry))
        try:
            yield external, registry
        finally:
            await external.close()


class TestBeginning:
    def test_nothing_happens_before_it(self, env: ExternalToolsEnv) -> None:
        pids = env.base / "pids"
        env.write_user_settings(mcpServers={"bad": hostile_server(f"pids={pids}")})

        async def main() -> None:
            async with opened(env) as (external, registry):
                assert await external.wait_ready() == ()
                assert (external.take_notices(), external.mcp_manager, registry.names()) == ([], None, [])

        run_checked(main())
        assert not pids.exists()

    def test_twice_is_once(self, env: ExternalToolsEnv) -> None:
        pids = env.base / "pids"
        env.write_user_settings(
            mcpServers={"bad": hostile_server(f"pids={pids}")},
            tools={"discoveryCommand": ["/bin/echo", '[{"name": "tide"}]']},
        )

        async def main() -> list[str]:
            async with opened(env) as (external, registry):
                external.start()
                external.start()
                assert await external.wait_ready() == ()
                external.start()
                assert await external.wait_ready(0) == ()
                return registry.names()

        names = run_checked(main())
        assert (names[0], "bad__echo" in names) == ("tide", True)
        assert len(pids.read_text().split()) == 1
        assert living_pids(pids) == []

    def test_in_a_folder_that_is_not_trusted_starts_nothing_and_says_so_once(self, env: ExternalToolsEnv) -> None:
        pids = env.base / "pids"
        entry = hostile_server(f"pids={pids}", trust=True)
        settings = {
            "mcpServers": {"a": entry, "b": entry},
            "mcp": {"serverCommand": [entry["command"], *entry["args"]]},
            "tools": {"discoveryCommand": ["/usr/bin/touch", str(pids)]},
        }
        env.write_user_settings(**settings)
        env.write_project_settings(**settings)

        async def main() -> tuple[list[str], list[str]]:
            async with opened(env, trusts_folder=False) as (external, registry):
                external.start()
                assert await external.wait_ready() == ()
                assert registry.names() == []
                return external.take_notices(), external.take_notices()

        first, second = run_checked(main())
        why = f"{env.project} is not trusted: not decided yet."
        assert first == [
            f"MCP servers not started: a, b, mcp. {why} Its servers are not started. See `tejat trust`.",
            f"The tool discovery command was not run. {why} See `tejat trust`.",
        ]
        assert second == []
        assert not pids.exists()

    def test_is_over_where_nothing_may_be_started(self, env: ExternalToolsEnv) -> None:
        env.write_user_settings(
            mcpServers={
                "off": hostile_server(),
                "out": hostile_server(),
                "a__b": hostile_server(),
                "dead": {"command": "no-such-program"},
            },
            mcp={"excluded": ["out"]},
        )
        set_server_enabled(app_paths(env.environment), "off", enabled=False)

        async def main() -> list[str]:
            async with opened(env) as (external, registry):
                external.start()
                assert await external.wait_ready() == ()
                assert registry.names() == []
                return external.take_notices()

        unfit, dead = run_checked(main())
        assert unfit.startswith('MCP servers not started: a__b. Invalid MCP server name "a__b"')
        assert dead.startswith("MCP server dead (start): The server did not start: no program")


class TestWaiting:
    def test_for_a_server_that_does_not_answer(self, env: ExternalToolsEnv) -> None:
        env.write_user_settings(mcpServers={"mute": hostile_server("silent=initialize"), "good": hostile_server()})

        async def main() -> list[str]:
            async with opened(env) as (external, registry):
                external.start()
                await wait_until_async(lambda: "good__echo" in registry)
                assert await external.wait_ready(0.01) == ("MCP server mute",)
                assert await external.wait_ready(0) == ("MCP server mute",)
                return external.take_notices()

        assert run_checked(main()) == []

    def test_for_a_command_that_does_not_end(self, env: ExternalToolsEnv) -> None:
        pid = env.base / "pid"
        program = f"echo $$ > {pid}; exec sleep 600"
        env.write_user_settings(tools={"discoveryCommand": ["/bin/sh", "-c", program]})

        async def main() -> None:
            async with opened(env) as (external, _):
                external.start()
                await wait_until_async(lambda: pid.exists() and pid.read_text().endswith("\n"))
                assert await external.wait_ready(0.01) == ("tool discovery",)

        run_checked(main())
        assert living_pids(pid) == []

    def test_can_be_given_up(self, env: ExternalToolsEnv) -> None:
        env.write_user_settings(mcpServers={"mute": hostile_server("silent=initialize")})

        async def main() -> None:
            async with opened(env) as (external, _):
                external.start()
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(0.05):
                        await external.wait_ready()

        run_checked(main())


CLOSED_AT_ONCE = """
import asyncio, json, os, sys
from tejat import Agent

async def main(moment, settings, pids):
    async with Agent(**settings):
        while moment is None and (not os.path.exists(pids) or os.path.getsize(pids) < 20):
            await asyncio.sleep(0.01)
        await asyncio.sleep(moment or 0)

for moment in (0, 0, 0.01, 0.05, None):
    asyncio.run(main(moment, json.loads(sys.argv[1]), sys.argv[2]))
"""


def test_whoever_leaves_while_they_are_being_started_leaves_nothing_behind(env: ExternalToolsEnv) -> None:
    pids = env.base / "pids"
    waits = f"echo $$ >> {pids}; sleep 600 & echo $! >> {pids}; wait"
    env.write_user_settings(
        mcpServers={
            "good": hostile_server(f"pids={pids}"),
            "mute": hostile_server(f"pids={pids}", "silent=initialize"),
            "slow": {"command": "/bin/sh", "args": ["-c", waits]},
            "gone": {"command": "no-such-program"},
            "shut": {"httpUrl": "http://127.0.0.1:9/mcp"},
        },
        tools={"discoveryCommand": ["/bin/sh", "-c", waits]},
    )
    settings = {
        "directories": str(env.project),
        "environment": env.environment,
        "trusts_folder": True,
        "model": env.script('[[answer]]\nsay = "Hello."\n'),
        "sandbox": "off",
    }
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", CLOSED_AT_ONCE, json.dumps(settings), str(pids)],
        capture_output=True,
        cwd=env.base,
        env={**os.environ, **env.environment},
        timeout=SECONDS,
        check=False,
    )
    # A loop that is watched complains of everything that takes long, and here that is what else the machine does.
    told = [line for line in done.stderr.splitlines() if not line.startswith(b"Executing <")]
    assert (done.returncode, done.stdout, told) == (0, b"", [])
    assert len(pids.read_text().split()) > 1
    assert living_pids(pids) == []
