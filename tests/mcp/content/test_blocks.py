"""Blocks of content: for a model, for a person, and not too many of them."""

from base64 import b64encode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tejat.core.messages.types import InlineData
from tejat.mcp.content.blocks import (
    MAX_BLOCKS,
    MAX_MEDIA,
    MAX_MEDIA_BYTES,
    ClientNote,
    ContentBlock,
    ContentTooLarge,
    ServerText,
    parse_content,
    strip_media,
)

PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)
WAV = b"RIFF....WAVEfmt "


def in_base64(data: bytes) -> str:
    return b64encode(data).decode()


def resource(**members: Any) -> dict[str, Any]:
    return {"type": "resource", "resource": {"uri": "x:1", **members}}


# A block, what the model gets of it, and what the person sees.
BLOCKS: dict[str, tuple[Any, tuple[Any, ...], str]] = {
    "text": ({"type": "text", "text": "a\nb"}, (ServerText("a\nb"),), "a\nb"),
    "text that is none": ({"type": "text", "text": 5}, (), "[Unknown content type: text]"),
    "a picture": (
        {"type": "image", "data": in_base64(PNG), "mimeType": "image/png"},
        (
            ClientNote("[Tool 't' provided the following image data with mime-type: image/png]"),
            InlineData("image/png", PNG),
        ),
        "[Image: image/png]",
    ),
    "a picture by a wrong name": (
        {"type": "image", "data": in_base64(PNG), "mimeType": "image/jpeg"},
        (
            ClientNote("[Tool 't' provided the following image data with mime-type: image/png]"),
            InlineData("image/png", PNG),
        ),
        "[Image: image/png]",
    ),
    "a picture without a name": (
        {"type": "image", "data": in_base64(PNG)},
        (
            ClientNote("[Tool 't' provided the following image data with mime-type: image/png]"),
            InlineData("image/png", PNG),
        ),
        "[Image: image/png]",
    ),
    "a picture that is none": (
        {"type": "image", "data": in_base64(b"hello"), "mimeType": "image/png"},
        (ClientNote("[Tool 't' provided image data that was left out: its 5 bytes are not image/png.]"),),
        "[Image: image/png, not readable]",
    ),
    "a picture that nobody knows": (
        {"type": "image", "data": in_base64(b"hello"), "mimeType": "\x1b[31m"},
        (ClientNote("[Tool 't' provided image data that was left out: its 5 bytes are not of a known kind.]"),),
        "[Image: unknown type, not readable]",
    ),
    "a picture that is a program": (
        {"type": "image", "data": in_base64(b"hello"), "mimeType": "application/x-elf"},
        (ClientNote("[Tool 't' provided image data that was left out: its 5 bytes are not application/x-elf.]"),),
        "[Image: application/x-elf, not readable]",
    ),
    "a drawing": (
        {"type": "image", "data": in_base64(b"<svg/>"), "mimeType": "image/svg+xml"},
        (ServerText("<svg/>"),),
        "[Image: image/svg+xml]",
    ),
    "bad base64": (
        {"type": "image", "data": "*", "mimeType": "image/png"},
        (ClientNote("[Tool 't' provided image data that cannot be read: it is not base64.]"),),
        "[Image: image/png, not readable]",
    ),
    "no data": (
        {"type": "audio"},
        (ClientNote("[Tool 't' provided audio data that cannot be read: it is not base64.]"),),
        "[Audio: unknown type, not readable]",
    ),
    "sound": (
        {"type": "audio", "data": in_base64(WAV), "mimeType": "audio/x-wav"},
        (
            ClientNote("[Tool 't' provided the following audio data with mime-type: audio/wav]"),
            InlineData("audio/wav", WAV),
        ),
        "[Audio: audio/wav]",
    ),
    "sound of another kind": (
        {"type": "audio", "data": in_base64(b"OggS"), "mimeType": "audio/ogg"},
        (
            ClientNote("[Tool 't' provided the following audio data with mime-type: audio/ogg]"),
            InlineData("audio/ogg", b"OggS"),
        ),
        "[Audio: audio/ogg]",
    ),
    "a resource of text": (resource(text="inside", mimeType="text/plain"), (ServerText("inside"),), "inside"),
    "a resource that is a picture": (
        resource(blob=in_base64(PNG), mimeType="image/png"),
        (
            ClientNote("[Tool 't' provided the following embedded resource with mime-type: image/png]"),
            InlineData("image/png", PNG),
        ),
        "[Embedded Resource: image/png]",
    ),
    "a resource of bytes": (
        resource(blob=in_base64(b"\x00\x01\x02\x03" * 30)),
        (
            ClientNote(
                "[Tool 't' provided the following embedded resource with mime-type: application/octet-stream, "
                "of 120 bytes, which no model takes: they were left out]"
            ),
        ),
        "[Embedded Resource: unknown type]",
    ),
    "a resource whose bytes are text": (
        resource(blob=in_base64("grüß dich".encode()), mimeType="application/octet-stream"),
        (ServerText("grüß dich"),),
        "[Embedded Resource: application/octet-stream]",
    ),
    "a resource that its name tells": (
        resource(uri="file:///a.mp3?x=1", blob=in_base64(b"\x00\x01\x02\x03" * 30)),
        (
            ClientNote("[Tool 't' provided the following embedded resource with mime-type: audio/mpeg]"),
            InlineData("audio/mpeg", b"\x00\x01\x02\x03" * 30),
        ),
        "[Embedded Resource: unknown type]",
    ),
    "a resource of nothing": (
        resource(),
        (ClientNote("[Tool 't' provided an embedded resource that cannot be read.]"),),
        "[Embedded Resource: unknown type]",
    ),
    "a resource that is none": ({"type": "resource", "resource": "x"}, (), "[Unknown content type: resource]"),
    "a link with a title": (
        {"type": "resource_link", "uri": "x:1", "name": "n", "title": "T"},
        (ServerText("Resource Link: T at x:1"),),
        "[Link to T: x:1]",
    ),
    "a link with a name": (
        {"type": "resource_link", "uri": "x:1", "name": "n"},
        (ServerText("Resource Link: n at x:1"),),
        "[Link to n: x:1]",
    ),
    "a link with neither": (
        {"type": "resource_link", "uri": "x:1"},
        (ServerText("Resource Link: x:1 at x:1"),),
        "[Link to x:1: x:1]",
    ),
    "a link to nowhere": ({"type": "resource_link", "name": "n"}, (), "[Unknown content type: resource_link]"),
    "something new": ({"type": "hologram"}, (), "[Unknown content type: hologram]"),
    "no type": ({}, (), "[Unknown content type: none]"),
    "no block": ("text", (), "[Unknown content type: none]"),
    "null": (None, (), "[Unknown content type: none]"),
}


