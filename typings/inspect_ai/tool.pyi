from pathlib import Path
from typing import Literal

class MCPServerConfig:
    type: Literal["stdio", "http", "sse"]
    name: str

class MCPServerConfigStdio(MCPServerConfig):
    command: str
    args: list[str]
    cwd: str | Path | None
    env: dict[str, str] | None

class MCPServerConfigHTTP(MCPServerConfig):
    url: str
    headers: dict[str, str] | None
