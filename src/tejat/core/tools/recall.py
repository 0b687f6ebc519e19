"""Earlier parts of a conversation, as the tool `recall` asks for them."""

from collections.abc import Callable
from typing import TypeAlias

from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy


class RecallQuery(Frozen):
    """What to fetch: messages with a text, messages or turns by number (first and last), or a list of all turns."""

    text: str = ""
    messages: tuple[int, int] | None = None
    turns: tuple[int, int] | None = None


class RecalledPart(Frozen):
    """What was found, for the model. `count` is the number of messages, or of turns in a list of them."""

    text: str
    count: int


Recall: TypeAlias = Callable[[RecallQuery], RecalledPart]
"""Fetches earlier parts of the conversation. Raises ToolFailure for numbers that do not exist."""


class EarlierParts:
    """The earlier parts of the current conversation, for tools. A session fills it in.

    `exist` says whether there are parts that the model does not see any more, or that are from an earlier run.
    """

    def __init__(self) -> None:
        self.fetch: Recall | None = None
        self.exist: Callable[[], bool] = lambda: False

    def __call__(self, query: RecallQuery) -> RecalledPart:
        """Fetch a part. Raises ToolFailure."""
        if self.fetch is None:
            raise ToolFailure(lazy("There is no conversation to recall from."), ErrorType.EXECUTION_FAILED)
        return self.fetch(query)
