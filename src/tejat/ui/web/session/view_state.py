"""The state of a session's page, numbered by change: a browser asks for everything after a number."""

import asyncio
import secrets
from collections import deque
from collections.abc import Mapping, Sequence

from tejat.core.frozen import Frozen
from tejat.core.messages.types import JsonObject, JsonValue

_MAX_NOTICES = 100
_MAX_DIGITS = 15


class PageBlock(Frozen):
    """A block of the transcript. `place` orders the blocks of the page; empty `html` means that the block is gone."""

    block_id: str
    html: str
    parent: str
    place: int

    def to_json(self) -> JsonObject:
        return {"id": self.block_id, "html": self.html, "parent": self.parent, "place": self.place}


class ViewState:
    """Blocks, named values and notices, each with the number of its last change.

    A browser that was away gets the present content of whatever changed since, so nothing is lost or shown twice, and
    nothing has to be kept for it. A slow one skips what was replaced meanwhile. Notices are events for one browser, or
    for all: the latest ones are kept. `epoch` changes when the blocks begin anew.
    """

    def __init__(self) -> None:
        self.epoch = secrets.token_hex(4)
        self.number = 0
        self._blocks: dict[str, PageBlock] = {}
        self._changed: dict[str, int] = {}  # the blocks, those that changed last at the end
        self._values: dict[str, tuple[int, JsonValue]] = {}
        self._notices: deque[tuple[int, JsonObject]] = deque(maxlen=_MAX_NOTICES)
        self._change = asyncio.Event()

    @property
    def position(self) -> str:
        return f"{self.epoch}-{self.number}"

    def parse_position(self, position: str) -> int | None:
        """The number in a position, None if it is of another epoch or no position."""
        epoch, _dash, number = position.partition("-")
        if epoch != self.epoch or not number.isdecimal() or len(number) > _MAX_DIGITS:
            return None
        return int(number) if int(number) <= self.number else None

    def set_block(self, block_id: str, html: str, parent: str = "") -> None:
        """Add or replace a block. A new one comes last."""
        before = self._blocks.get(block_id)
        place = len(self._blocks) if before is None else before.place
        block = PageBlock(block_id, html, parent, place)
        if block == before:
            return
        self._blocks[block_id] = block
        self._changed.pop(block_id, None)
        self._changed[block_id] = self._next_number()

    def set_value(self, name: str, value: JsonValue) -> None:
        """Set a named value, which browsers get whole."""
        if name not in self._values or self._values[name][1] != value:
            self._values[name] = (self._next_number(), value)

    def add_notice(self, notice: JsonObject) -> None:
        """Send something once."""
        self._notices.append((self._next_number(), notice))

    def clear(self) -> None:
        """Begin anew without blocks. Browsers load the content again."""
        self.epoch = secrets.token_hex(4)
        self._blocks.clear()
        self._changed.clear()
        self._next_number()

    def _next_number(self) -> int:
        self.number += 1
        self._change.set()
        return self.number

    async def wait_for_change(self, number: int, epoch: str) -> None:
        """Wait until there is something after this number, or another epoch."""
        while self.number <= number and self.epoch == epoch:
            self._change.clear()
            await self._change.wait()

    def changes_after(self, number: int) -> JsonObject:
        """Everything that changed after this number."""
        changed: list[PageBlock] = []
        for block_id, at in reversed(self._changed.items()):
            if at <= number:
                break
            changed.append(self._blocks[block_id])
        changed.sort(key=lambda block: block.place)
        return {
            "blocks": [block.to_json() for block in changed],
            "values": {name: value for name, (at, value) in self._values.items() if at > number},
            "notices": [notice for at, notice in self._notices if at > number],
        }

    @property
    def values(self) -> Mapping[str, JsonValue]:
        return {name: value for name, (_at, value) in self._values.items()}

    def latest_blocks(self, count: int, *, before: int | None = None) -> tuple[Sequence[PageBlock], int]:
        """The last blocks of the top level before a place, with those nested in them, and how many are before these."""
        shown = [block for block in self._blocks.values() if block.html]
        top = [block for block in shown if not block.parent and (before is None or block.place < before)]
        chosen = top[-count:] if count else []
        included = {block.block_id for block in chosen}
        for block in shown:  # a nested block comes after the one it is nested in
            if block.parent in included:
                included.add(block.block_id)
        return [block for block in shown if block.block_id in included], len(top) - len(chosen)
