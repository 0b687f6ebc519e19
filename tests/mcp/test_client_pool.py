"""All the servers of a session: real programs, good and bad ones."""

import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from support.mcp.clients import SECONDS, first_text, hostile_plan, living_pids, open_supervisor, read_methods
from support.raw_server import run_checked
from support.wait import wait_until_async
from tejat.core.frozen import replace
from tejat.mcp.client import CLIENT_LIMITS, ClientLimits, ServerPlan
from tejat.mcp.client_pool import DiscoveryState, InactiveServer, McpClientPool
from tejat.mcp.errors import McpFailure, McpProblem
from tejat.mcp.transports.base import Transport
from tejat.mcp.types import ClientCallbacks, ServerState, ServerStatus

BLOCKED = InactiveServer("kept-out", "stdio", "rm", ServerState.BLOCKED, "It is not on the list of allowed servers.")
DISABLED = InactiveServer("off", "http", "https://example.org", ServerState.DISABLED, "It was switched off.")


class Pool(McpClientPool):
    """A pool that remembers every status that it told."""

    def __init__(self, *plans: ServerPlan | InactiveServer, limits: ClientLimits = CLIENT_LIMITS) -> None:
        self.told: list[ServerStatus] = []
        super().__init__(plans, ClientCallbacks(), version="1", on_change=self.told.append, limits=limits)

    @property
    def states(self) -> dict[str, ServerState]:
        return {status.alias: status.state for status in self.statuses()}


@asynccontextmanager
async def pooled(
    *faults: tuple[str, ...],
    barred: tuple[InactiveServer, ...] = (),
    limits: ClientLimits = CLIENT_LIMITS,
    handshake: float = SECONDS,
) -> AsyncGenerator[Pool]:
    """A server for each list of faults, called s0, s1 and so on, and those that are kept out."""
    async with open_supervisor() as supervisor:
        plans = [
            hostile_plan(supervisor, *each, alias=f"s{number}", handshake=handshake)
            for number, each in enumerate(faults)
        ]
        pool = Pool(*plans, *barred, limits=limits)
        try:
            yield pool
        finally:
            await pool.close()


def nowhere() -> Transport:
    raise McpFailure("It is nowhere.", McpProblem.CONFIGURATION)


def test_no_servers_at_all() -> None:
    async def main() -> None:
        pool = Pool()
        assert pool.discovery is DiscoveryState.NOT_STARTED
        pool.start()
        assert pool.discovery is DiscoveryState.COMPLETED
        assert (await pool.wait_until_settled(), pool.statuses(), dict(pool.clients)) == ((), (), {})
        await pool.notify_roots_changed()
        await pool.close()

    run_checked(main())


def test_one_is_connected_anew(tmp_path: Path) -> None:
    async def main() -> None:
        async with pooled(("die=start", f"once={tmp_path / 'once'}"), barred=(BLOCKED,)) as pool:
            pool.start()
            await pool.wait_until_settled(SECONDS)
            assert pool.states["s0"] is ServerState.DISCONNECTED
            status = await pool.reconnect("s0")
            assert (status.state, len(status.features.tools)) == (ServerState.CONNECTED, 9)
            assert pool.told[-1] is status
            blocked = await pool.reconnect("kept-out")
            assert (blocked.state, blocked.reason) == (ServerState.BLOCKED, BLOCKED.reason)
            with pytest.raises(KeyError):
                await pool.reconnect("unheard-of")

    run_checked(main())


def test_good_and_bad_ones_side_by_side() -> None:
    async def main() -> None:
        async with pooled((), ("die=start",), ("no-capabilities",), ("stateless",), barred=(BLOCKED,)) as pool:
            before = time.monotonic()
            pool.start()
            assert time.monotonic() - before < 5
            assert pool.discovery is DiscoveryState.IN_PROGRESS
            assert list(pool.states.values())[:4] == [ServerState.CONNECTING] * 4
            assert await pool.wait_until_settled(SECONDS) == ()
            assert pool.discovery is DiscoveryState.COMPLETED
            assert pool.states == {
                "s0": ServerState.CONNECTED,
                "s1": ServerState.DISCONNECTED,
                "s2": ServerState.DISCONNECTED,
                "s3": ServerState.CONNECTED,
                "kept-out": ServerState.BLOCKED,
            }
            assert list(pool.clients) == ["s0", "s1", "s2", "s3"]
            for alias in ("s0", "s3"):
                assert (
                    first_text(await pool.clients[alias].call_tool("echo", {"for": alias})) == f'{{"for": "{alias}"}}'
                )
            assert {status.alias for status in pool.told} == {"s0", "s1", "s2", "s3"}

    run_checked(main())


