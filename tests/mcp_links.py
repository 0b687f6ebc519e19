"""Links to servers that are programs: the hostile one, with its faults, and one of the official package."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

from tejat.core.types import JsonObject
from tejat.mcp.link import LINK_LIMITS, LinkLimits, ServerLink, ServerPlan
from tejat.mcp.stdio import StdioTransport
from tejat.mcp.values import Host, ServerState, ServerStatus
from tejat.workspace.processes.keeping import Keeper
from tejat.workspace.processes.process_tree import processes

HOSTILE = Path(__file__).parent / "mcp" / "hostile_server.py"
SECONDS = 30
"""How long anything may take on a machine that is busy with other things."""


def hostile(
    keeper: Keeper, *faults: str, alias: str = "bad", timeout: float = SECONDS, handshake: float = SECONDS
) -> ServerPlan:
    """-S and -E: it is started often, and needs nothing."""
    return program(keeper, "-SE", str(HOSTILE), *faults, alias=alias, timeout=timeout, handshake=handshake)


def program(
    keeper: Keeper, *arguments: str, alias: str = "bad", timeout: float = SECONDS, handshake: float = SECONDS
) -> ServerPlan:
    """A server in Python."""

    def connect() -> StdioTransport:
        return StdioTransport(keeper, sys.executable, arguments, directory="/", environment=dict(os.environ))

    return ServerPlan(alias, "stdio", "python", connect, timeout, start_timeout=handshake)


class Link(ServerLink):
    """A link that remembers every status that it told."""

    def __init__(self, plan: ServerPlan, host: Host = Host(), limits: LinkLimits = LINK_LIMITS) -> None:  # noqa: B008
        self.told: list[ServerStatus] = []
        self._news = asyncio.Event()
        super().__init__(plan, host, version="1.2", on_change=self._note, limits=limits)

    def _note(self, status: ServerStatus) -> None:
        self.told.append(status)
        self._news.set()

    async def until(self, is_so: Callable[[ServerStatus], bool]) -> ServerStatus:
        async with asyncio.timeout(SECONDS):
            while not is_so(self.status):
                self._news.clear()
                await self._news.wait()
        return self.status

    async def settled(self) -> ServerStatus:
        self.start()
        return await self.until(lambda status: status.state is not ServerState.CONNECTING)


@asynccontextmanager
async def linked(
    *faults: str,
    host: Host = Host(),  # noqa: B008
    limits: LinkLimits = LINK_LIMITS,
    seconds: float = SECONDS,
    handshake: float = SECONDS,
) -> AsyncGenerator[Link]:
    """A link to a hostile server, not started yet, and in the end closed with nothing left of it."""
    async with kept() as keeper:
        link = Link(hostile(keeper, *faults, timeout=seconds, handshake=handshake), host, limits)
        try:
            yield link
        finally:
            await link.close()


@asynccontextmanager
async def kept() -> AsyncGenerator[Keeper]:
    keeper = Keeper()
    try:
        yield keeper
    finally:
        await asyncio.to_thread(keeper.close)


def text_of(result: JsonObject) -> str:
    content = cast("list[dict[str, str]]", result["content"])
    return content[0]["text"]


def recorded(path: Path) -> list[dict[str, object]]:
    """What the server was told."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def methods(path: Path) -> list[object]:
    return [message.get("method") for message in recorded(path)]


async def eventually(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(SECONDS):
        while not is_so():  # noqa: ASYNC110 -- it happens in another process
            await asyncio.sleep(0.01)


def living(path: Path) -> list[int]:
    """Those of the processes in the file that still run."""
    table = processes()
    pids = [int(word) for word in path.read_text(encoding="utf-8").split()]
    return [pid for pid in pids if pid in table and table[pid].is_alive]
