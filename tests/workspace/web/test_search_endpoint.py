"""A search service of one's own."""

import asyncio
import json
from urllib.parse import parse_qs, urlsplit

import pytest

from support.web_site import WebSite, http_response, open_site
from tejat.workspace.http.client import HttpClient
from tejat.workspace.web.search_endpoint import SearchEndpoint, SearchFailure, SearchHit


def search(say: bytes, query: str = "tea & \u00e4", path: str = "/search") -> tuple[list[SearchHit], WebSite]:
    async def main() -> tuple[list[SearchHit], WebSite]:
        async with open_site({"/search": say}) as opened:
            endpoint = SearchEndpoint(opened.origin + path, lambda: HttpClient(environment={}))
            return await endpoint.search(query), opened

    return asyncio.run(main())


def results_response(*results: object) -> bytes:
    return http_response(json.dumps({"query": "x", "results": results}), content_type="application/json")


def test_the_hits_in_their_order() -> None:
    hits, _ = search(
        results_response(
            {"title": "A\n title", "url": "https://a.example/", "content": " one \t two ", "score": 3},
            {"url": "https://b.example/"},
            {"title": "without an address"},
            "nonsense",
            {"title": 7, "url": "https://c.example/", "content": None},
        )
    )
    assert hits == [
        SearchHit("A title", "https://a.example/", "one two"),
        SearchHit("", "https://b.example/", ""),
        SearchHit("", "https://c.example/", ""),
    ]


def test_no_more_than_a_page_of_them_and_no_long_texts() -> None:
    hits, _ = search(results_response(*({"url": f"https://a.example/{n}", "content": "x" * 9000} for n in range(30))))
    assert hits == [SearchHit("", f"https://a.example/{n}", "x" * 600) for n in range(10)]


def test_the_query_goes_where_it_belongs() -> None:
    _, opened = search(results_response(), path="/search?q=old&format=html&language=de#x")
    query = parse_qs(urlsplit(opened.paths[0]).query)
    assert query == {"language": ["de"], "q": ["tea & \u00e4"], "format": ["json"]}


@pytest.mark.parametrize(
    ("say", "message"),
    [
        (http_response("no", status="500 Oops"), "The search service returned 500 Oops."),
        (
            http_response("no", status="403 Forbidden"),
            "The search service returned 403 Forbidden. Check that it has the json format enabled.",
        ),
        (http_response("<html>"), "The search service did not return JSON."),
        (http_response("[" * 100_000), "The search service did not return JSON."),
        (http_response("[]"), "The search service returned JSON without results."),
        (http_response('{"results": {}}'), "The search service returned JSON without results."),
    ],
)
def test_what_can_go_wrong(say: bytes, message: str) -> None:
    with pytest.raises(SearchFailure) as caught:
        search(say, query="secret")
    assert str(caught.value) == message


def test_an_answer_without_end() -> None:
    with pytest.raises(SearchFailure, match=r"^The search service failed\. .* 5000000 bytes\.$"):
        search(http_response("x" * 5_000_001))


def test_nobody_there() -> None:
    endpoint = SearchEndpoint("http://127.0.0.1:9/search", lambda: HttpClient(environment={}))
    with pytest.raises(SearchFailure, match=r"^The search service failed\. ") as caught:
        asyncio.run(endpoint.search("secret"))
    assert "secret" not in str(caught.value)
