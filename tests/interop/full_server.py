"""A server of the official package that asks for all that a client can do, on standard input and output or over HTTP.

With the argument `http` it prints its addresses: that of streamable HTTP, and that of the old way with events.
"""

import asyncio
import json
import os
import socket
import sys
from base64 import b64decode, b64encode

from mcp.server.mcpserver import Context, MCPServer
from mcp.types import AudioContent, ImageContent, SamplingMessage, TextContent
from pydantic import BaseModel

server = MCPServer("full", version="1", instructions="Be gentle.")
PNG = b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==")
WAV = b"RIFF....WAVEfmt "
called_off: list[str] = []


class Trip(BaseModel):
    city: str
    days: int = 3


@server.tool()
def media() -> list[ImageContent | AudioContent]:
    """Give a picture and a recording."""
    return [
        ImageContent(data=b64encode(PNG).decode(), mime_type="image/png"),
        AudioContent(data=b64encode(WAV).decode(), mime_type="audio/wav"),
    ]


@server.tool()
async def plan(ctx: Context) -> str:
    """Ask the person where to go."""
    answered = await ctx.elicit("Where to?", Trip)
    return f"{answered.action}: {answered.data if answered.action == 'accept' else None}"


@server.tool()
async def visit(ctx: Context) -> str:
    """Ask the person to visit a page."""
    answered = await ctx.elicit_url("Have a look.", "https://page.example/look", "the-visit")
    return answered.action


@server.tool()
async def think(ctx: Context) -> str:
    """Ask the model of the client."""
    asked = SamplingMessage(role="user", content=TextContent(text="What is six times seven?"))
    answer = await ctx.session.create_message([asked], max_tokens=50)  # pyright: ignore[reportDeprecated]
    assert isinstance(answer.content, TextContent)
    return f"The model says: {answer.content.text}"


@server.tool()
async def roots(ctx: Context) -> list[str]:
    """List the roots of the client."""
    return [str(root.name) for root in (await ctx.session.list_roots()).roots]


@server.tool()
async def slow(seconds: float, ctx: Context) -> str:
    """Tell of progress while it takes its time."""
    try:
        await ctx.report_progress(1, 2, "half of it")
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        called_off.append("slow")
        raise
    return "done"


@server.tool()
async def grow(ctx: Context) -> str:
    """Have one more tool from now on."""
    server.add_tool(called, name="called_off", description="Say what was called off.")
    await ctx.session.send_tool_list_changed()
    return "grown"


def called() -> list[str]:
    return called_off


@server.prompt()
def review(code: str, style: str = "kind") -> str:
    """Review code."""
    return f"Review {code}, be {style}."


@server.resource("memo://one", name="one")
def memo() -> str:
    """A memo."""
    return "Remember the milk."


async def serve() -> None:
    import uvicorn

    apps = {"/mcp": server.streamable_http_app(), "/sse": server.sse_app()}
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in apps]
    serving = [
        asyncio.create_task(uvicorn.Server(uvicorn.Config(app, log_level="critical")).serve([listening]))
        for app, listening in zip(apps.values(), sockets, strict=True)
    ]
    addresses = [
        f"http://127.0.0.1:{listening.getsockname()[1]}{path}" for path, listening in zip(apps, sockets, strict=True)
    ]
    sys.stdout.write(f"{json.dumps(addresses)}\n")
    sys.stdout.flush()
    # Whoever started us is gone when this ends.
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    assert serving
    os._exit(0)


if __name__ == "__main__":
    if "http" in sys.argv:
        asyncio.run(serve())
    else:
        server.run("stdio")
