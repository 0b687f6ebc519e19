"""The official package, driven step by step: where it is led to, and what a renewal comes to."""

from collections.abc import Sequence

import pytest

from support.mcp.oauth_server import OAuthServer, oauth_server
from support.mcp.transports import http_response, json_response
from support.raw_server import run_checked
from support.web_site import open_site
from tejat.mcp.errors import McpFailure, McpProblem
from tejat.mcp.oauth.callback import AuthorizationResponse
from tejat.mcp.oauth.flow import OAuthFlow
from tejat.mcp.oauth.http_client import OAuthHttpClient
from tejat.mcp.oauth.settings import OAuthSettings
from tejat.mcp.oauth.token_store import OAuthGrant
from tejat.workspace.http.client import HttpClient


async def nobody(_: str) -> AuthorizationResponse:
    raise AssertionError("nobody must be asked")


async def resolve(host: str, _: int) -> Sequence[str]:
    return {"mcp.example": ["93.184.216.34"], "inside.example": ["127.0.0.1"]}[host]


@pytest.mark.parametrize("host", ["127.0.0.1", "inside.example", "169.254.169.254", "[::1]", "localhost"])
def test_a_public_server_cannot_lead_into_a_private_network(host: str) -> None:
    async def main() -> None:
        async with open_site({"/meta": http_response("200 OK", "{}")}) as web:
            client = HttpClient(environment={}, use_proxies=False)
            settings = OAuthSettings("https://mcp.example/mcp")
            flow = OAuthFlow(settings, OAuthHttpClient(client, settings.server_url, resolve=_or_here))
            challenge = f'Bearer resource_metadata="http://{host}:{web.port}/meta"'
            with pytest.raises(McpFailure, match="Not followed") as caught:
                await flow.log_in(redirect_uri="http://127.0.0.1:1/", challenge=challenge, authorize=nobody)
            assert caught.value.problem is McpProblem.CONFIGURATION
            assert web.requests == []
            await client.close()

    async def _or_here(host: str, port: int) -> Sequence[str]:
        return ["127.0.0.1"] if host == "localhost" else await resolve(host, port)

    run_checked(main())


def test_a_page_of_the_login_in_another_place_than_it_seems() -> None:
    async def main() -> None:
        pages: list[str] = []

        async def send(page: str) -> AuthorizationResponse:
            pages.append(page)
            return AuthorizationResponse("code", "not the state")

        async with oauth_server() as server:
            client = HttpClient(environment={}, use_proxies=False)
            settings = OAuthSettings(server.mcp)
            flow = OAuthFlow(settings, OAuthHttpClient(client, settings.server_url))
            with pytest.raises(McpFailure, match="The login failed: State parameter mismatch") as caught:
                await flow.log_in(redirect_uri="http://127.0.0.1:1/", challenge=None, authorize=send)
            assert caught.value.problem is McpProblem.UNAUTHORIZED
            assert pages[0].startswith(f"{server.url}/authorize?")
            assert "POST /token" not in server.requests
            await client.close()

    run_checked(main())


def renewed(token_answer: bytes | None, **fields: object) -> OAuthGrant | tuple[str, McpProblem]:
    """What comes of a renewal that is answered like that."""

    async def main() -> OAuthGrant | tuple[str, McpProblem]:
        async with oauth_server() as server:
            server.refresh_tokens.add("old")
            if token_answer is not None:
                server.faults["/token"] = token_answer
            client = HttpClient(environment={}, use_proxies=False)
            settings = OAuthSettings(server.mcp)
            try:
                return await OAuthFlow(settings, OAuthHttpClient(client, settings.server_url)).refresh(
                    _old(server, **fields)
                )
            except McpFailure as failure:
                return failure.message, failure.problem
            finally:
                await client.close()

    return run_checked(main())


def _old(server: OAuthServer, **fields: object) -> OAuthGrant:
    known = {"refresh_token": "old", "scope": "s", "client": {"client_id": "c"}, **fields}
    assert server.url
    return OAuthGrant("access", **known)  # pyright: ignore[reportArgumentType]


def test_a_renewal() -> None:
    found = renewed(None)
    assert isinstance(found, OAuthGrant)
    assert (found.access_token, found.refresh_token, found.scope) == ("access-1", "refresh-1", "s")
    assert found.client == {
        "client_id": "c",
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
    }


def test_a_server_that_goes_on_with_the_old_refresh_token() -> None:
    found = renewed(json_response({"access_token": "new", "token_type": "bearer"}))
    assert isinstance(found, OAuthGrant)
    assert (found.access_token, found.refresh_token, found.expires_at) == ("new", "old", None)


@pytest.mark.parametrize(
    ("token_answer", "problem"),
    [
        (json_response({"error": "invalid_grant"}, "400 Bad Request"), McpProblem.UNAUTHORIZED),
        (json_response({"error": "invalid_client"}, "401 Unauthorized"), McpProblem.UNAUTHORIZED),
        (http_response("404 Not Found", "<html>"), McpProblem.START),
        (http_response("403 Forbidden", "pay first"), McpProblem.START),
        (http_response("302 Found", location="https://pay.example"), McpProblem.START),
        (http_response("503 Service Unavailable"), McpProblem.START),
        (json_response({"error": "later"}, "500 Internal Server Error"), McpProblem.START),
        (http_response("200 OK", "<html>pay first"), McpProblem.START),
        (b"junk\r\n\r\n", McpProblem.START),
    ],
    ids=range(9),
)
def test_renewals_that_fail(token_answer: bytes, problem: McpProblem) -> None:
    found = renewed(token_answer)
    assert isinstance(found, tuple)
    assert found[1] is problem


def test_nothing_to_renew_with() -> None:
    assert renewed(None, client=None) == ("There is no refresh token.", McpProblem.UNAUTHORIZED)
    assert renewed(None, refresh_token=None) == ("There is no refresh token.", McpProblem.UNAUTHORIZED)
    assert renewed(None, service={"issuer": 3}) == (
        "Could not refresh the login: the server sent an invalid OAuth response.",
        McpProblem.UNAUTHORIZED,
    )
