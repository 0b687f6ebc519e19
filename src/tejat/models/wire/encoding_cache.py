"""Caches of encoded messages."""

from collections.abc import Callable, Sequence
from operator import is_
from weakref import WeakKeyDictionary

from tejat.core.messages.history import Message

_MIN_BLOCK_BYTES = 131_072
_MAX_BLOCK_BYTES = 1 << 20


class EncodingCache:
    """Caches the encoding of each message for its lifetime. `encode` must depend on the message alone."""

    def __init__(self, encode: Callable[[Message], bytes]) -> None:
        self._encode = encode
        self._cache: WeakKeyDictionary[Message, bytes] = WeakKeyDictionary()

    def get(self, message: Message) -> bytes:
        known = self._cache.get(message)
        if known is None:
            known = self._cache[message] = self._encode(message)
        return known

    def put(self, message: Message, encoded: bytes) -> None:
        """Replace the encoding of a message."""
        self._cache[message] = encoded


class JoinedMessages:
    """Encoded messages of a growing conversation, joined by commas in a few large blocks."""

    def __init__(self, encoded: EncodingCache) -> None:
        self._cache = encoded
        self._joined: list[Message] = []
        self._blocks: list[bytes] = []

    def blocks(self, messages: Sequence[Message]) -> list[bytes]:
        """Return the joined blocks. A short side conversation does not displace the main one."""
        known = len(self._joined)
        if known > len(messages) or not all(map(is_, self._joined, messages)):
            known = 0
        latest = messages[known:]
        pieces = [self._cache.get(message) for message in latest]
        last = b",".join([b"", *pieces] if known else pieces)
        if len(last) < _MIN_BLOCK_BYTES:
            return [*self._blocks, last] if known else [last]
        if not known:
            self.clear()
        self._joined.extend(latest)
        self._blocks.append(last)
        self._merge()
        return list(self._blocks)

    def _merge(self) -> None:
        """Merge neighbours of similar size: few large blocks are sent faster, and each byte is rarely copied."""
        while len(self._blocks) > 1:
            before, last = self._blocks[-2:]
            if 2 * len(before) > 3 * len(last) or len(before) + len(last) > _MAX_BLOCK_BYTES:
                return
            self._blocks[-2:] = [before + last]

    def clear(self) -> None:
        """Forget the blocks after an encoding was replaced."""
        self._joined.clear()
        self._blocks.clear()


def encode_within_limit(
    messages: Sequence[Message], cache: EncodingCache, lean_cache: EncodingCache, *, max_bytes: int
) -> list[bytes]:
    """Encode the messages. Beyond `max_bytes` in total, the oldest are taken from `lean_cache`."""
    pieces = [cache.get(message) for message in messages]
    size = sum(map(len, pieces))
    for place, message in enumerate(messages):
        if size <= max_bytes:
            break
        smaller = lean_cache.get(message)
        size -= len(pieces[place]) - len(smaller)
        pieces[place] = smaller
    return pieces
