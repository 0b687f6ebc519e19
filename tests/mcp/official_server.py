"""A small server of the official package, on standard input and output. With `stateless` it will have no handshake."""

import json
import os
import sys
import threading

from mcp.server.mcpserver import Context, MCPServer

server = MCPServer("official", version="7", instructions="Add with care.")


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
async def count(ctx: Context, to: int) -> str:
    """Count, and tell."""
    for number in range(1, to + 1):
        await ctx.report_progress(number, to, f"at {number}")
    return "done"


@server.prompt()
def greet(who: str) -> str:
    """Greet somebody."""
    return f"Hello, {who}!"


@server.resource("memo://one")
def memo() -> str:
    """A memo."""
    return "remember"


def refuse_the_handshake() -> None:
    """Hand on what comes in, but for the handshake: as a server would that speaks the stateless revision alone."""
    given = os.fdopen(os.dup(0), "rb")
    readable, writable = os.pipe()
    os.dup2(readable, 0)

    def filter_lines() -> None:
        with os.fdopen(writable, "wb", buffering=0) as onward:
            for line in given:
                message = json.loads(line)
                if message.get("method") == "initialize":
                    error = {"code": -32022, "message": "Unsupported protocol version"}
                    os.write(1, json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}).encode() + b"\n")
                else:
                    onward.write(line)

    threading.Thread(target=filter_lines, daemon=True).start()


if __name__ == "__main__":
    if "stateless" in sys.argv:
        refuse_the_handshake()
    server.run("stdio")
