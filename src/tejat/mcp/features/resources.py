"""Resources of servers: which one is meant, and what it holds, in words.

Whatever a resource is called, it is asked of its server. An address such as `file:///etc/passwd` is the name that a
server gave to something of its own, and nothing of ours is ever opened by it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from tejat.core.frozen import frozen
from tejat.core.messages.types import JsonObject
from tejat.mcp.content.media_types import base64_size, parse_media_type
from tejat.mcp.types import ClientSession, ServerResource

MAX_CHARACTERS = 2**20
"""Of the text of one resource."""
MAX_CONTENTS = 1_000

_DEFAULT_TYPE = "application/octet-stream"


@frozen
class ServerResources:
    """The resources that a server has told of."""

    server: ClientSession
    resources: Sequence[ServerResource]


@frozen
class ResourceRef:
    """A resource and who has it."""

    server: ClientSession
    resource: ServerResource

    @property
    def label(self) -> str:
        return f"{self.server.alias}:{self.resource.uri}"


def find_resources(name: str, offered: Iterable[ServerResources]) -> tuple[ResourceRef, ...]:
    """What is meant by `server:uri` or a uri: one, none, or several where more than one server has the same uri."""
    known = [ResourceRef(each.server, resource) for each in offered for resource in each.resources]
    labelled = tuple(found for found in known if found.label == name)
    return labelled[:1] or tuple({found.label: found for found in known if found.resource.uri == name}.values())


@frozen
class TextResourceContents:
    text: str


@frozen
class BlobResourceContents:
    """`size` is in bytes."""

    mime_type: str
    size: int


async def read_resource(found: ResourceRef) -> tuple[TextResourceContents | BlobResourceContents, ...]:
    """What the resource holds; text beyond MOST_CHARACTERS is cut off, and says so. Raises McpFailure."""
    answer = await found.server.read_resource(found.resource.uri)
    contents = answer.get("contents")
    told = [
        cast("JsonObject", each)
        for each in (contents if isinstance(contents, list) else ())
        if isinstance(each, Mapping)
    ]
    room = MAX_CHARACTERS
    read: list[TextResourceContents | BlobResourceContents] = []
    for each in told[:MAX_CONTENTS]:
        text, blob = each.get("text"), each.get("blob")
        if isinstance(text, str):
            read.append(TextResourceContents(_truncate(text, room)))
            room = max(room - len(text), 0)
        elif isinstance(blob, str):
            mime_type = (
                parse_media_type(each.get("mimeType")) or parse_media_type(found.resource.mime_type) or _DEFAULT_TYPE
            )
            read.append(BlobResourceContents(mime_type, base64_size(blob)))
    left_out = len(told) - MAX_CONTENTS
    if left_out > 0:
        read.append(TextResourceContents(f"[{left_out} more contents were left out]"))
    return tuple(read)


def _truncate(text: str, room: int) -> str:
    if len(text) <= room:
        return text
    return f"{text[:room]}\n[... {len(text) - room} more characters were left out]"


def format_for_prompt(contents: Sequence[TextResourceContents | BlobResourceContents]) -> str:
    """The contents as they are put into the prompt of a person who named the resource with `@`."""
    return "\n".join(
        content.text
        if isinstance(content, TextResourceContents)
        else f"[Binary resource content {content.mime_type}, {content.size} bytes]"
        for content in contents
    )
