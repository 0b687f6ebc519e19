"""Listing of a server's features, page by page, within limits."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from tejat.core.i18n import lazy
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.mcp.errors import McpFailure, McpProblem
from tejat.mcp.features.item_parser import InvalidItem, parse_prompt, parse_resource, parse_tool, quote_name
from tejat.mcp.protocol import METHOD_NOT_FOUND
from tejat.mcp.types import ServerFeatures, ServerPrompt, ServerResource, ServerTool

NOTHING_FOUND = lazy("No prompts, tools, or resources found on the server.")

_MAX_TOOLS = 2_000
_MAX_PROMPTS = 2_000
_MAX_RESOURCES = 10_000
_MAX_PAGES = 500
_MAX_CURSOR_LENGTH = 65_536
_MAX_PROBLEMS = 50

SendRequest: TypeAlias = Callable[[str, JsonObject | None], Awaitable[JsonObject]]
"""Sends a request. Raises McpFailure."""
_Item = TypeVar("_Item", ServerTool, ServerPrompt, ServerResource)


async def list_features(send: SendRequest, capabilities: JsonObject, *, is_strict: bool) -> ServerFeatures:
    """List what the server offers now. Raises McpFailure if tools cannot be listed, or the connection is closed.

    Only declared capabilities are listed. Prompts and resources that cannot be listed are problems, failures if
    `is_strict`.
    """
    tools, prompts, resources = await asyncio.gather(
        _list_items(send, capabilities, _TOOLS),
        _list_items(send, capabilities, _PROMPTS),
        _list_items(send, capabilities, _RESOURCES),
    )
    for listing in (tools, prompts, resources):
        is_over = listing.failure is not None and listing.failure.problem is McpProblem.CLOSED
        if listing.failure is not None and (is_over or is_strict or listing is tools):
            raise listing.failure
    return ServerFeatures(
        tools=tuple(tools.items),
        prompts=tuple(prompts.items),
        resources=tuple(resources.items),
        problems=limit_problems([*tools.problems, *prompts.problems, *resources.problems]),
    )


class _ItemKind(NamedTuple, Generic[_Item]):
    """One kind of feature. `identity` is its key field."""

    name: str
    parse: Callable[[JsonValue], _Item]
    identity: str
    limit: int


_TOOLS: _ItemKind[ServerTool] = _ItemKind(lazy("tools"), parse_tool, "name", _MAX_TOOLS)
_PROMPTS: _ItemKind[ServerPrompt] = _ItemKind(lazy("prompts"), parse_prompt, "name", _MAX_PROMPTS)
_RESOURCES: _ItemKind[ServerResource] = _ItemKind(lazy("resources"), parse_resource, "uri", _MAX_RESOURCES)


class _Listing(Generic[_Item]):
    """The items of one kind, and problems with them."""

    def __init__(self, kind: _ItemKind[_Item]) -> None:
        self.problems: list[str] = []
        self.failure: McpFailure | None = None
        self._kind = kind
        self._known: dict[str, _Item] = {}

    @property
    def items(self) -> list[_Item]:
        return list(self._known.values())

    def add_page(self, page: JsonObject) -> bool:
        """Add the items of a page. False: the limit is reached. Raises McpFailure."""
        name, limit = self._kind.name, self._kind.limit
        items = page.get(name)
        if not isinstance(items, list | tuple):
            message = lazy("The server's response to {method} has no list of {name}.", method=f"{name}/list", name=name)
            raise McpFailure(message, McpProblem.MALFORMED)
        for item in items:
            if len(self._known) >= limit:
                self.problems.append(lazy("Only the first {most:,} {name} are used.", name=name, most=limit))
                return False
            try:
                self._add(self._kind.parse(item))
            except InvalidItem as reason:
                self.problems.append(str(reason))
        return True

    def _add(self, offer: _Item) -> None:
        name: str = getattr(offer, self._kind.identity)
        if name in self._known:
            message = lazy(
                "Duplicate name {name} in {kind}: the first one is used.", name=quote_name(name), kind=self._kind.name
            )
            raise InvalidItem(message)
        self._known[name] = offer


async def _list_items(send: SendRequest, capabilities: JsonObject, kind: _ItemKind[_Item]) -> _Listing[_Item]:
    listing = _Listing(kind)
    if capabilities.get(kind.name) is None:
        return listing
    try:
        await _read_pages(send, listing, kind.name)
    except McpFailure as failure:
        # Some servers declare capabilities that they lack.
        if failure.code != METHOD_NOT_FOUND:
            listing.failure = failure
            listing.problems.append(lazy("Could not list {name}: {why}", name=kind.name, why=failure.message))
    return listing


async def _read_pages(send: SendRequest, listing: _Listing[_Item], name: str) -> None:
    """Raises McpFailure."""
    seen: set[str] = set()
    cursor: JsonValue = None
    for _ in range(_MAX_PAGES):
        page = await send(f"{name}/list", None if cursor is None else {"cursor": cursor})
        cursor = page.get("nextCursor")
        if not listing.add_page(page) or cursor is None:
            return
        if not isinstance(cursor, str) or len(cursor) > _MAX_CURSOR_LENGTH or cursor in seen:
            problem = lazy("The list of {name} is incomplete: the server sent an invalid cursor.", name=name)
            listing.problems.append(problem)
            return
        seen.add(cursor)
    problem = lazy("The list of {name} is incomplete: more than {most} pages.", name=name, most=_MAX_PAGES)
    listing.problems.append(problem)


def limit_problems(problems: list[str]) -> tuple[str, ...]:
    """Limit the number of problems."""
    if len(problems) <= _MAX_PROBLEMS:
        return tuple(problems)
    rest = lazy("{rest:,} more problems like these.", rest=len(problems) - _MAX_PROBLEMS + 1)
    return (*problems[: _MAX_PROBLEMS - 1], rest)
