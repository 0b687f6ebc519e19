"""A small server of the official package, on standard input and output."""

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


if __name__ == "__main__":
    server.run("stdio")
