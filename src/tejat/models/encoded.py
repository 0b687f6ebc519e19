"""Messages in the bytes of a wire, each encoded once for as long as it lives."""

from collections.abc import Callable, Sequence
from weakref import WeakKeyDictionary

from tejat.core.history import Message


class Encoded:
    """What `encode` makes of messages. It must depend on nothing but the message."""

    def __init__(self, encode: Callable[[Message], bytes]) -> None:
        self._encode = encode
        self._known: WeakKeyDictionary[Message, bytes] = WeakKeyDictionary()

    def of(self, message: Message) -> bytes:
        known = self._known.get(message)
        if known is None:
            known = self._known[message] = self._encode(message)
        return known

    def put(self, message: Message, encoded: bytes) -> None:
        """From now on this is what the message is in bytes."""
        self._known[message] = encoded


def fitted(messages: Sequence[Message], encoded: Encoded, lean: Encoded, *, most: int) -> list[bytes]:
    """The messages in bytes. Where they are more than `most` together, the oldest are taken from `lean` instead."""
    pieces = [encoded.of(message) for message in messages]
    size = sum(map(len, pieces))
    for place, message in enumerate(messages):
        if size <= most:
            break
        smaller = lean.of(message)
        size -= len(pieces[place]) - len(smaller)
        pieces[place] = smaller
    return pieces
