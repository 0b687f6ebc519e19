"""An MCP server without a wire, with given answers and recorded requests."""

from collections.abc import Callable
from typing import Any

from tejat.core.messages.types import JsonObject
from tejat.mcp.errors import McpFailure
from tejat.mcp.types import McpProgress


class FakeServer:
    """`answer` is the result of every request, or raised; `progress` is reported before a tool answers."""

    def __init__(
        self,
        alias: str = "srv",
        answer: JsonObject | McpFailure | None = None,
        *,
        progress: tuple[McpProgress, ...] = (),
    ) -> None:
        self.requests: list[tuple[Any, ...]] = []
        self._alias = alias
        self._answer = {} if answer is None else answer
        self._progress = progress

    @property
    def alias(self) -> str:
        return self._alias

    async def call_tool(
        self, name: str, arguments: JsonObject, *, on_progress: Callable[[McpProgress], None] | None = None
    ) -> JsonObject:
        if on_progress is not None:
            for progress in self._progress:
                on_progress(progress)
        return self._respond("call", name, arguments)

    async def get_prompt(self, name: str, arguments: JsonObject) -> JsonObject:
        return self._respond("prompt", name, arguments)

    async def read_resource(self, uri: str) -> JsonObject:
        return self._respond("resource", uri)

    def _respond(self, *asked: Any) -> JsonObject:
        self.requests.append(asked)
        if isinstance(self._answer, McpFailure):
            raise self._answer
        return self._answer
