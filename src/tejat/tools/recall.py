"""`recall`: fetches earlier parts of the conversation, which a summary may have replaced."""

import re
from typing import Annotated

from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.messages.declaration import Kind
from tejat.core.messages.tool_names import RECALL
from tejat.core.tools.base import ToolContext, ToolResult, TypedTool
from tejat.core.tools.recall import Recall, RecallQuery
from tejat.core.tools.schema import Param
from tejat.tools.descriptions import tool_labels
from tejat.tools.failures import invalid_params

_MAX_TEXT = 500


class RecallParams(Frozen):
    text: Annotated[str, Param("Words to look for, in any case.")] = ""
    messages: Annotated[str, Param("Numbers of messages, for example `12` or `12-20`.")] = ""
    turns: Annotated[
        str, Param("Numbers of turns, for example `3` or `3-4`. A turn begins with a request of the user.")
    ] = ""


class RecallTool(TypedTool[RecallParams]):
    error_label = "recall"
    limits_own_output = True

    def __init__(self, recall: Recall) -> None:
        super().__init__(**tool_labels(RECALL, "Recall"), parameters=RecallParams, kind=Kind.READ)
        self._recall = recall

    def check(self, params: RecallParams) -> None:
        if params.messages.strip() and params.turns.strip():
            raise invalid_params("Give either messages or turns, not both.")
        _query(params)

    def describe(self, params: RecallParams) -> str:
        query = _query(params)
        found = [
            f'"{query.text}"' if query.text else "",
            f"messages {params.messages.strip()}" if query.messages else "",
            f"turns {params.turns.strip()}" if query.turns else "",
        ]
        return ", ".join(filter(None, found)) or "all turns"

    async def run(self, params: RecallParams, context: ToolContext) -> ToolResult:
        found = self._recall(_query(params))
        return ToolResult(found.text, lazy("{count} found.", count=found.count))


def _query(params: RecallParams) -> RecallQuery:
    """Raises ToolFailure."""
    return RecallQuery(
        params.text.strip()[:_MAX_TEXT], _span("messages", params.messages), _span("turns", params.turns)
    )


def _span(name: str, given: str) -> tuple[int, int] | None:
    """The first and the last number of a range. Raises ToolFailure."""
    if not given.strip():
        return None
    numbers = re.fullmatch(_SPAN, given.strip())
    if numbers is None:
        raise invalid_params(f"{name} must be a number or a range such as 12-20, not {given[:50]!r}.")
    first, last = int(numbers[1]), int(numbers[2] or numbers[1])
    return min(first, last), max(first, last)


_SPAN = r"([0-9]{1,9})(?:\s*(?:-|–|to)\s*([0-9]{1,9}))?"
