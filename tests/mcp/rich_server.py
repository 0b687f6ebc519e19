"""A server of the official package with every kind of content, on standard input and output."""

import asyncio
from base64 import b64encode
from typing import Annotated, Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
    ToolAnnotations,
)
from pydantic import BaseModel, Field

server = MCPServer("rich", version="1")
PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)
WAV = b"RIFF....WAVEfmt "


class Node(BaseModel):
    name: str
    kids: list["Node"] = []


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def tree(root: Annotated[Node, Field(description="Where to begin")], depth: int | None = None) -> dict[str, Any]:
    """Count the names in a tree."""

    def count(node: Node) -> int:
        return 1 + sum(map(count, node.kids))

    return {"names": count(root), "depth": depth}


@server.tool()
def everything() -> CallToolResult:
    """Give one of each."""
    return CallToolResult(
        content=[
            TextContent(text="hello"),
            ImageContent(data=b64encode(PNG).decode(), mime_type="image/jpeg"),
            AudioContent(data=b64encode(WAV).decode(), mime_type="audio/wav"),
            EmbeddedResource(resource=TextResourceContents(uri="memo://one", text="inside")),
            EmbeddedResource(
                resource=BlobResourceContents(uri="memo://two", blob=b64encode(b"\x00\x01\x02\x03" * 30).decode())
            ),
            ResourceLink(uri="memo://three", name="three", title="The third"),
        ]
    )


@server.tool()
def names() -> list[str]:
    """List names."""
    return ["a", "b"]


@server.tool()
def broken() -> str:
    """Fail."""
    raise ValueError("there is no such city")


@server.tool()
async def slow(ctx: Context) -> str:
    """Tell of progress, then take for ever."""
    await ctx.report_progress(1, 4, "working")
    await asyncio.sleep(600)
    return "never"


@server.prompt()
def review(code: str, style: str = "kind") -> str:
    """Review code."""
    return f"Review {code}, be {style}."


@server.resource("memo://one", name="one")
def memo() -> str:
    """A memo."""
    return "remember"


@server.resource("file:///etc/hostname", mime_type="application/x-thing")
def not_our_file() -> bytes:
    """Bytes of its own."""
    return b"\x00" * 10


if __name__ == "__main__":
    server.run("stdio")
