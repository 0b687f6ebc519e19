"""Who asks: said to one server, and said again when it has changed."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest

from support.mcp.transports import http_response, scripted_server
from support.raw_server import Peer, raw_server, run_checked
from tejat.mcp.errors import McpFailure, McpProblem
from tejat.mcp.transports.http_channel import ChannelRequest, HttpChannel
from tejat.workspace.http.client import HttpClient
from tejat.workspace.http.types import HttpLimits


class Tokens:
    """One token after the other."""

    def __init__(self, *tokens: str) -> None:
        self.tokens = list(tokens)
        self.refused: list[str] = []

    async def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.tokens[0]}"} if self.tokens else {}

    async def refresh(self, rejected: Mapping[str, str]) -> bool:
        self.refused.append(rejected.get("Authorization", ""))
        self.tokens = self.tokens[1:]
        return bool(self.tokens)


def asked_with(
    tokens: Tokens | None, *answers: bytes | Callable[[Peer], Awaitable[None]], first_byte: float = 30, **headers: str
) -> tuple[int | str, list[str | None]]:
    """The status that comes of a request or what is wrong with it, and what was said about who asks."""

    async def main() -> tuple[int | str, list[str | None]]:
        answer, log = scripted_server(*answers)
        client = HttpClient(environment={}, use_proxies=False)
        async with raw_server(answer) as server:
            channel = HttpChannel(client, server.url, headers=headers, credentials=tokens)
            found: int | str
            try:
                async with channel.request(
                    ChannelRequest("POST", {}, HttpLimits(first_byte=first_byte), b"{}")
                ) as response:
                    found = response.status
            except McpFailure as failure:
                found = failure.problem.value
            await client.close()
        return found, [each.get("authorization") for each in log.headers]

    return run_checked(main())


def test_a_token_that_is_refused_is_renewed_once() -> None:
    refused = http_response("401 Unauthorized")
    tokens = Tokens("old", "new", "newest")
    assert asked_with(tokens, refused, http_response("200 OK")) == (200, ["Bearer old", "Bearer new"])
    assert tokens.refused == ["Bearer old"]
    assert asked_with(Tokens("a", "b", "c"), refused, refused) == ("unauthorised", ["Bearer a", "Bearer b"])
    assert asked_with(Tokens("a"), refused) == ("unauthorised", ["Bearer a"])
    assert asked_with(Tokens(), http_response("200 OK")) == (200, [None])
    assert asked_with(None, refused) == ("unauthorised", [None])


def test_who_may_not_come_in_is_helped_by_no_other_token() -> None:
    more = http_response("403 Forbidden", www_authenticate='Bearer error="insufficient_scope"')
    assert asked_with(Tokens("a", "b"), more) == ("unauthorised", ["Bearer a"])
    # Nothing is said about logging in: the key in a header may be wrong.
    assert asked_with(Tokens("a", "b"), http_response("403 Forbidden")) == (403, ["Bearer a"])


def test_what_the_settings_say_comes_first() -> None:
    assert asked_with(Tokens("a"), http_response("401 Unauthorized"), authorization="Basic mine") == (
        "unauthorised",
        ["Basic mine"],
    )


def test_a_slow_server_is_not_waited_for() -> None:
    async def begin(peer: Peer) -> None:
        await peer.send(b"HTTP/1.1 200 OK\r\n")
        await peer.wait_closed()

    assert asked_with(None, begin, first_byte=0.2) == ("timed_out", [None])


def test_headers_that_cannot_be_sent() -> None:
    assert asked_with(None, **dict[str, Any]({"X-Key": "ä"})) == ("configuration", [])


def test_other_addresses_of_the_same_server() -> None:
    async def main() -> None:
        client = HttpClient(environment={})
        channel = HttpChannel(client, "https://a.example/x/y?z", headers={})
        assert channel.resolve("/post?s=1").host == "a.example:443"
        assert channel.resolve("https://a.example:443/p").host == "a.example:443"
        for other in ("http://a.example/p", "https://b.example/", "//b.example/", "https://a.example:1/", "ftp://x"):
            with pytest.raises(McpFailure) as caught:
                channel.resolve(other)
            assert caught.value.problem is McpProblem.CONFIGURATION

    run_checked(main())
