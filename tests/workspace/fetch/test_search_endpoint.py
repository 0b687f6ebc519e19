"""A search service of one's own."""

import asyncio
import json
from urllib.parse import parse_qs, urlsplit

import pytest

from tejat.workspace.fetch.search_endpoint import Hit, SearchEndpoint, SearchFailure
from tejat.workspace.http.client import HttpClient
from web_site import Site, answer, site


def search(say: bytes, query: str = "tea & \u00e4", path: str = "/search") -> tuple[list[Hit], Site]:
    async def main() -> tuple[list[Hit], Site]:
        async with site({"/search": say}) as opened:
            endpoint = SearchEndpoint(opened.origin + path, lambda: HttpClient(environment={}))
            return await endpoint.search(query), opened

    return asyncio.run(main())


def told(*results: object) -> bytes:
    return answer(json.dumps({"query": "x", "results": results}), content_type="application/json")


def test_the_hits_in_their_order() -> None:
    hits, _ = search(
        told(
            {"title": "A\n title", "url": "https://a.example/", "content": " one \t two ", "score": 3},
            {"url": "https://b.example/"},
            {"title": "without an address"},
            "nonsense",
            {"title": 7, "url": "https://c.example/", "content": None},
        )
    )
    assert hits == [
        Hit("A title", "https://a.example/", "one two"),
        Hit("", "https://b.example/", ""),
        Hit("", "https://c.example/", ""),
    ]


def test_no_more_than_a_page_of_them_and_no_long_texts() -> None:
    hits, _ = search(told(*({"url": f"https://a.example/{n}", "content": "x" * 9000} for n in range(30))))
    assert hits == [Hit("", f"https://a.example/{n}", "x" * 600) for n in range(10)]


def test_the_query_goes_where_it_belongs() -> None:
    _, opened = search(told(), path="/search?q=old&format=html&language=de#x")
    query = parse_qs(urlsplit(opened.paths[0]).query)
    assert query == {"language": ["de"], "q": ["tea & \u00e4"], "format": ["json"]}


@pytest.mark.parametrize(
    ("say", "message"),
    [
        (answer("no", status="500 Oops"), "The search service answered 500 Oops."),
        (
            answer("no", status="403 Forbidden"),
            "The search service answered 403 Forbidden. Is the format json switched on in its settings?",
        ),
        (answer("<html>"), "The search service did not answer in JSON."),
        (answer("[" * 100_000), "The search service did not answer in JSON."),
        (answer("[]"), "The search service answered in JSON, but without results."),
        (answer('{"results": {}}'), "The search service answered in JSON, but without results."),
    ],
)
def test_what_can_go_wrong(say: bytes, message: str) -> None:
    with pytest.raises(SearchFailure) as caught:
        search(say, query="secret")
    assert str(caught.value) == message


def test_an_answer_without_end() -> None:
    with pytest.raises(SearchFailure, match=r"^The search service cannot be used\. .* 5000000 bytes\.$"):
        search(answer("x" * 5_000_001))


def test_nobody_there() -> None:
    endpoint = SearchEndpoint("http://127.0.0.1:9/search", lambda: HttpClient(environment={}))
    with pytest.raises(SearchFailure, match=r"^The search service cannot be used\. ") as caught:
        asyncio.run(endpoint.search("secret"))
    assert "secret" not in str(caught.value)
