"""`find_tools`: looks for tools where there are too many to tell a model of all, and makes them known to it."""

from collections.abc import Sequence
from functools import cached_property
from typing import Annotated

from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.schema import Param
from tejat.core.tool import Kind, ToolContext, ToolResult, TypedTool
from tejat.core.value import value
from tejat.core.words import phrase
from tejat.tools.registry import FIND_TOOLS, Entry, ToolRegistry
from tejat.tools.tool_index import index_of
from tejat.tools.tool_search import ToolSearch
from tejat.tools.words import description_of

MOST_AT_ONCE = 20

_USUALLY = 5
_MOST_OTHERS = 10
_LONGEST_LINE = 200


@value
class FindToolsParams:
    query: Annotated[str, Param("What the tool should do, in a few words, with the server if you know it.")] = ""
    names: Annotated[list[str] | None, Param("Names of tools to load, if you know them.", min_item_length=1)] = None
    limit: Annotated[int, Param(f"How many to load for the query, at most {MOST_AT_ONCE}.", minimum=1)] = _USUALLY


class FindToolsTool(TypedTool[FindToolsParams]):
    """Knows the tools that it was made with: where there are others now, another one is made."""

    spoken_name = "find tools"
    bounds_output = True

    def __init__(self, registry: ToolRegistry, entries: Sequence[Entry]) -> None:
        super().__init__(
            name=FIND_TOOLS,
            display_name="FindTools",
            description=f"{description_of(FIND_TOOLS)}\n\n{index_of(entries, registry.description_of_server)}",
            parameters=FindToolsParams,
            kind=Kind.SEARCH,
        )
        self._registry = registry
        self._entries = entries

    def check(self, params: FindToolsParams) -> None:
        if not (params.query.strip() or params.names):
            raise ToolFailure(phrase("Give a query, or the names of tools."), ErrorType.INVALID_TOOL_PARAMS)

    def describe(self, params: FindToolsParams) -> str:
        return ", ".join(filter(None, [params.query.strip(), *(params.names or ())[:MOST_AT_ONCE]]))

    async def run(self, params: FindToolsParams, context: ToolContext) -> ToolResult:
        offered = {entry.name for entry in self._entries}
        named: dict[str, Entry] = {}
        missing: list[str] = []
        for name in (params.names or [])[:MOST_AT_ONCE]:
            entry = self._registry.entry(name)
            if entry is None or entry.name not in offered:
                missing.append(name)
            else:
                named[entry.name] = entry
        # A name that nobody has is as good as a query: it says what is wanted.
        ranked = self._search.ranked(" ".join([params.query, *missing]))
        found = [entry for entry in ranked if entry.name not in named]
        limit = min(params.limit, MOST_AT_ONCE)
        loaded, others = [*named.values(), *found[:limit]], found[limit : limit + _MOST_OTHERS]
        self._registry.tell_of(entry.name for entry in loaded)
        return ToolResult(_told(loaded, others, missing), phrase("{count} tool(s) loaded.", count=len(loaded)))

    @cached_property
    def _search(self) -> ToolSearch:
        return ToolSearch(self._entries)


def _told(loaded: Sequence[Entry], others: Sequence[Entry], missing: Sequence[str]) -> str:
    lines = [f'There is no tool "{name[:_LONGEST_LINE]}".' for name in missing]
    if not loaded:
        return "\n".join([*lines, "No tool fits these words. Try others, or fewer."])
    lines += ["These can be called from now on:", *map(_line, loaded)]
    if others:
        lines.append(f"Less likely, and not loaded: {', '.join(entry.name for entry in others)}")
    return "\n".join(lines)


def _line(entry: Entry) -> str:
    first = entry.declaration.description.strip().partition("\n")[0].strip()
    short = first if len(first) <= _LONGEST_LINE else f"{first[: _LONGEST_LINE - 1].rstrip()}…"
    return f"- {entry.name}: {short}" if short else f"- {entry.name}"
