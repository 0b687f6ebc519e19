"""Messages and thoughts in chunks, each message with an id of its own."""

import os
from collections.abc import Sequence
from itertools import count

from tejat.core.messages.types import JsonObject, JsonValue
from tejat.core.text.str_enum import StrEnum
from tejat.ui.acp.updates.content_blocks import text_block
from tejat.ui.acp.updates.tool_calls import SendUpdate


class ChunkKind(StrEnum):
    """The values of `sessionUpdate`."""

    USER = "user_message_chunk"
    MESSAGE = "agent_message_chunk"
    THOUGHT = "agent_thought_chunk"


class MessageChunks:
    """Sends chunks. Messages are also kept apart by blank lines, for clients that join the chunks without their ids."""

    def __init__(self, send: SendUpdate) -> None:
        self._send = send
        self._prefix = f"message-{os.urandom(6).hex()}"
        self._numbers = count(1)
        self._ids: dict[ChunkKind, str] = {}
        self._last: tuple[ChunkKind, str] | None = None

    def has_begun(self, kind: ChunkKind) -> bool:
        """Whether a message of this kind has begun and not ended."""
        return kind in self._ids

    def add_text(self, kind: ChunkKind, text: str) -> None:
        """Add a text to the message of this kind, which begins if there is none."""
        if text:
            is_new = kind not in self._ids
            text = self._separate(kind, text) if is_new else text
            self._send_chunk(kind, self._ids.setdefault(kind, self._new_id()), text_block(text), text)

    def end_messages(self) -> None:
        """Let the next chunk of each kind begin a new message."""
        self._ids.clear()

    def add_whole(self, kind: ChunkKind, blocks: Sequence[JsonObject]) -> None:
        """Send a message of these blocks."""
        message_id = self._new_id()
        for block in blocks:
            self._send_chunk(kind, message_id, block, "")

    def add_notice(self, kind: ChunkKind, text: str, meta: JsonObject) -> None:
        """Send a text as a message of its own, between those of the model."""
        text = f"{self._separate(kind, text)}\n\n"
        self._send_chunk(kind, self._new_id(), text_block(text), text, {"_meta": meta})
        self._ids.pop(kind, None)

    def note_other_update(self) -> None:
        """Note that something else was sent, which separates messages."""
        self._last = None

    def _separate(self, kind: ChunkKind, text: str) -> str:
        is_glued = self._last is not None and self._last[0] is kind and not self._last[1].endswith("\n")
        return f"\n\n{text}" if is_glued else text

    def _send_chunk(
        self,
        kind: ChunkKind,
        message_id: str,
        block: JsonObject,
        text: str,
        more: JsonObject | None = None,
    ) -> None:
        self._last = kind, text
        update: dict[str, JsonValue] = {"sessionUpdate": kind.value, "messageId": message_id, "content": block}
        self._send({**update, **(more or {})})

    def _new_id(self) -> str:
        return f"{self._prefix}-{next(self._numbers)}"
