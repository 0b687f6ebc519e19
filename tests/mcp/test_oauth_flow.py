"""The official package, driven step by step: where it is led to, and what a renewal comes to."""

from collections.abc import Sequence

import pytest

from mcp_transport_checks import http, json_answer
from oauth_server import OAuthServer, oauth_server
from raw_server import run
from tejat.mcp.failures import McpFailure, McpProblem
from tejat.mcp.oauth_callback import Returned
from tejat.mcp.oauth_flow import Flow
from tejat.mcp.oauth_requests import OAuthRequests
from tejat.mcp.oauth_tokens import Grant
from tejat.mcp.oauth_wish import OAuthWish
from tejat.workspace.http.client import HttpClient
from web_site import answer, site


async def nobody(_: str) -> Returned:
    raise AssertionError("nobody must be asked")


async def resolve(host: str, _: int) -> Sequence[str]:
    return {"mcp.example": ["93.184.216.34"], "inside.example": ["127.0.0.1"]}[host]


@pytest.mark.parametrize("host", ["127.0.0.1", "inside.example", "169.254.169.254", "[::1]", "localhost"])
def test_a_public_server_cannot_lead_into_a_private_network(host: str) -> None:
    async def scene() -> None:
        async with site({"/meta": answer("{}")}) as web:
            client = HttpClient(environment={}, use_proxies=False)
            wish = OAuthWish("https://mcp.example/mcp")
            flow = Flow(wish, OAuthRequests(client, wish.server, resolve=_or_here))
            challenge = f'Bearer resource_metadata="http://{host}:{web.port}/meta"'
            with pytest.raises(McpFailure, match="It is not done") as caught:
                await flow.log_in(redirect="http://127.0.0.1:1/", challenge=challenge, send_person=nobody)
            assert caught.value.problem is McpProblem.CONFIGURATION
            assert web.requests == []
            await client.close()

    async def _or_here(host: str, port: int) -> Sequence[str]:
        return ["127.0.0.1"] if host == "localhost" else await resolve(host, port)

    run(scene())


def test_a_page_of_the_login_in_another_place_than_it_seems() -> None:
    async def scene() -> None:
        pages: list[str] = []

        async def send(page: str) -> Returned:
            pages.append(page)
            return Returned("code", "not the state")

        async with oauth_server() as server:
            client = HttpClient(environment={}, use_proxies=False)
            wish = OAuthWish(server.mcp)
            flow = Flow(wish, OAuthRequests(client, wish.server))
            with pytest.raises(McpFailure, match="The login failed: State parameter mismatch") as caught:
                await flow.log_in(redirect="http://127.0.0.1:1/", challenge=None, send_person=send)
            assert caught.value.problem is McpProblem.UNAUTHORISED
            assert pages[0].startswith(f"{server.url}/authorize?")
            assert "POST /token" not in server.asked
            await client.close()

    run(scene())


def renewed(token_answer: bytes | None, **fields: object) -> Grant | tuple[str, McpProblem]:
    """What comes of a renewal that is answered like that."""

    async def scene() -> Grant | tuple[str, McpProblem]:
        async with oauth_server() as server:
            server.refresh_tokens.add("old")
            if token_answer is not None:
                server.faults["/token"] = token_answer
            client = HttpClient(environment={}, use_proxies=False)
            wish = OAuthWish(server.mcp)
            try:
                return await Flow(wish, OAuthRequests(client, wish.server)).renew(_old(server, **fields))
            except McpFailure as failure:
                return failure.message, failure.problem
            finally:
                await client.close()

    return run(scene())


def _old(server: OAuthServer, **fields: object) -> Grant:
    known = {"refresh_token": "old", "scope": "s", "client": {"client_id": "c"}, **fields}
    assert server.url
    return Grant("access", **known)  # pyright: ignore[reportArgumentType]


def test_a_renewal() -> None:
    found = renewed(None)
    assert isinstance(found, Grant)
    assert (found.access_token, found.refresh_token, found.scope) == ("access-1", "refresh-1", "s")
    assert found.client == {
        "client_id": "c",
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
    }


def test_a_server_that_goes_on_with_the_old_refresh_token() -> None:
    found = renewed(json_answer({"access_token": "new", "token_type": "bearer"}))
    assert isinstance(found, Grant)
    assert (found.access_token, found.refresh_token, found.expires_at) == ("new", "old", None)


@pytest.mark.parametrize(
    ("token_answer", "problem"),
    [
        (json_answer({"error": "invalid_grant"}, "400 Bad Request"), McpProblem.UNAUTHORISED),
        (json_answer({"error": "invalid_client"}, "401 Unauthorized"), McpProblem.UNAUTHORISED),
        (http("404 Not Found", "<html>"), McpProblem.START),
        (http("403 Forbidden", "pay first"), McpProblem.START),
        (http("302 Found", location="https://pay.example"), McpProblem.START),
        (http("503 Service Unavailable"), McpProblem.START),
        (json_answer({"error": "later"}, "500 Internal Server Error"), McpProblem.START),
        (http("200 OK", "<html>pay first"), McpProblem.START),
        (b"junk\r\n\r\n", McpProblem.START),
    ],
    ids=range(9),
)
def test_renewals_that_fail(token_answer: bytes, problem: McpProblem) -> None:
    found = renewed(token_answer)
    assert isinstance(found, tuple)
    assert found[1] is problem


def test_nothing_to_renew_with() -> None:
    assert renewed(None, client=None) == ("There is nothing to renew the login with.", McpProblem.UNAUTHORISED)
    assert renewed(None, refresh_token=None) == ("There is nothing to renew the login with.", McpProblem.UNAUTHORISED)
    assert renewed(None, service={"issuer": 3}) == (
        "The login cannot be renewed: what the server sent is not what OAuth wants.",
        McpProblem.UNAUTHORISED,
    )