@pytest.mark.parametrize("name", BLOCKS)
def test_a_block(name: str) -> None:
    given_block, pieces, shown = BLOCKS[name]
    assert parse_content([given_block], source="Tool 't'") == [ContentBlock(pieces, shown)]


def test_the_order_is_kept() -> None:
    names = list(BLOCKS)
    read = parse_content([BLOCKS[name][0] for name in names], source="Tool 't'")
    assert read == [ContentBlock(*BLOCKS[name][1:]) for name in names]


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["text", "image", "resource", "YQ==", "\ud800"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "text", "data", "resource", "blob", "uri", "mimeType"]), inner)
    ),
    max_leaves=10,
)


@given(st.lists(anything, max_size=5))
def test_whatever_a_server_sends(content: list[Any]) -> None:
    assert len(parse_content(content, source="Tool 't'")) == len(content)


class TestBounds:
    def test_as_much_as_may_be(self) -> None:
        data = PNG + bytes(MAX_MEDIA_BYTES - len(PNG))
        block = {"type": "image", "data": in_base64(data), "mimeType": "image/png"}
        (read,) = parse_content([block], source="Tool 't'")
        assert read.pieces[1] == InlineData("image/png", data)
        assert len(parse_content([{}] * MAX_BLOCKS, source="Tool 't'")) == MAX_BLOCKS

    @pytest.mark.parametrize(
        ("content", "told"),
        [
            ([{}] * (MAX_BLOCKS + 1), "10001 blocks, and at most 10000 are taken"),
            (
                [{"type": "image", "data": "YQ=="}] * (MAX_MEDIA + 1),
                "101 pictures or recordings, and at most 100 are taken",
            ),
            (
                [resource(blob="A" * 8 * 2**20), {"type": "audio", "data": "A" * 8 * 2**20}],
                "12582912 bytes of media, and at most 10485760 are taken",
            ),
        ],
        ids=["blocks", "media", "bytes"],
    )
    def test_more_than_that(self, content: list[Any], told: str) -> None:
        with pytest.raises(ContentTooLarge) as raised:
            parse_content(content, source="Tool 't'")
        assert str(raised.value) == told


def test_media_in_words() -> None:
    given_answer = {
        "content": [{"type": "image", "data": "YWJj", "mimeType": "m"}, resource(blob="YQ==")],
        "isError": True,
        "data": {"data": 5},
    }
    assert strip_media(given_answer) == {
        "content": [{"type": "image", "data": "(3 bytes)", "mimeType": "m"}, resource(blob="(1 bytes)")],
        "isError": True,
        "data": {"data": 5},
    }
