"""`google_web_search`: by the model's service, by a service of one's own, and without either."""

import asyncio
import json

import pytest

from support.tool_results import failed_result, invalid_params_result
from support.web_site import http_response, open_site
from tejat.core.errors import ErrorType
from tejat.core.messages.declaration import Kind
from tejat.core.messages.history import model_message
from tejat.core.model import (
    Capability,
    Citation,
    FailureKind,
    Grounding,
    GroundingSource,
    ModelFailure,
    ModelRequest,
    ModelResponse,
)
from tejat.core.tools.base import ToolResult, validate_and_execute
from tejat.tools.google_web_search import WebSearchTool
from tejat.tools.web.access import WebAccess
from tejat.workspace.http.client import HttpClient
from tejat.workspace.web.fetcher import Fetcher
from tejat.workspace.web.search_endpoint import SearchEndpoint


class Model:
    """Says what it is told to say, or fails, and keeps what it was asked."""

    def __init__(self, say: ModelResponse | ModelFailure) -> None:
        self.say = say
        self.asked: list[ModelRequest] = []

    async def __call__(self, request: ModelRequest) -> ModelResponse:
        self.asked.append(request)
        if isinstance(self.say, ModelFailure):
            raise self.say
        return self.say


def web(
    model: Model | None = None, *, capabilities: frozenset[Capability] = frozenset(Capability), search: str = ""
) -> WebAccess:
    return WebAccess(
        lambda: Fetcher(HttpClient(environment={})),
        ask=model,
        capabilities=lambda: capabilities,
        search=(lambda: SearchEndpoint(search, lambda: HttpClient(environment={}))) if search else None,
        secrets=lambda: ["hush-hush-hush"],
    )


def call(web: WebAccess, query: object = "tea") -> ToolResult:
    return asyncio.run(validate_and_execute(WebSearchTool(web), {"query": query}))


def test_what_it_is() -> None:
    tool = WebSearchTool(web())
    assert (tool.name, tool.display_name, tool.kind, tool.is_read_only) == (
        *("google_web_search", "GoogleSearch", Kind.SEARCH, True),
    )
    assert tool.get_description({"query": "tea"}) == 'Searching the web for: "tea"'
    assert asyncio.run(tool.should_confirm_execute({"query": "tea"})) is None


@pytest.mark.parametrize("query", ["", "  \n"])
def test_an_empty_query(query: str) -> None:
    assert call(web(), query) == invalid_params_result("The 'query' parameter cannot be empty.")


def test_a_secret_is_not_searched_for() -> None:
    model = Model(ModelResponse(model_message("x")))
    result = call(web(model), "what is hush-hush-hush")
    assert result.error is not None
    assert (result.error.type, model.asked) == (ErrorType.POLICY_VIOLATION, [])


class TestByTheModelsService:
    def test_an_answer_with_its_sources(self) -> None:
        grounding = Grounding(
            (GroundingSource("T", "https://t.example"), GroundingSource(None, None)), (Citation(6, (0, 1)),)
        )
        model = Model(ModelResponse(model_message("Gr\u00fcn."), grounding=grounding))
        assert call(web(model)) == ToolResult(
            'Web search results for "tea":\n\nGr\u00fcn.[1][2]'
            "\n\nSources:\n[1] T (https://t.example)\n[2] Untitled (No URI)",
            'Search results for "tea" returned.',
        )
        (request,) = model.asked
        assert (request.capabilities, request.purpose, request.system, request.tools) == (
            *(frozenset({Capability.GOOGLE_SEARCH}), "web_search", "", ()),
        )
        assert [message.text for message in request.messages] == ["tea"]

    def test_nothing_found(self) -> None:
        model = Model(ModelResponse(model_message(" \n"), grounding=Grounding((GroundingSource("T", "u"),))))
        assert call(web(model)) == ToolResult(
            'No search results or information found for query: "tea"', "No information found."
        )

    def test_a_model_that_fails(self) -> None:
        model = Model(ModelFailure("It is down.", FailureKind.UNAVAILABLE))
        assert call(web(model)) == failed_result(
            'Error: Error during web search for query "tea": It is down.',
            ErrorType.WEB_SEARCH_FAILED,
            "Error performing web search.",
        )

    def test_it_goes_before_a_service_of_ones_own(self) -> None:
        model = Model(ModelResponse(model_message("x")))
        assert call(web(model, search="http://127.0.0.1:9/")).error is None


class TestByAServiceOfOnesOwn:
    def search(self, say: bytes, model: Model | None = None) -> ToolResult:
        async def main() -> ToolResult:
            async with open_site({"/search": say}) as opened:
                tool = WebSearchTool(web(model, capabilities=frozenset(), search=f"{opened.origin}/search"))
                return await validate_and_execute(tool, {"query": "tea"})

        return asyncio.run(main())

    def test_hits(self) -> None:
        results = [
            {"title": "Tea", "url": "https://t.example/", "content": "A drink."},
            {"url": "https://u.example/"},
        ]
        assert self.search(http_response(json.dumps({"results": results}))) == ToolResult(
            'Web search results for "tea":\n\nTea [1]\nA drink.\n\nUntitled [2]'
            "\n\nSources:\n[1] Tea (https://t.example/)\n[2] Untitled (https://u.example/)",
            'Search results for "tea" returned.',
        )

    def test_a_model_that_cannot_search_is_not_asked(self) -> None:
        model = Model(ModelResponse(model_message("x")))
        self.search(http_response('{"results": []}'), model)
        assert model.asked == []

    def test_no_hits(self) -> None:
        assert self.search(http_response('{"results": []}')).return_display == "No information found."

    def test_a_service_that_fails(self) -> None:
        assert self.search(http_response("", status="500 Oops")) == failed_result(
            'Error: Error during web search for query "tea": The search service returned 500 Oops.',
            ErrorType.WEB_SEARCH_FAILED,
            "Error performing web search.",
        )


@pytest.mark.parametrize("model", [None, Model(ModelResponse(model_message("x")))])
def test_without_either_it_is_said_what_to_set(model: Model | None) -> None:
    result = call(web(model, capabilities=frozenset({Capability.URL_CONTEXT})))
    assert result.error is not None
    assert result.error.type is ErrorType.WEB_SEARCH_FAILED
    assert "web.searchUrl" in result.error.message


def test_cancelling_goes_through() -> None:
    class Never(Model):
        async def __call__(self, request: ModelRequest) -> ModelResponse:
            await asyncio.sleep(60)
            return await super().__call__(request)

    async def main() -> None:
        tool = WebSearchTool(web(Never(ModelResponse(model_message("x")))))
        task = asyncio.create_task(validate_and_execute(tool, {"query": "tea"}))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
