"""A tool that sleeps."""

import asyncio
import threading
from typing import Generic, TypeVar

from tejat.core.tools.base import ToolContext

_Event = TypeVar("_Event", asyncio.Event, threading.Event)


class Sleeper(Generic[_Event]):
    """A tool that sleeps until it is cancelled, and counts how often that happened. Sets `began`."""

    def __init__(self, began: _Event) -> None:
        self.began = began
        self.ended = 0

    async def sleep(self, context: ToolContext) -> None:
        """Sleeps."""
        context.update_output("asleep")
        self.began.set()
        try:
            await asyncio.sleep(60)
        finally:
            self.ended += 1
