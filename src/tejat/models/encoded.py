"""Messages in the bytes of a wire, each encoded once for as long as it lives."""

from collections.abc import Callable, Sequence
from operator import is_
from weakref import WeakKeyDictionary

from tejat.core.history import Message

_SMALLEST_BLOCK = 131_072
_LARGEST_BLOCK = 1 << 20


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


class Joined:
    """The messages of a conversation that grows, with commas between them, in few blocks that are seldom made anew."""

    def __init__(self, encoded: Encoded) -> None:
        self._encoded = encoded
        self._settled: list[Message] = []
        self._blocks: list[bytes] = []

    def of(self, messages: Sequence[Message]) -> list[bytes]:
        """A short conversation on the side takes nothing away from the long one."""
        known = len(self._settled)
        if known > len(messages) or not all(map(is_, self._settled, messages)):
            known = 0
        latest = messages[known:]
        pieces = [self._encoded.of(message) for message in latest]
        last = b",".join([b"", *pieces] if known else pieces)
        if len(last) < _SMALLEST_BLOCK:
            return [*self._blocks, last] if known else [last]
        if not known:
            self.forget()
        self._settled.extend(latest)
        self._blocks.append(last)
        self._merge()
        return list(self._blocks)

    def _merge(self) -> None:
        """Few large blocks go out faster than many. Only neighbours of about one size: that copies each byte rarely."""
        while len(self._blocks) > 1:
            before, last = self._blocks[-2:]
            if 2 * len(before) > 3 * len(last) or len(before) + len(last) > _LARGEST_BLOCK:
                return
            self._blocks[-2:] = [before + last]

    def forget(self) -> None:
        """Make the blocks anew: some message has other bytes now."""
        self._settled.clear()
        self._blocks.clear()


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
