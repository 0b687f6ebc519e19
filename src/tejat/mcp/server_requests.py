"""What a server may ask of us, and who answers it."""

from tejat.core.log import report_unexpected
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.mcp.errors import McpFailure, McpProblem
from tejat.mcp.protocol import INTERNAL_ERROR, METHOD_NOT_FOUND
from tejat.mcp.types import ClientCallbacks

PING = "ping"
LIST_ROOTS = "roots/list"
ELICIT = "elicitation/create"
SAMPLE = "sampling/createMessage"

# Servers hand these words on as the reason why a tool failed, so a model has to make sense of them.
_UNSUPPORTED_MESSAGES = {ELICIT: "Nobody can be asked here.", SAMPLE: "The model may not be asked here."}


class ServerRequestHandler:
    """The questions of one server. What the host cannot answer is not offered, and refused if it is asked anyway."""

    def __init__(self, alias: str, callbacks: ClientCallbacks) -> None:
        self._alias = alias
        self._callbacks = callbacks

    def capabilities(self, *, with_list_changed: bool) -> JsonObject:
        """What we say that we can answer. `with_list_changed`: the server will be told when the roots change."""
        offered: dict[str, JsonValue] = {"roots": {"listChanged": True} if with_list_changed else {}}
        if self._callbacks.elicit is not None:
            offered["elicitation"] = {"form": {}, "url": {}}
        if self._callbacks.sample is not None:
            offered["sampling"] = {}
        return offered

    def is_interactive(self, method: str) -> bool:
        """Whether somebody has to think before this is answered, so that the server cannot go on meanwhile."""
        return method in {ELICIT, SAMPLE}

    async def handle(self, method: str, params: JsonObject) -> JsonObject:
        """Raises McpFailure with the code that the server is to be told, and words that tell it nothing of us."""
        try:
            return await self._handle(method, params)
        except McpFailure:
            raise
        except Exception as error:
            report_unexpected(error, "a request of an MCP server")
            raise McpFailure("It could not be answered.", McpProblem.REFUSED, code=INTERNAL_ERROR) from error

    async def _handle(self, method: str, params: JsonObject) -> JsonObject:
        if method == PING:
            return {}
        if method == LIST_ROOTS:
            return {"roots": [{"uri": root.uri, "name": root.name} for root in self._callbacks.roots()]}
        if method == ELICIT and self._callbacks.elicit is not None:
            return await self._callbacks.elicit(self._alias, params)
        if method == SAMPLE and self._callbacks.sample is not None:
            return await self._callbacks.sample(self._alias, params)
        raise McpFailure(
            _UNSUPPORTED_MESSAGES.get(method, "There is no such method here."),
            McpProblem.REFUSED,
            code=METHOD_NOT_FOUND,
        )
