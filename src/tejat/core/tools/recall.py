"""Earlier parts of a conversation, as the tool `recall` asks for them."""

from collections.abc import Callable
from typing import TypeAlias

from tejat.core.frozen import frozen

RECALL = "recall"
"""The name of the tool."""


@frozen
class RecallQuery:
    """What to fetch: messages with a text, messages or turns by number (first and last), or a list of all turns."""

    text: str = ""
    messages: tuple[int, int] | None = None
    turns: tuple[int, int] | None = None


@frozen
class RecalledPart:
    """What was found, for the model. `count` is the number of messages, or of turns in a list of them."""

    text: str
    count: int


Recall: TypeAlias = Callable[[RecallQuery], RecalledPart]
"""Fetches earlier parts of the conversation. Raises ToolFailure for numbers that do not exist."""
