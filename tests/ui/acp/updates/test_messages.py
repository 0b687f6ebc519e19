"""Chunks of messages: the ids, and blank lines for clients that ignore them."""

from typing import Any, cast

from support.acp_schema import check_update
from tejat.core.messages.types import JsonObject
from tejat.ui.acp.updates.content_blocks import text_block
from tejat.ui.acp.updates.messages import ChunkKind, MessageChunks


class Chunks:
    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.messages = MessageChunks(self.take)

    def take(self, update: JsonObject) -> None:
        self.sent.append(cast("dict[str, Any]", check_update(update)))

    @property
    def ids(self) -> list[int]:
        """The ids as numbers, in the order of their first use."""
        found = list(dict.fromkeys(each["messageId"] for each in self.sent))
        return [found.index(each["messageId"]) for each in self.sent]

    @property
    def texts(self) -> list[str]:
        return [each["content"]["text"] for each in self.sent]


def test_a_response_has_one_message_and_one_thought() -> None:
    chunks = Chunks()
    for kind, text in [("THOUGHT", "Hm."), ("MESSAGE", "Hel"), ("THOUGHT", " Well."), ("MESSAGE", "lo")]:
        chunks.messages.add_text(ChunkKind[kind], text)
    chunks.messages.end_messages()
    chunks.messages.add_text(ChunkKind.MESSAGE, "Again")
    assert chunks.ids == [0, 1, 0, 1, 2]
    assert chunks.texts == ["Hm.", "Hel", " Well.", "lo", "\n\nAgain"]


def test_ids_differ_between_two_that_send_for_one_session() -> None:
    replayed, live = Chunks(), Chunks()
    for each in (replayed, live):
        each.messages.add_text(ChunkKind.MESSAGE, "a")
    assert replayed.sent[0]["messageId"] != live.sent[0]["messageId"]


def test_empty_texts_are_not_sent() -> None:
    chunks = Chunks()
    chunks.messages.add_text(ChunkKind.MESSAGE, "")
    assert (chunks.sent, chunks.messages.has_begun(ChunkKind.MESSAGE)) == ([], False)


def test_a_notice_is_a_message_of_its_own() -> None:
    chunks = Chunks()
    chunks.messages.add_text(ChunkKind.THOUGHT, "Hm")
    chunks.messages.add_notice(ChunkKind.THOUGHT, "Note: a", {"tejat": {}})
    chunks.messages.add_notice(ChunkKind.THOUGHT, "Note: b", {"tejat": {}})
    chunks.messages.add_text(ChunkKind.THOUGHT, "Well")
    assert chunks.ids == [0, 1, 2, 3]
    assert "".join(chunks.texts) == "Hm\n\nNote: a\n\nNote: b\n\nWell"


def test_other_updates_separate_messages() -> None:
    chunks = Chunks()
    chunks.messages.add_text(ChunkKind.MESSAGE, "a")
    chunks.messages.end_messages()
    chunks.messages.note_other_update()
    chunks.messages.add_text(ChunkKind.MESSAGE, "b")
    assert chunks.texts == ["a", "b"]


def test_the_blocks_of_a_whole_message_have_one_id() -> None:
    chunks = Chunks()
    chunks.messages.add_whole(ChunkKind.USER, [text_block("a"), {"type": "image", "mimeType": "image/png", "data": ""}])
    assert chunks.ids == [0, 0]