def test_those_that_are_kept_out_are_told_of_and_never_started() -> None:
    async def main() -> None:
        pool = Pool(DISABLED, BLOCKED, ServerPlan("lost", "stdio", "", nowhere))
        pool.start()
        assert await pool.wait_until_settled() == ()
        assert pool.discovery is DiscoveryState.COMPLETED
        assert pool.statuses()[:2] == (
            ServerStatus("off", ServerState.DISABLED, "http", "https://example.org", reason="It was switched off."),
            ServerStatus(
                "kept-out", ServerState.BLOCKED, "stdio", "rm", reason="It is not on the list of allowed servers."
            ),
        )
        assert pool.statuses()[2].reason == "It is nowhere."
        assert list(pool.clients) == ["lost"]
        await pool.close()

    run_checked(main())


def test_one_that_never_answers_is_named() -> None:
    async def main() -> None:
        async with pooled(("silent=initialize",), (), handshake=3.0) as pool:
            pool.start()
            async with asyncio.timeout(SECONDS):
                while await pool.wait_until_settled(0.05) != ("s0",):
                    pass
            assert pool.discovery is DiscoveryState.IN_PROGRESS
            assert pool.states == {"s0": ServerState.CONNECTING, "s1": ServerState.CONNECTED}
            assert await pool.wait_until_settled() == ()
            assert pool.states == {"s0": ServerState.DISCONNECTED, "s1": ServerState.CONNECTED}

    run_checked(main())


def test_roots_that_change_are_told_to_all(tmp_path: Path) -> None:
    logs = [tmp_path / "0", tmp_path / "1"]

    async def main() -> None:
        async with pooled(*((f"record={log}",) for log in logs)) as pool:
            pool.start()
            await pool.wait_until_settled()
            await pool.notify_roots_changed()
            for log in logs:
                await wait_until_async(lambda log=log: read_methods(log)[-1] == "notifications/roots/list_changed")

    run_checked(main())


def test_all_are_closed_together(tmp_path: Path) -> None:
    pids = tmp_path / "pids"

    async def main() -> float:
        fault = ("stubborn", f"pids={pids}")
        async with pooled(fault, fault, fault, fault) as pool:
            pool.start()
            await pool.wait_until_settled()
            assert len(living_pids(pids)) == 12
            began = time.monotonic()
            await asyncio.gather(pool.close(), asyncio.create_task(pool.close()))
            seconds = time.monotonic() - began
            assert living_pids(pids) == []
            assert set(pool.states.values()) == {ServerState.DISCONNECTED}
            assert pool.discovery is DiscoveryState.COMPLETED
            return seconds

    assert run_checked(main()) < 8


def test_it_is_closed_before_and_while_it_starts(tmp_path: Path) -> None:
    pids = tmp_path / "pids"

    async def main() -> None:
        for steps in (0, 1, 5, 20, 60):
            async with pooled(*((f"pids={pids}",),) * 10) as pool:
                pool.start()
                for _ in range(steps):
                    await asyncio.sleep(0)
        async with pooled(()) as pool:
            await pool.close()
            pool.start()
            assert await pool.wait_until_settled() == ()
            assert pool.states == {"s0": ServerState.DISCONNECTED}

    run_checked(main())
    assert not pids.exists() or living_pids(pids) == []


def test_twenty_servers() -> None:
    async def main() -> None:
        async with pooled(*((),) * 20, limits=replace(CLIENT_LIMITS, start=SECONDS)) as pool:
            pool.start()
            await pool.wait_until_settled()
            assert set(pool.states.values()) == {ServerState.CONNECTED}

    run_checked(main())


def test_the_pool_is_cheap_to_import() -> None:
    """It is there whenever servers are, before the first prompt: nothing heavy comes with it."""
    code = (
        "import sys, tejat.mcp.client_pool; print(*sorted(name for name in sys.modules if name.startswith('tejat.')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=SECONDS)
    light = ("tejat.mcp", "tejat.core", "tejat.workspace.threads")
    others = {name for name in done.stdout.split() if not name.startswith(light)}
    assert others == {"tejat.workspace"}
