"""Requests of a server to the client: roots, elicitation, sampling."""

from tejat.core.log import mcp_logger, report_unexpected
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.mcp.errors import McpFailure, McpProblem
from tejat.mcp.protocol import INTERNAL_ERROR, METHOD_NOT_FOUND
from tejat.mcp.types import ClientCallbacks

PING = "ping"
LIST_ROOTS = "roots/list"
ELICIT = "elicitation/create"
SAMPLE = "sampling/createMessage"

# Servers pass these messages on as the reason why a tool failed, so a model has to understand them.
_UNSUPPORTED_MESSAGES = {ELICIT: "Nobody can be asked here.", SAMPLE: "The model may not be asked here."}


class ServerRequestHandler:
    """Handles the requests of one server. Unsupported ones are not declared, and refused."""

    def __init__(self, alias: str, callbacks: ClientCallbacks) -> None:
        self._alias = alias
        self._callbacks = callbacks

    def capabilities(self, *, with_list_changed: bool) -> JsonObject:
        """Return the client capabilities. `with_list_changed`: changes of the roots will be announced."""
        offered: dict[str, JsonValue] = {"roots": {"listChanged": True} if with_list_changed else {}}
        if self._callbacks.elicit is not None:
            offered["elicitation"] = {"form": {}, "url": {}}
        if self._callbacks.sample is not None:
            offered["sampling"] = {}
        return offered

    def is_interactive(self, method: str) -> bool:
        """Return whether the request needs a user or a model, so that the server has to wait."""
        return method in {ELICIT, SAMPLE}

    async def handle(self, method: str, params: JsonObject) -> JsonObject:
        """Handle a request. Raises McpFailure with the error code for the server and a neutral message."""
        try:
            return await self._handle(method, params)
        except McpFailure:
            raise
        except Exception as error:
            report_unexpected(error, "a request of an MCP server", log=mcp_logger)
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
