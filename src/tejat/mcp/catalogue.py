"""Asks a server for everything that it offers, page by page, within bounds."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from tejat.core.types import JsonObject, JsonValue
from tejat.core.words import phrase
from tejat.mcp.failures import McpFailure, McpProblem
from tejat.mcp.offers import Unfit, mention, read_prompt, read_resource, read_tool
from tejat.mcp.protocol import METHOD_NOT_FOUND
from tejat.mcp.values import Catalogue, ServerPrompt, ServerResource, ServerTool

NOTHING_FOUND = phrase("No prompts, tools, or resources found on the server.")

_MOST_TOOLS = 2_000
_MOST_PROMPTS = 2_000
_MOST_RESOURCES = 10_000
_MOST_PAGES = 500
_LONGEST_CURSOR = 65_536
_MOST_PROBLEMS = 50

Ask: TypeAlias = Callable[[str, JsonObject | None], Awaitable[JsonObject]]
"""Sends a request; raises McpFailure."""
_Offer = TypeVar("_Offer", ServerTool, ServerPrompt, ServerResource)


async def list_everything(ask: Ask, capabilities: JsonObject, *, is_strict: bool) -> Catalogue:
    """What the server offers now. Raises McpFailure: the tools cannot be listed, or the connection is over.

    Only what it says it has is asked for. Prompts and resources that cannot be listed are a problem of theirs alone,
    unless it `is_strict`.
    """
    tools, prompts, resources = await asyncio.gather(
        _listing(ask, capabilities, _TOOLS),
        _listing(ask, capabilities, _PROMPTS),
        _listing(ask, capabilities, _RESOURCES),
    )
    for listing in (tools, prompts, resources):
        is_over = listing.failure is not None and listing.failure.problem is McpProblem.CLOSED
        if listing.failure is not None and (is_over or is_strict or listing is tools):
            raise listing.failure
    return Catalogue(
        tools=tuple(tools.offers),
        prompts=tuple(prompts.offers),
        resources=tuple(resources.offers),
        problems=in_short([*tools.problems, *prompts.problems, *resources.problems]),
    )


class _Kind(NamedTuple, Generic[_Offer]):
    """One kind of thing that servers offer. `identity` is the field that tells one from the other."""

    name: str
    read: Callable[[JsonValue], _Offer]
    identity: str
    most: int


_TOOLS: _Kind[ServerTool] = _Kind(phrase("tools"), read_tool, "name", _MOST_TOOLS)
_PROMPTS: _Kind[ServerPrompt] = _Kind(phrase("prompts"), read_prompt, "name", _MOST_PROMPTS)
_RESOURCES: _Kind[ServerResource] = _Kind(phrase("resources"), read_resource, "uri", _MOST_RESOURCES)


class _Listing(Generic[_Offer]):
    """What came of asking for one kind of thing."""

    def __init__(self, kind: _Kind[_Offer]) -> None:
        self.problems: list[str] = []
        self.failure: McpFailure | None = None
        self._kind = kind
        self._known: dict[str, _Offer] = {}

    @property
    def offers(self) -> list[_Offer]:
        return list(self._known.values())

    def add(self, page: JsonObject) -> bool:
        """Take what is on a page. False: no more is wanted. Raises McpFailure."""
        items = page.get(self._kind.name)
        if not isinstance(items, list | tuple):
            message = phrase(
                "The server's answer to {method} has no list of {name}.",
                method=f"{self._kind.name}/list",
                name=self._kind.name,
            )
            raise McpFailure(message, McpProblem.MALFORMED)
        for item in items:
            if len(self._known) >= self._kind.most:
                self.problems.append(
                    phrase(
                        "Of its {name} only the first {most:,} were taken.", name=self._kind.name, most=self._kind.most
                    )
                )
                return False
            try:
                self._take(self._kind.read(item))
            except Unfit as reason:
                self.problems.append(str(reason))
        return True

    def _take(self, offer: _Offer) -> None:
        name: str = getattr(offer, self._kind.identity)
        if name in self._known:
            raise Unfit(
                phrase(
                    "{name} is twice among the {kind}: the first one counts.", name=mention(name), kind=self._kind.name
                )
            )
        self._known[name] = offer


async def _listing(ask: Ask, capabilities: JsonObject, kind: _Kind[_Offer]) -> _Listing[_Offer]:
    listing = _Listing(kind)
    if capabilities.get(kind.name) is None:
        return listing
    try:
        await _read_pages(ask, listing, kind.name)
    except McpFailure as failure:
        # Some servers say they have what they do not know, and that is no failure.
        if failure.code != METHOD_NOT_FOUND:
            listing.failure = failure
            listing.problems.append(
                phrase("Its {name} could not be listed: {why}", name=kind.name, why=failure.message)
            )
    return listing


async def _read_pages(ask: Ask, listing: _Listing[_Offer], name: str) -> None:
    """Raises McpFailure."""
    seen: set[str] = set()
    cursor: JsonValue = None
    for _ in range(_MOST_PAGES):
        page = await ask(f"{name}/list", None if cursor is None else {"cursor": cursor})
        cursor = page.get("nextCursor")
        if not listing.add(page) or cursor is None:
            return
        if not isinstance(cursor, str) or len(cursor) > _LONGEST_CURSOR or cursor in seen:
            listing.problems.append(
                phrase("Its {name} were listed only in part: it does not say where they go on.", name=name)
            )
            return
        seen.add(cursor)
    listing.problems.append(
        phrase(
            "Its {name} were listed only in part: there are more than {most} pages of them.",
            name=name,
            most=_MOST_PAGES,
        )
    )


def in_short(problems: list[str]) -> tuple[str, ...]:
    """Not more than anybody would read."""
    if len(problems) <= _MOST_PROBLEMS:
        return tuple(problems)
    return (
        *problems[: _MOST_PROBLEMS - 1],
        phrase("There are {rest:,} more such problems.", rest=len(problems) - _MOST_PROBLEMS + 1),
    )
