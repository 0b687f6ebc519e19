"""An MCP server of a few lines, with the official package (`pip install mcp`): it throws dice."""

import random

from mcp.server.mcpserver import MCPServer

server = MCPServer("dice", version="1.0", instructions="Throw dice only when somebody asks for chance.")


@server.tool()
def throw(sides: int = 6, times: int = 1) -> list[int]:
    """Throw a die, once or several times."""
    return [random.randint(1, sides) for _ in range(times)]


@server.prompt()
def decide(question: str) -> str:
    """Let chance decide."""
    return f"Throw a die to decide this: {question}"


@server.resource("dice://rules")
def rules() -> str:
    """How the dice are to be used."""
    return "Even means yes, odd means no."


if __name__ == "__main__":
    server.run("stdio")
