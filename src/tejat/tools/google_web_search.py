"""`google_web_search`: searches the web, by the model's own service or by a search service of the person's choice."""

from collections.abc import Sequence
from typing import Annotated

from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.history import user_message
from tejat.core.model import Ability, Ask, ModelFailure, ModelRequest, Source
from tejat.core.schema import Param
from tejat.core.tool import Kind, ToolContext, ToolResult, TypedTool
from tejat.core.value import value
from tejat.core.words import phrase
from tejat.tools.citations import source_list, with_sources
from tejat.tools.web import Web, refuse_secrets
from tejat.tools.words import description_of
from tejat.workspace.fetch.search_endpoint import Hit, SearchEndpoint, SearchFailure


@value
class WebSearchParams:
    query: Annotated[str, Param("What to search for.")]


class WebSearchTool(TypedTool[WebSearchParams]):
    spoken_name = "web search"

    def __init__(self, web: Web) -> None:
        super().__init__(
            name="google_web_search",
            display_name="GoogleSearch",
            description=description_of("google_web_search"),
            parameters=WebSearchParams,
            kind=Kind.SEARCH,
        )
        self._web = web

    def check(self, params: WebSearchParams) -> None:
        if not params.query.strip():
            raise ToolFailure(phrase("The 'query' parameter cannot be empty."), ErrorType.INVALID_TOOL_PARAMS)
        refuse_secrets(self._web, params.query)

    def describe(self, params: WebSearchParams) -> str:
        return f'Searching the web for: "{params.query}"'

    async def run(self, params: WebSearchParams, context: ToolContext) -> ToolResult:
        query = params.query
        if self._web.ask is not None and Ability.GOOGLE_SEARCH in self._web.abilities():
            found = await _by_service(query, self._web.ask)
        elif self._web.search is not None:
            found = await _by_endpoint(query, self._web.search())
        else:
            raise _failure(query, _NO_WAY)
        if not found:
            return ToolResult(
                f'No search results or information found for query: "{query}"', phrase("No information found.")
            )
        display = phrase('Search results for "{query}" returned.', query=query)
        return ToolResult(f'Web search results for "{query}":\n\n{found}', display)


_NO_WAY = phrase(
    "there is nothing to search with. This model cannot search by itself; the user can set web.searchUrl in "
    "settings.json to the address of a search service that answers as SearXNG does, such as "
    "https://searx.example/search."
)


async def _by_service(query: str, ask: Ask) -> str:
    request = ModelRequest([user_message(query)], abilities=frozenset({Ability.GOOGLE_SEARCH}), purpose="web_search")
    try:
        answer = await ask(request)
    except ModelFailure as failure:
        raise _failure(query, failure.message) from None
    return with_sources(answer, unknown="No URI") if answer.text.strip() else ""


async def _by_endpoint(query: str, endpoint: SearchEndpoint) -> str:
    try:
        hits = await endpoint.search(query)
    except SearchFailure as failure:
        raise _failure(query, str(failure)) from None
    if not hits:
        return ""
    told = "\n\n".join(
        f"{hit.title or 'Untitled'} [{number}]\n{hit.text}".rstrip() for number, hit in enumerate(hits, 1)
    )
    return told + source_list(_sources(hits), unknown="No URI")


def _sources(hits: Sequence[Hit]) -> list[Source]:
    return [Source(hit.title, hit.url) for hit in hits]


def _failure(query: str, reason: str) -> ToolFailure:
    return ToolFailure(
        phrase('Error: Error during web search for query "{query}": {reason}', query=query, reason=reason),
        ErrorType.WEB_SEARCH_FAILED,
        display=phrase("Error performing web search."),
    )
