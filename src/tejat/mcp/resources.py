"""Resources of servers: which one is meant, and what it holds, in words.

Whatever a resource is called, it is asked of its server. An address such as `file:///etc/passwd` is the name that a
server gave to something of its own, and nothing of ours is ever opened by it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from tejat.core.types import JsonObject
from tejat.core.value import value
from tejat.mcp.media_types import size_of, type_told
from tejat.mcp.values import Server, ServerResource

MOST_CHARACTERS = 2**20
"""Of the text of one resource."""
MOST_CONTENTS = 1_000

_ANY_TYPE = "application/octet-stream"


@value
class Offered:
    """The resources that a server has told of."""

    server: Server
    resources: Sequence[ServerResource]


@value
class Found:
    """A resource and who has it."""

    server: Server
    resource: ServerResource

    @property
    def label(self) -> str:
        return f"{self.server.alias}:{self.resource.uri}"


def find_resource(wanted: str, offered: Iterable[Offered]) -> tuple[Found, ...]:
    """What is meant by `server:uri` or a uri: one, none, or several where more than one server has the same uri."""
    known = [Found(each.server, resource) for each in offered for resource in each.resources]
    labelled = tuple(found for found in known if found.label == wanted)
    return labelled[:1] or tuple({found.label: found for found in known if found.resource.uri == wanted}.values())


@value
class TextContent:
    text: str


@value
class BinaryContent:
    """`size` is in bytes."""

    mime_type: str
    size: int


async def read_resource(found: Found) -> tuple[TextContent | BinaryContent, ...]:
    """What the resource holds; text beyond MOST_CHARACTERS is cut off, and says so. Raises McpFailure."""
    answer = await found.server.read_resource(found.resource.uri)
    contents = answer.get("contents")
    told = [
        cast("JsonObject", each)
        for each in (contents if isinstance(contents, list) else ())
        if isinstance(each, Mapping)
    ]
    room = MOST_CHARACTERS
    read: list[TextContent | BinaryContent] = []
    for each in told[:MOST_CONTENTS]:
        text, blob = each.get("text"), each.get("blob")
        if isinstance(text, str):
            read.append(TextContent(_within(text, room)))
            room = max(room - len(text), 0)
        elif isinstance(blob, str):
            mime_type = type_told(each.get("mimeType")) or type_told(found.resource.mime_type) or _ANY_TYPE
            read.append(BinaryContent(mime_type, size_of(blob)))
    left_out = len(told) - MOST_CONTENTS
    if left_out > 0:
        read.append(TextContent(f"[{left_out} more contents were left out]"))
    return tuple(read)


def _within(text: str, room: int) -> str:
    if len(text) <= room:
        return text
    return f"{text[:room]}\n[... {len(text) - room} more characters were left out]"


def for_prompt(contents: Sequence[TextContent | BinaryContent]) -> str:
    """The contents as they are put into the prompt of a person who named the resource with `@`."""
    return "\n".join(
        content.text
        if isinstance(content, TextContent)
        else f"[Binary resource content {content.mime_type}, {content.size} bytes]"
        for content in contents
    )
