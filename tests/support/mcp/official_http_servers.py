"""HTTP servers of the official package in their own process. Run as a program, this is that process."""

import asyncio
import json
import os
import select
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

SERVERS = ("stateful", "stateless", "json", "sse", "resumable")


@contextmanager
def official_servers() -> Generator[dict[str, str]]:
    """The address of each of SERVERS."""
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        ready, _, _ = select.select([process.stdout], [], [], 60)
        assert ready, "the servers do not start"
        yield json.loads(process.stdout.readline())
    finally:
        process.kill()
        process.communicate()


def serve() -> None:
    import uvicorn

    cancelled: list[str] = []
    apps = {
        "stateful": _create_server(cancelled).streamable_http_app(),
        "stateless": _create_server(cancelled).streamable_http_app(stateless_http=True),
        "json": _create_server(cancelled).streamable_http_app(json_response=True),
        "sse": _create_server(cancelled).sse_app(),
        "resumable": _create_server(cancelled).streamable_http_app(event_store=_event_store(), retry_interval=50),
    }
    sockets = {name: socket.create_server(("127.0.0.1", 0)) for name in apps}
    paths = {name: "/sse" if name == "sse" else "/mcp" for name in apps}
    addresses = {name: f"http://127.0.0.1:{sockets[name].getsockname()[1]}{paths[name]}" for name in apps}

    async def run() -> None:
        servers = [uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="on")) for app in apps.values()]
        serving = [
            asyncio.create_task(server.serve([sockets[name]])) for name, server in zip(apps, servers, strict=True)
        ]
        while not all(server.started for server in servers):  # noqa: ASYNC110 -- uvicorn has no event for it
            await asyncio.sleep(0.01)
        sys.stdout.write(f"{json.dumps(addresses)}\n")
        sys.stdout.flush()
        # Whoever started us is gone when this ends.
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
        assert serving
        os._exit(0)

    asyncio.run(run())


def _event_store() -> Any:
    from mcp.server.streamable_http import EventMessage, EventStore

    class Events(EventStore):
        """Everything that was ever said, in order, each for its own stream."""

        def __init__(self) -> None:
            self.said: list[tuple[str, Any]] = []

        async def store_event(self, stream_id: str, message: Any) -> str:
            self.said.append((stream_id, message))
            return str(len(self.said))

        async def replay_events_after(self, last_event_id: str, send_callback: Any) -> str | None:
            place = int(last_event_id)
            stream = self.said[place - 1][0]
            for number, (name, message) in enumerate(self.said[place:], place + 1):
                if name == stream and message is not None:
                    await send_callback(EventMessage(message, str(number)))
            return stream

    return Events()


def _create_server(cancelled: list[str]) -> Any:
    from mcp.server.mcpserver import Context, MCPServer

    server = MCPServer("official")

    @server.tool()
    def add(a: int, b: int) -> int:
        return a + b

    @server.tool()
    async def slow(seconds: float, ctx: Context[Any, Any]) -> str:
        try:
            await ctx.report_progress(1, 2, "on the way")
            await asyncio.sleep(seconds)
        except asyncio.CancelledError:
            cancelled.append("slow")
            raise
        return "done"

    @server.tool()
    def cancelled_calls() -> int:
        return len(cancelled)

    @server.tool()
    async def broken_off(ctx: Context[Any, Any]) -> str:
        await ctx.close_sse_stream()
        return "taken up"

    return server


if __name__ == "__main__":
    serve()
