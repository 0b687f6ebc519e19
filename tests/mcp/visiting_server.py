"""A server of the official package that does nothing before somebody has visited an address."""

import asyncio

from mcp.server.mcpserver import Context, MCPServer
from mcp.shared.exceptions import UrlElicitationRequiredError
from mcp_types import ElicitRequestURLParams

server = MCPServer("visiting", version="1")
asked: list[str] = []


@server.tool()
async def deliver(ctx: Context, address: str) -> str:
    """Deliver something, the third time that it is asked for: then somebody has been there, and it tells so."""
    asked.append(address)
    if len(asked) > 2:
        return f"delivered after {len(asked)}"
    if len(asked) == 2:
        visits.add(asyncio.create_task(complete_visit(ctx)))
    wanted = ElicitRequestURLParams(message="Say who you are.", url=address, elicitation_id="v1")
    raise UrlElicitationRequiredError([wanted])


async def complete_visit(ctx: Context) -> None:
    await asyncio.sleep(0.1)
    await ctx.session.send_elicit_complete("v1")


visits: set[asyncio.Task[None]] = set()

if __name__ == "__main__":
    server.run("stdio")
