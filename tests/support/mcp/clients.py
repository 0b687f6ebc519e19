"""MCP clients of server programs: the hostile one, with its faults, and the official one."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

from tejat.core.messages.types import JsonObject
from tejat.mcp.client import CLIENT_LIMITS, ClientLimits, McpClient, ServerPlan
from tejat.mcp.transports.stdio import StdioTransport
from tejat.mcp.types import ClientCallbacks, ServerState, ServerStatus
from tejat.workspace.processes.process_tree import list_processes
from tejat.workspace.processes.supervisor_client import ProcessSupervisor

HOSTILE = Path(__file__).parents[2] / "mcp" / "hostile_server.py"
SECONDS = 30
"""Timeout for anything on a busy machine."""


def hostile_plan(
    supervisor: ProcessSupervisor,
    *faults: str,
    alias: str = "bad",
    timeout: float = SECONDS,
    handshake: float = SECONDS,
) -> ServerPlan:
    """The hostile server. It is started often and needs no packages (-S, -E)."""
    return python_plan(supervisor, "-SE", str(HOSTILE), *faults, alias=alias, timeout=timeout, handshake=handshake)


def python_plan(
    supervisor: ProcessSupervisor,
    *arguments: str,
    alias: str = "bad",
    timeout: float = SECONDS,
    handshake: float = SECONDS,
) -> ServerPlan:
    """A server in Python."""

    def connect() -> StdioTransport:
        return StdioTransport(supervisor, sys.executable, arguments, directory="/", environment=dict(os.environ))

    return ServerPlan(alias, "stdio", "python", connect, timeout, start_timeout=handshake)


class RecordingClient(McpClient):
    """A client that records every status it reported."""

    def __init__(
        self, plan: ServerPlan, host: ClientCallbacks | None = None, limits: ClientLimits = CLIENT_LIMITS
    ) -> None:
        self.statuses: list[ServerStatus] = []
        self._news = asyncio.Event()
        super().__init__(plan, host or ClientCallbacks(), version="1.2", on_change=self._note, limits=limits)

    def _note(self, status: ServerStatus) -> None:
        self.statuses.append(status)
        self._news.set()

    async def wait_until(self, is_so: Callable[[ServerStatus], bool]) -> ServerStatus:
        async with asyncio.timeout(SECONDS):
            while not is_so(self.status):
                self._news.clear()
                await self._news.wait()
        return self.status

    async def wait_settled(self) -> ServerStatus:
        self.start()
        return await self.wait_until(lambda status: status.state is not ServerState.CONNECTING)


@asynccontextmanager
async def open_client(
    *faults: str,
    host: ClientCallbacks | None = None,
    limits: ClientLimits = CLIENT_LIMITS,
    seconds: float = SECONDS,
    handshake: float = SECONDS,
) -> AsyncGenerator[RecordingClient]:
    """A client of a hostile server, not started yet; closed at the end."""
    async with open_supervisor() as supervisor:
        link = RecordingClient(hostile_plan(supervisor, *faults, timeout=seconds, handshake=handshake), host, limits)
        try:
            yield link
        finally:
            await link.close()


@asynccontextmanager
async def open_supervisor() -> AsyncGenerator[ProcessSupervisor]:
    supervisor = ProcessSupervisor()
    try:
        yield supervisor
    finally:
        await asyncio.to_thread(supervisor.close)


def first_text(result: JsonObject) -> str:
    content = cast("list[dict[str, str]]", result["content"])
    return content[0]["text"]


def read_messages(path: Path) -> list[dict[str, object]]:
    """The messages that the server received."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def read_methods(path: Path) -> list[object]:
    return [message.get("method") for message in read_messages(path)]


def living_pids(path: Path) -> list[int]:
    """The processes listed in the file that still run."""
    table = list_processes()
    pids = [int(word) for word in path.read_text(encoding="utf-8").split()]
    return [pid for pid in pids if pid in table and table[pid].is_alive]
