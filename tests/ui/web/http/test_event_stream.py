"""Messages of a stream."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from tejat.ui.web.http import event_stream
from tejat.ui.web.http.event_stream import EventStream, encode_event


def test_a_message_is_one_line_of_data_whatever_is_in_it() -> None:
    message = encode_event("change", {"text": "a\nb\r\u2028c\n\nevent: x"}, position="e-1").decode()
    assert message.startswith("id: e-1\nevent: change\ndata: {")
    assert message.endswith("}\n\n")
    assert len(message.splitlines()) == 4
    assert encode_event("reset", None) == b"event: reset\ndata: null\n\n"


def test_messages_come_with_signs_of_life_between_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "_KEEP_ALIVE_SECONDS", 0.02)
    ended: list[bool] = []

    async def messages() -> AsyncGenerator[bytes]:
        try:
            yield b"one"
            await asyncio.sleep(0.05)
            yield b"two"
        finally:
            ended.append(True)

    async def main() -> list[bytes]:
        stream = EventStream(messages())
        found = [piece async for piece in stream]
        await stream.aclose()
        return found

    found = asyncio.run(main())
    assert found[0].startswith(b":")
    assert [piece for piece in found if not piece.startswith(b":")] == [b"one", b"two"]
    assert len(found) > 3
    assert ended == [True]


def test_closing_it_early_ends_the_messages() -> None:
    ended: list[bool] = []

    async def messages() -> AsyncGenerator[bytes]:
        try:
            yield b"one"
            await asyncio.sleep(60)
        finally:
            ended.append(True)

    async def main() -> None:
        stream = EventStream(messages())
        iterator = stream.__aiter__()
        await anext(iterator)
        await anext(iterator)
        await iterator.aclose()
        await stream.aclose()

    asyncio.run(main())
    assert ended == [True]
