"""`find_tools`: searches tools that are too many to declare, and declares the matching ones."""

from collections.abc import Sequence
from functools import cached_property
from typing import Annotated

from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.messages.declaration import Kind
from tejat.core.tools.base import ToolContext, ToolResult, TypedTool
from tejat.core.tools.schema import Param
from tejat.tools.descriptions import load_description
from tejat.tools.failures import invalid_params
from tejat.tools.registry import FIND_TOOLS, ToolEntry, ToolRegistry
from tejat.tools.tool_search.ranker import ToolRanker
from tejat.tools.tool_search.summary import MAX_TOKENS, summarize_tools

MAX_LOADED = 20

_DEFAULT_LIMIT = 5
_MAX_OTHERS = 10
_MAX_LINE_LENGTH = 200


class FindToolsParams(Frozen):
    query: Annotated[str, Param("What the tool should do, in a few words, with the server if you know it.")] = ""
    names: Annotated[list[str] | None, Param("Names of tools to load, if you know them.", min_item_length=1)] = None
    limit: Annotated[int, Param(f"How many to load for the query, at most {MAX_LOADED}.", minimum=1)] = _DEFAULT_LIMIT


class FindToolsTool(TypedTool[FindToolsParams]):
    """Search over a fixed set of tools; a new instance is created when the set changes."""

    error_label = "find tools"
    limits_own_output = True

    def __init__(self, registry: ToolRegistry, entries: Sequence[ToolEntry], *, max_tokens: int = MAX_TOKENS) -> None:
        introduction = load_description(FIND_TOOLS)
        if max_tokens < MAX_TOKENS:
            introduction = introduction.partition(". ")[0] + "."
        summary = summarize_tools(entries, registry.server_description, max_tokens=max_tokens)
        super().__init__(
            name=FIND_TOOLS,
            display_name="FindTools",
            description=f"{introduction}\n\n{summary}",
            parameters=FindToolsParams,
            kind=Kind.SEARCH,
        )
        self._registry = registry
        self._entries = entries

    def check(self, params: FindToolsParams) -> None:
        if not (params.query.strip() or params.names):
            raise invalid_params(lazy("Provide a query or tool names."))

    def describe(self, params: FindToolsParams) -> str:
        return ", ".join(filter(None, [params.query.strip(), *(params.names or ())[:MAX_LOADED]]))

    async def run(self, params: FindToolsParams, context: ToolContext) -> ToolResult:
        offered = {entry.name for entry in self._entries}
        named: dict[str, ToolEntry] = {}
        missing: list[str] = []
        for name in (params.names or [])[:MAX_LOADED]:
            entry = self._registry.entry(name)
            if entry is None or entry.name not in offered:
                missing.append(name)
            else:
                named[entry.name] = entry
        # An unknown name is as good as a query.
        ranked = self._search.rank(" ".join([params.query, *missing]))
        found = [entry for entry in ranked if entry.name not in named]
        limit = min(params.limit, MAX_LOADED)
        loaded, others = [*named.values(), *found[:limit]], found[limit : limit + _MAX_OTHERS]
        self._registry.activate(entry.name for entry in loaded)
        return ToolResult(_format_result(loaded, others, missing), lazy("{count} tool(s) loaded.", count=len(loaded)))

    @cached_property
    def _search(self) -> ToolRanker:
        return ToolRanker(self._entries)


def _format_result(loaded: Sequence[ToolEntry], others: Sequence[ToolEntry], missing: Sequence[str]) -> str:
    lines = [f'There is no tool "{name[:_MAX_LINE_LENGTH]}".' for name in missing]
    if not loaded:
        return "\n".join([*lines, "No tool fits these words. Try others, or fewer."])
    lines += ["These can be called from now on:", *map(_format_line, loaded)]
    if others:
        lines.append(f"Less likely, and not loaded: {', '.join(entry.name for entry in others)}")
    return "\n".join(lines)


def _format_line(entry: ToolEntry) -> str:
    first = entry.declaration.description.strip().partition("\n")[0].strip()
    short = first if len(first) <= _MAX_LINE_LENGTH else f"{first[: _MAX_LINE_LENGTH - 1].rstrip()}…"
    return f"- {entry.name}: {short}" if short else f"- {entry.name}"
