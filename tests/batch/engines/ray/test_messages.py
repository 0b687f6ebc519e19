"""Messages between the batch and the Ray driver."""

import asyncio
import socket

from tejat.batch.engines.ray.messages import MessageKind, read_message, receive_message, send_message


def test_messages_arrive_in_order_whatever_is_in_them() -> None:
    async def exchange() -> None:
        ours, theirs = socket.socketpair()
        _, writer = await asyncio.open_connection(sock=ours)
        reader, other = await asyncio.open_connection(sock=theirs)
        send_message(writer, MessageKind.RUN, number=1, job={"repo": "/tmp/\udcff", "limit": None})
        send_message(writer, MessageKind.CANCEL, number=1)
        assert await receive_message(reader) == {
            "kind": "run",
            "number": 1,
            "job": {"repo": "/tmp/\udcff", "limit": None},
        }
        assert await receive_message(reader) == {"kind": "cancel", "number": 1}
        writer.close()
        assert await receive_message(reader) is None
        other.close()

    asyncio.run(exchange())


def test_a_message_that_is_cut_is_the_end() -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        with ours:
            ours.sendall((100).to_bytes(4, "big") + b"half")
        assert read_message(theirs) is None


def test_the_first_message_is_read_without_an_event_loop() -> None:
    async def send(channel: socket.socket) -> None:
        _, writer = await asyncio.open_connection(sock=channel)
        send_message(writer, MessageKind.OPEN, address="")
        send_message(writer, MessageKind.STOP)
        await writer.drain()
        writer.close()

    ours, theirs = socket.socketpair()
    with theirs:
        asyncio.run(send(ours))
        assert read_message(theirs) == {"kind": "open", "address": ""}
        assert read_message(theirs) == {"kind": "stop"}
        assert read_message(theirs) is None
