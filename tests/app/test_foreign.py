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

from foreign_checks import SECONDS, Stage, hostile
from mcp_links import eventually, living
from raw_server import run
from tejat.app.foreign import ForeignTools, Surroundings
from tejat.app.ground import survey
from tejat.app.house import House
from tejat.config.mcp_enablement import switch_server
from tejat.config.places import places_of
from tejat.tools.registry import ToolRegistry
from tejat.workspace.workspace import Workspace


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


@asynccontextmanager
async def opened(stage: Stage, *, trusts_folder: bool = True) -> AsyncGenerator[tuple[ForeignTools, ToolRegistry]]:
    """Those of the project, not begun yet, and in the end closed."""
    ground = survey([str(stage.project)], environment=stage.environment, trusts_folder=trusts_folder)
    with Workspace(ground.roots) as workspace, House(workspace, ground, "off") as house:
        registry = ToolRegistry()
        foreign = ForeignTools(Surroundings(ground, house, registry))
        try:
            yield foreign, registry
        finally:
            await foreign.close()


class TestBeginning:
    def test_nothing_happens_before_it(self, stage: Stage) -> None:
        pids = stage.base / "pids"
        stage.person_sets(mcpServers={"bad": hostile(f"pids={pids}")})

        async def main() -> None:
            async with opened(stage) as (foreign, registry):
                assert await foreign.ready() == ()
                assert (foreign.news(), foreign.servers, registry.names()) == ([], None, [])

        run(main())
        assert not pids.exists()

    def test_twice_is_once(self, stage: Stage) -> None:
        pids = stage.base / "pids"
        stage.person_sets(
            mcpServers={"bad": hostile(f"pids={pids}")}, tools={"discoveryCommand": ["/bin/echo", '[{"name": "tide"}]']}
        )

        async def main() -> list[str]:
            async with opened(stage) as (foreign, registry):
                foreign.begin()
                foreign.begin()
                assert await foreign.ready() == ()
                foreign.begin()
                assert await foreign.ready(0) == ()
                return registry.names()

        names = run(main())
        assert (names[0], "bad__echo" in names) == ("tide", True)
        assert len(pids.read_text().split()) == 1
        assert living(pids) == []

    def test_in_a_folder_that_is_not_trusted_starts_nothing_and_says_so_once(self, stage: Stage) -> None:
        pids = stage.base / "pids"
        entry = hostile(f"pids={pids}", trust=True)
        settings = {
            "mcpServers": {"a": entry, "b": entry},
            "mcp": {"serverCommand": [entry["command"], *entry["args"]]},
            "tools": {"discoveryCommand": ["/usr/bin/touch", str(pids)]},
        }
        stage.person_sets(**settings)
        stage.project_sets(**settings)

        async def main() -> tuple[list[str], list[str]]:
            async with opened(stage, trusts_folder=False) as (foreign, registry):
                foreign.begin()
                assert await foreign.ready() == ()
                assert registry.names() == []
                return foreign.news(), foreign.news()

        first, second = run(main())
        why = f"{stage.project} is not trusted: nobody has said so yet."
        assert first == [
            f"MCP servers that are not started: a, b, mcp. {why} No server is started there. See `tejat trust`.",
            f"The tool discovery command is not run. {why} See `tejat trust`.",
        ]
        assert second == []
        assert not pids.exists()

    def test_is_over_where_nothing_may_be_started(self, stage: Stage) -> None:
        stage.person_sets(
            mcpServers={"off": hostile(), "out": hostile(), "a__b": hostile(), "dead": {"command": "no-such-program"}},
            mcp={"excluded": ["out"]},
        )
        switch_server(places_of(stage.environment), "off", on=False)

        async def main() -> list[str]:
            async with opened(stage) as (foreign, registry):
                foreign.begin()
                assert await foreign.ready() == ()
                assert registry.names() == []
                return foreign.news()

        unfit, dead = run(main())
        assert unfit.startswith('MCP servers that are not started: a__b. The MCP server name "a__b" cannot be used')
        assert dead.startswith("MCP server dead (start): The server was not started: there is no program")


class TestWaiting:
    def test_for_a_server_that_does_not_answer(self, stage: Stage) -> None:
        stage.person_sets(mcpServers={"mute": hostile("silent=initialize"), "good": hostile()})

        async def main() -> list[str]:
            async with opened(stage) as (foreign, registry):
                foreign.begin()
                await eventually(lambda: "good__echo" in registry)
                assert await foreign.ready(0.01) == ("MCP server mute",)
                assert await foreign.ready(0) == ("MCP server mute",)
                return foreign.news()

        assert run(main()) == []

    def test_for_a_command_that_does_not_end(self, stage: Stage) -> None:
        pid = stage.base / "pid"
        program = f"echo $$ > {pid}; exec sleep 600"
        stage.person_sets(tools={"discoveryCommand": ["/bin/sh", "-c", program]})

        async def main() -> None:
            async with opened(stage) as (foreign, _):
                foreign.begin()
                await eventually(lambda: pid.exists() and pid.read_text().endswith("\n"))
                assert await foreign.ready(0.01) == ("the discovery of tools",)

        run(main())
        assert living(pid) == []

    def test_can_be_given_up(self, stage: Stage) -> None:
        stage.person_sets(mcpServers={"mute": hostile("silent=initialize")})

        async def main() -> None:
            async with opened(stage) as (foreign, _):
                foreign.begin()
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(0.05):
                        await foreign.ready()

        run(main())


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


def test_whoever_leaves_while_they_are_being_started_leaves_nothing_behind(stage: Stage) -> None:
    pids = stage.base / "pids"
    waits = f"echo $$ >> {pids}; sleep 600 & echo $! >> {pids}; wait"
    stage.person_sets(
        mcpServers={
            "good": hostile(f"pids={pids}"),
            "mute": hostile(f"pids={pids}", "silent=initialize"),
            "slow": {"command": "/bin/sh", "args": ["-c", waits]},
            "gone": {"command": "no-such-program"},
            "shut": {"httpUrl": "http://127.0.0.1:9/mcp"},
        },
        tools={"discoveryCommand": ["/bin/sh", "-c", waits]},
    )
    settings = {
        "directories": str(stage.project),
        "environment": stage.environment,
        "trusts_folder": True,
        "model": stage.script('[[answer]]\nsay = "Hello."\n'),
        "sandbox": "off",
    }
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", CLOSED_AT_ONCE, json.dumps(settings), str(pids)],
        capture_output=True,
        cwd=stage.base,
        env={**os.environ, **stage.environment},
        timeout=SECONDS,
        check=False,
    )
    # A loop that is watched complains of everything that takes long, and here that is what else the machine does.
    told = [line for line in done.stderr.splitlines() if not line.startswith(b"Executing <")]
    assert (done.returncode, done.stdout, told) == (0, b"", [])
    assert len(pids.read_text().split()) > 1
    assert living(pids) == []
