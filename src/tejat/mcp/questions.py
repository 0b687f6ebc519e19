"""What a server may ask of us, and who answers it."""

from tejat.core.types import JsonObject, JsonValue
from tejat.mcp.failures import McpFailure, McpProblem
from tejat.mcp.protocol import INTERNAL_ERROR, METHOD_NOT_FOUND
from tejat.mcp.values import Host

PING = "ping"
ROOTS = "roots/list"
ELICIT = "elicitation/create"
SAMPLE = "sampling/createMessage"

# Servers hand these words on as the reason why a tool failed, so a model has to make sense of them.
_REFUSALS = {ELICIT: "Nobody can be asked here.", SAMPLE: "The model may not be asked here."}


class Questions:
    """The questions of one server. What the host cannot answer is not offered, and refused if it is asked anyway."""

    def __init__(self, alias: str, host: Host) -> None:
        self._alias = alias
        self._host = host

    def capabilities(self, *, with_notices: bool) -> JsonObject:
        """What we say that we can answer. `with_notices`: the server will be told when the roots change."""
        offered: dict[str, JsonValue] = {"roots": {"listChanged": True} if with_notices else {}}
        if self._host.elicit is not None:
            offered["elicitation"] = {"form": {}, "url": {}}
        if self._host.sample is not None:
            offered["sampling"] = {}
        return offered

    def takes_long(self, method: str) -> bool:
        """Whether somebody has to think before this is answered, so that the server cannot go on meanwhile."""
        return method in {ELICIT, SAMPLE}

    async def answer(self, method: str, params: JsonObject) -> JsonObject:
        """Raises McpFailure with the code that the server is to be told, and words that tell it nothing of us."""
        try:
            return await self._answer(method, params)
        except McpFailure:
            raise
        except Exception as error:
            raise McpFailure("It could not be answered.", McpProblem.REFUSED, code=INTERNAL_ERROR) from error

    async def _answer(self, method: str, params: JsonObject) -> JsonObject:
        if method == PING:
            return {}
        if method == ROOTS:
            return {"roots": [{"uri": root.uri, "name": root.name} for root in self._host.roots()]}
        if method == ELICIT and self._host.elicit is not None:
            return await self._host.elicit(self._alias, params)
        if method == SAMPLE and self._host.sample is not None:
            return await self._host.sample(self._alias, params)
        raise McpFailure(
            _REFUSALS.get(method, "There is no such method here."), McpProblem.REFUSED, code=METHOD_NOT_FOUND
        )
