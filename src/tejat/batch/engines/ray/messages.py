"""Messages between the batch and the process that is the Ray driver."""

import asyncio
import marshal
import socket
from typing import Any, TypeAlias

from tejat.core.text.str_enum import StrEnum

Message: TypeAlias = dict[str, Any]

_LENGTH_BYTES = 4


class MessageKind(StrEnum):
    """The field `kind` of a message. Those about a job have its `number`."""

    # To the driver.
    OPEN = "open"
    """The first: the options."""
    RUN = "run"
    CANCEL = "cancel"
    STOP = "stop"
    """The last: the batch ends in order."""
    # From the driver.
    READY = "ready"
    ACTIVITY = "activity"
    DONE = "done"
    LOST = "lost"
    CANCELLED = "cancelled"
    UNAVAILABLE = "unavailable"
    """The last: no job can run."""


def send_message(writer: asyncio.StreamWriter, kind: MessageKind, **fields: Any) -> None:
    """Queue a message. The values are such that `marshal` takes them."""
    # Not as JSON: paths may have bytes that are no text. Both ends are the same Python.
    body = marshal.dumps({"kind": kind.value, **fields})
    writer.write(len(body).to_bytes(_LENGTH_BYTES, "big") + body)


async def receive_message(reader: asyncio.StreamReader) -> Message | None:
    """The next message, None at the end."""
    try:
        size = int.from_bytes(await reader.readexactly(_LENGTH_BYTES), "big")
        found: Message = marshal.loads(await reader.readexactly(size))
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    return found


def read_message(channel: socket.socket) -> Message | None:
    """The next message of a socket, None at the end. Blocks."""
    body = _read_exactly(channel, int.from_bytes(_read_exactly(channel, _LENGTH_BYTES), "big"))
    found: Message | None = marshal.loads(body) if body else None
    return found


def _read_exactly(channel: socket.socket, size: int) -> bytes:
    """That many bytes, or none."""
    found = b""
    while len(found) < size:
        block = channel.recv(size - len(found))
        if not block:
            return b""
        found += block
    return found
