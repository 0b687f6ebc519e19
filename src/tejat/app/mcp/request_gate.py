"""A gate for requests of MCP servers to the user and the model."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from tejat.core.messages.types import JsonObject
from tejat.mcp.errors import McpFailure, McpProblem

RequestHandler: TypeAlias = Callable[[str, JsonObject], Awaitable[JsonObject]]
"""Handles a request, given the server's alias and the parameters. Raises McpFailure that is sent to the server."""

_GATE_CLOSED = "Nothing is asked while there is nothing to do."


class RequestGate:
    """Lets requests of servers through while a run goes on, and cancels the open ones at its end.

    Between prompts the user is typing, and costs would go unseen. A question that outlived its call would block all
    others.
    """

    def __init__(self) -> None:
        self._is_open = True
        self._pending: set[asyncio.Future[JsonObject]] = set()

    def open(self) -> None:
        self._is_open = True

    async def close(self) -> None:
        """Refuse requests until `open`, and cancel the open ones. Raises nothing but the cancellation of its task."""
        self._is_open = False
        for question in self._pending:
            question.cancel()
        if self._pending:
            await asyncio.wait(self._pending)

    def guard(self, answer: RequestHandler) -> RequestHandler:
        """Wrap a handler so that it only runs while the gate is open. A cancelled request is refused."""

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
