"""Resources of servers.

A resource is always read by its server. A URI such as `file:///etc/passwd` is a name that the server chose; no local
file is ever opened by it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from tejat.core.frozen import Frozen
from tejat.core.messages.base64_data import base64_size
from tejat.core.messages.types import JsonObject
from tejat.mcp.content.media_types import parse_media_type
from tejat.mcp.types import ClientSession, ServerResource

MAX_CHARACTERS = 2**20
"""Limit of the text of one resource."""
MAX_CONTENTS = 1_000

_DEFAULT_TYPE = "application/octet-stream"


class ServerResources(Frozen):
    """The resources of a server."""

    server: ClientSession
    resources: Sequence[ServerResource]


class ResourceRef(Frozen):
    """A resource and its server."""

    server: ClientSession
    resource: ServerResource

    @property
    def label(self) -> str:
        return f"{self.server.alias}:{self.resource.uri}"


def find_resources(name: str, offered: Iterable[ServerResources]) -> tuple[ResourceRef, ...]:
    """Find resources by `server:uri` or URI: one, none, or several if more than one server has the URI."""
    known = [ResourceRef(each.server, resource) for each in offered for resource in each.resources]
    labelled = tuple(found for found in known if found.label == name)
    return labelled[:1] or tuple({found.label: found for found in known if found.resource.uri == name}.values())


class TextResourceContents(Frozen):
    text: str


class BlobResourceContents(Frozen):
    """`size` is in bytes."""

    mime_type: str
    size: int


async def read_resource(found: ResourceRef) -> tuple[TextResourceContents | BlobResourceContents, ...]:
    """Read a resource. Text beyond MAX_CHARACTERS is cut off with a notice. Raises McpFailure."""
    answer = await found.server.read_resource(found.resource.uri)
    contents = answer.get("contents")
    entries = [
        cast("JsonObject", each)
        for each in (contents if isinstance(contents, list) else ())
        if isinstance(each, Mapping)
    ]
    room = MAX_CHARACTERS
    read: list[TextResourceContents | BlobResourceContents] = []
    for each in entries[:MAX_CONTENTS]:
        text, blob = each.get("text"), each.get("blob")
        if isinstance(text, str):
            read.append(TextResourceContents(_truncate(text, room)))
            room = max(room - len(text), 0)
        elif isinstance(blob, str):
            mime_type = (
                parse_media_type(each.get("mimeType")) or parse_media_type(found.resource.mime_type) or _DEFAULT_TYPE
            )
            read.append(BlobResourceContents(mime_type, base64_size(blob)))
    left_out = len(entries) - MAX_CONTENTS
    if left_out > 0:
        read.append(TextResourceContents(f"[{left_out} more contents were left out]"))
    return tuple(read)


def _truncate(text: str, room: int) -> str:
    if len(text) <= room:
        return text
    return f"{text[:room]}\n[... {len(text) - room} more characters were left out]"


def format_for_prompt(contents: Sequence[TextResourceContents | BlobResourceContents]) -> str:
    """Format contents for a prompt that mentions the resource with `@`."""
    return "\n".join(
        content.text
        if isinstance(content, TextResourceContents)
        else f"[Binary resource content {content.mime_type}, {content.size} bytes]"
        for content in contents
    )
