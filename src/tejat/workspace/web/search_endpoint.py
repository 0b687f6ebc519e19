"""A search service with the SearXNG API: `GET <url>?q=...&format=json`."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import cast
from urllib.parse import parse_qsl, urlencode, urlsplit

from tejat.core.errors import TejatError
from tejat.core.frozen import Frozen
from tejat.core.i18n import join_lazy, lazy
from tejat.workspace.http.client import HttpClient
from tejat.workspace.http.types import HttpFailure, HttpLimits

MAX_HITS = 10
_MAX_BYTES = 5_000_000
_MAX_TEXT = 600
_LIMITS = HttpLimits(connect=10.0, first_byte=30.0, idle=15.0, total=45.0)


class SearchHit(Frozen):
    title: str
    url: str
    text: str


class SearchFailure(TejatError):
    """The service returned no results. The message never contains the query."""


class SearchEndpoint:
    """The service at `url`, which the user configured: it may be on a private network.

    Searches are rare, so each uses its own HTTP client.
    """

    def __init__(self, url: str, open_http: Callable[[], HttpClient]) -> None:
        self._url = url
        self._open_http = open_http

    async def search(self, query: str) -> list[SearchHit]:
        """Return the hits, best first. Raises SearchFailure."""
        http = self._open_http()
        try:
            async with http.request("GET", self._request_url(query), limits=_LIMITS) as response:
                if response.status != 200:
                    answered = f"{response.status} {response.reason[:100]}"
                    parsed = lazy("The search service returned {status}.", status=answered)
                    hint = lazy("Check that it has the json format enabled.")
                    raise SearchFailure(join_lazy(" ", (parsed, hint)) if response.status == 403 else parsed)
                answer = await response.read(_MAX_BYTES)
        except HttpFailure as failure:
            raise SearchFailure(lazy("The search service failed. {why}", why=failure.message)) from None
        finally:
            await http.close()
        return _parse_hits(answer)

    def _request_url(self, query: str) -> str:
        parts = urlsplit(self._url)
        own = [(name, value) for name, value in parse_qsl(parts.query) if name not in ("q", "format")]
        return parts._replace(query=urlencode([*own, ("q", query), ("format", "json")]), fragment="").geturl()


def _parse_hits(answer: bytes) -> list[SearchHit]:
    try:
        parsed: object = json.loads(answer)
    except (ValueError, RecursionError):
        raise SearchFailure(lazy("The search service did not return JSON.")) from None
    results = cast("dict[str, object]", parsed).get("results") if isinstance(parsed, dict) else None
    if not isinstance(results, list):
        raise SearchFailure(lazy("The search service returned JSON without results."))
    rows = [cast("dict[str, object]", each) for each in cast("Sequence[object]", results) if isinstance(each, dict)]
    hits = [SearchHit(_line(row.get("title")), _line(row.get("url")), _line(row.get("content"))) for row in rows]
    return [hit for hit in hits if hit.url][:MAX_HITS]


def _line(value: object) -> str:
    return " ".join(value[: 4 * _MAX_TEXT].split())[:_MAX_TEXT] if isinstance(value, str) else ""


def open_search_endpoint(url: str, environment: Mapping[str, str]) -> SearchEndpoint:
    """The search service at an address, reached as the variables of the environment say."""
    return SearchEndpoint(url, lambda: HttpClient(environment=environment))
