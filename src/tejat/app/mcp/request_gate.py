"""What servers ask of the person and of the model, and when they may."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from tejat.core.messages.types import JsonObject
from tejat.mcp.errors import McpFailure, McpProblem

ServerRequestHandler: TypeAlias = Callable[[str, JsonObject], Awaitable[JsonObject]]
"""Given the alias of a server and what it asks. Raises McpFailure that the server is told."""

_GATE_CLOSED = "Nothing is asked while there is nothing to do."


class RequestGate:
    """Lets servers ask while there is work, and drops what is still open when it is done.

    Between two prompts the person is typing, and what is spent would go unseen. A question that outlived the call it
    was about would keep every other one from being asked.
    """

    def __init__(self) -> None:
        self._is_open = True
        self._pending: set[asyncio.Future[JsonObject]] = set()

    def open(self) -> None:
        self._is_open = True

    async def close(self) -> None:
        """Nothing more is asked until it is opened. Raises nothing but the cancellation of its task."""
        self._is_open = False
        for question in self._pending:
            question.cancel()
        if self._pending:
            await asyncio.wait(self._pending)

    def guard(self, answer: ServerRequestHandler) -> ServerRequestHandler:
        """The same, for as long as something may be asked. A question that is dropped is refused."""

        async def answered(alias: str, params: JsonObject) -> JsonObject:
            if not self._is_open:
                raise McpFailure(_GATE_CLOSED, McpProblem.REFUSED)
            question = asyncio.ensure_future(answer(alias, params))
            self._pending.add(question)
            try:
                await asyncio.wait((question,))
            finally:
                question.cancel()
                self._pending.discard(question)
            if question.cancelled():
                raise McpFailure(_GATE_CLOSED, McpProblem.REFUSED)
            return question.result()

        return answered
