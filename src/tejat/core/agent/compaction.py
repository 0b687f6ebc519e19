"""What outlives a summary of the conversation, and what a summary would do."""

from collections.abc import Callable
from typing import TypeAlias

from tejat.core.frozen import Value

CarriedText: TypeAlias = Callable[[], str]
"""Returns what the model is told after every summary, empty for nothing. It changes nothing."""


class CompressionPreview(Value):
    """The expected effect of a summary, in estimated tokens.

    `summarized` and `kept` count messages. `requests` are the user's requests that stay word for word. `carried` lists
    what is added again after the summary, with its tokens. If nothing would be summarized, `detail` says why.
    """

    before: int
    after: int
    summarized: int = 0
    kept: int = 0
    requests: tuple[str, ...] = ()
    carried: tuple[tuple[str, int], ...] = ()
    detail: str = ""
