"""`google_web_search`: searches the web through the model's service or a configured search endpoint."""

from typing import Annotated

from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.messages.declaration import Kind
from tejat.core.messages.history import user_message
from tejat.core.model import AskModel, Capability, GroundingSource, ModelFailure, ModelRequest
from tejat.core.tools.base import ToolContext, ToolResult, TypedTool
from tejat.core.tools.schema import Param
from tejat.tools.descriptions import tool_labels
from tejat.tools.failures import invalid_params
from tejat.tools.web.access import WebAccess, reject_secrets
from tejat.tools.web.citations import append_sources, format_sources
from tejat.workspace.web.search_endpoint import SearchEndpoint, SearchFailure


class WebSearchParams(Frozen):
    query: Annotated[str, Param("What to search for.")]


class WebSearchTool(TypedTool[WebSearchParams]):
    """The tool `google_web_search`: search the web."""

    error_label = "web search"

    def __init__(self, web: WebAccess) -> None:
        super().__init__(
            **tool_labels("google_web_search", "GoogleSearch"), parameters=WebSearchParams, kind=Kind.SEARCH
        )
        self._web = web

    def check(self, params: WebSearchParams) -> None:
        if not params.query.strip():
            raise invalid_params(lazy("The 'query' parameter cannot be empty."))
        reject_secrets(self._web, params.query)

    def describe(self, params: WebSearchParams) -> str:
        return f'Searching the web for: "{params.query}"'

    async def run(self, params: WebSearchParams, context: ToolContext) -> ToolResult:
        query = params.query
        if self._web.ask is not None and Capability.GOOGLE_SEARCH in self._web.capabilities():
            found = await _search_with_model(query, self._web.ask)
        elif self._web.search is not None:
            found = await _search_with_endpoint(query, self._web.search())
        else:
            raise _failure(query, _NO_SEARCH_AVAILABLE)
        if not found:
            return ToolResult(
                f'No search results or information found for query: "{query}"', lazy("No information found.")
            )
        display = lazy('Search results for "{query}" returned.', query=query)
        return ToolResult(f'Web search results for "{query}":\n\n{found}', display)


_NO_SEARCH_AVAILABLE = lazy(
    "no search service is configured, and this model cannot search by itself. Set "
    "web.searchUrl in settings.json to a SearXNG-compatible search service, such as "
    "https://searx.example/search."
)


async def _search_with_model(query: str, ask: AskModel) -> str:
    request = ModelRequest(
        [user_message(query)], capabilities=frozenset({Capability.GOOGLE_SEARCH}), purpose="web_search"
    )
    try:
        answer = await ask(request)
    except ModelFailure as failure:
        raise _failure(query, failure.message) from None
    return append_sources(answer, unknown="No URI") if answer.text.strip() else ""


async def _search_with_endpoint(query: str, endpoint: SearchEndpoint) -> str:
    try:
        hits = await endpoint.search(query)
    except SearchFailure as failure:
        raise _failure(query, str(failure)) from None
    if not hits:
        return ""
    texts = (f"{hit.title or 'Untitled'} [{number}]\n{hit.text}".rstrip() for number, hit in enumerate(hits, 1))
    message = "\n\n".join(texts)
    return message + format_sources([GroundingSource(hit.title, hit.url) for hit in hits], unknown="No URI")


def _failure(query: str, reason: str) -> ToolFailure:
    return ToolFailure(
        lazy('Error: Error during web search for query "{query}": {reason}', query=query, reason=reason),
        ErrorType.WEB_SEARCH_FAILED,
        display=lazy("Error performing web search."),
    )
