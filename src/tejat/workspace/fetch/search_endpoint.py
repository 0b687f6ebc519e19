"""A search service of the person's own choice that answers as SearXNG does: `GET <url>?q=...&format=json`."""

import json
from collections.abc import Callable, Sequence
from typing import cast
from urllib.parse import parse_qsl, urlencode, urlsplit

from tejat.core.errors import TejatError
from tejat.core.value import value
from tejat.core.words import joined, phrase
from tejat.workspace.http.client import HttpClient
from tejat.workspace.http.values import HttpFailure, HttpLimits

MOST_HITS = 10
_MOST_BYTES = 5_000_000
_LONGEST_TEXT = 600
_LIMITS = HttpLimits(connect=10.0, first_byte=30.0, idle=15.0, whole=45.0)


@value
class Hit:
    title: str
    url: str
    text: str


class SearchFailure(TejatError):
    """The service gave no results. The message says what to look at, and never tells the query."""


class SearchEndpoint:
    """The service at `url`, which is the person's own setting: it may be on a private network.

    A search is rare, so each has a client of its own, closed in the end.
    """

    def __init__(self, url: str, open_http: Callable[[], HttpClient]) -> None:
        self._url = url
        self._open_http = open_http

    async def search(self, query: str) -> list[Hit]:
        """The best hits, best first. Raises SearchFailure."""
        http = self._open_http()
        try:
            async with http.request("GET", self._address(query), limits=_LIMITS) as response:
                if response.status != 200:
                    answered = f"{response.status} {response.reason[:100]}"
                    told = phrase("The search service answered {status}.", status=answered)
                    hint = phrase("Is the format json switched on in its settings?")
                    raise SearchFailure(joined(" ", (told, hint)) if response.status == 403 else told)
                answer = await response.read(_MOST_BYTES)
        except HttpFailure as failure:
            raise SearchFailure(phrase("The search service cannot be used. {why}", why=failure.message)) from None
        finally:
            await http.close()
        return _hits(answer)

    def _address(self, query: str) -> str:
        parts = urlsplit(self._url)
        own = [(name, value) for name, value in parse_qsl(parts.query) if name not in ("q", "format")]
        return parts._replace(query=urlencode([*own, ("q", query), ("format", "json")]), fragment="").geturl()


def _hits(answer: bytes) -> list[Hit]:
    try:
        told: object = json.loads(answer)
    except (ValueError, RecursionError):
        raise SearchFailure(phrase("The search service did not answer in JSON.")) from None
    results = cast("dict[str, object]", told).get("results") if isinstance(told, dict) else None
    if not isinstance(results, list):
        raise SearchFailure(phrase("The search service answered in JSON, but without results."))
    found = (
        _hit(cast("dict[str, object]", each)) for each in cast("Sequence[object]", results) if isinstance(each, dict)
    )
    return [hit for hit in found if hit is not None][:MOST_HITS]


def _hit(told: dict[str, object]) -> Hit | None:
    title, url, text = (_line(told.get(name)) for name in ("title", "url", "content"))
    return Hit(title, url, text) if url else None


def _line(value: object) -> str:
    return " ".join(value[: 4 * _LONGEST_TEXT].split())[:_LONGEST_TEXT] if isinstance(value, str) else ""
