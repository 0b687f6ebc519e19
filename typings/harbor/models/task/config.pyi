from typing import Literal

class MCPServerConfig:
    name: str
    transport: Literal["stdio", "sse", "streamable-http"]
    url: str | None
    command: str | None
    args: list[str]
