"""Logging in, and tokens that stay fresh for five processes at once."""

import asyncio
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from support.mcp.oauth_server import OAuthServer, follow_redirects, oauth_server
from support.mcp.transports import http_response, open_recorder
from support.raw_server import run_checked
from tejat.config.settings.types import McpServer
from tejat.core.frozen import replace
from tejat.mcp.errors import McpFailure, McpProblem
from tejat.mcp.oauth.credentials import OAuthCredentials, create_oauth_credentials, login
from tejat.mcp.oauth.settings import token_key
from tejat.mcp.oauth.token_store import OAuthGrant, TokenStore
from tejat.mcp.protocol import JsonRpcRequest
from tejat.mcp.transports.http_channel import HttpChannel
from tejat.mcp.transports.streamable_http import StreamableHttpTransport
from tejat.workspace.http.client import HttpClient


@asynccontextmanager
async def http_client() -> AsyncGenerator[HttpClient]:
    client = HttpClient(environment={}, use_proxies=False)
    try:
        yield client
    finally:
        await client.close()


def settings(server: OAuthServer, **oauth: str | bool | tuple[str, ...]) -> McpServer:
    return McpServer(http_url=server.mcp, oauth=oauth or None)


async def log_in(
    server: OAuthServer, store: TokenStore, challenge: str | None = None, **oauth: str | bool | tuple[str, ...]
) -> None:
    browser: list[asyncio.Task[str]] = []

    async def show(address: str) -> None:
        browser.append(asyncio.create_task(follow_redirects(address)))

    async with http_client() as client:
        given = settings(server, **oauth)
        await login("s", given, client=client, store=store, show_url=show, challenge=challenge, seconds=60)
    assert await browser[0] == "HTTP/1.1 200 OK"


def stored(server: OAuthServer, store: TokenStore) -> OAuthGrant:
    grant = store.read(token_key("s", settings(server)))
    assert grant is not None
    return grant


def test_a_login_from_the_first_refusal_to_the_last_renewal(tmp_path: Path) -> None:
    async def main() -> None:
        store = TokenStore(str(tmp_path / "tokens"))
        async with oauth_server() as server, http_client() as client:
            identity = create_oauth_credentials("s", settings(server), client=client, store=store)
            assert identity is not None
            async with open_recorder(
                lambda http: StreamableHttpTransport(HttpChannel(http, server.mcp, credentials=identity))
            ) as end:
                failure = await end.failure(JsonRpcRequest(1, "x"))
                assert failure.problem is McpProblem.UNAUTHORIZED
                await log_in(server, store)
                assert server.requests == [
                    "POST /mcp",
                    "POST /mcp",
                    "GET /meta",
                    "GET /.well-known/oauth-authorization-server",
                    "POST /register",
                    "GET /authorize",
                    "POST /token",
                ]
                end.losses.clear()
                assert await end.result(JsonRpcRequest(1, "x")) == {"token": "access-3"}
                # Somebody made the token void before its time.
                server.valid.clear()
                end.messages.clear()
                assert await end.result(JsonRpcRequest(1, "x")) == {"token": "access-4"}
            grant = stored(server, store)
            assert (grant.access_token, grant.refresh_token) == ("access-4", "refresh-4")
            assert grant.expires_at is not None
            assert 3500 < grant.expires_at - time.time() <= 3600

    run_checked(main())


def test_what_is_asked_for(tmp_path: Path) -> None:
    async def main() -> None:
        async with oauth_server() as server:
            await log_in(server, TokenStore(str(tmp_path)))
            [registration] = server.registrations
            asked, exchanged = server.forms
            assert registration["client_name"] == "Tejat"
            assert registration["token_endpoint_auth_method"] == "none"
            assert registration["redirect_uris"] == [asked["redirect_uri"]]
            assert asked["redirect_uri"].startswith("http://127.0.0.1:")
            assert {**asked, "state": "", "code_challenge": "", "redirect_uri": ""} == {
                "response_type": "code",
                "client_id": "client-1",
                "redirect_uri": "",
                "state": "",
                "code_challenge": "",
                "code_challenge_method": "S256",
                "resource": server.mcp,
                "scope": "all",
            }
            assert (exchanged["resource"], exchanged["client_id"]) == (server.mcp, "client-1")

    run_checked(main())


def test_a_server_without_a_handshake_is_asked_in_its_own_way(tmp_path: Path) -> None:
    async def main() -> None:
        async with oauth_server() as server:
            server.is_stateless = True
            await log_in(server, TokenStore(str(tmp_path)))
            assert server.requests[:3] == ["POST /mcp", "POST /mcp", "GET /meta"]
            assert server.forms[0]["scope"] == "basic"

    run_checked(main())


def test_the_settings_are_honoured(tmp_path: Path) -> None:
    async def main() -> None:
        async with oauth_server() as server:
            store = TokenStore(str(tmp_path))
            server.faults["/.well-known/oauth-authorization-server"] = http_response("500 Internal Server Error")
            oauth: dict[str, Any] = {
                "clientId": "mine",
                "clientSecret": "my secret",
                "scopes": ("read", "write"),
                "audiences": ("a", "b"),
                "authorizationUrl": f"{server.url}/authorize",
                "tokenUrl": f"{server.url}/token",
            }
            await log_in(server, store, **oauth)
            asked, exchanged = server.forms
            assert server.registrations == []
            assert (asked["client_id"], asked["scope"], asked["audience"]) == ("mine", "read write", "a b")
            assert (exchanged["client_id"], exchanged["client_secret"], exchanged["audience"]) == (
                "mine",
                "my secret",
                "a b",
            )
            assert "GET /meta" not in server.requests

    run_checked(main())


def test_scopes_of_the_settings_come_before_those_of_the_server(tmp_path: Path) -> None:
    async def main() -> None:
        async with oauth_server() as server:
            await log_in(server, TokenStore(str(tmp_path)), scopes=("few",))
            assert server.forms[0]["scope"] == "few"

    run_checked(main())


def test_a_secret_of_the_settings_is_told_as_the_server_wants_it(tmp_path: Path) -> None:
    async def main() -> None:
        async with oauth_server() as server:
            await log_in(server, TokenStore(str(tmp_path)), clientId="me", clientSecret="hush")
            assert server.identities == ["Basic bWU6aHVzaA=="]
            assert "client_secret" not in server.forms[-1]
            assert server.registrations == []

    run_checked(main())


def test_a_server_that_wants_more_is_asked_for_both(tmp_path: Path) -> None:
    async def main() -> None:
        async with oauth_server() as server:
            store = TokenStore(str(tmp_path))
            await log_in(server, store)
            assert stored(server, store).scope == "all"
            meta = f'resource_metadata="{server.url}/meta"'
            await log_in(server, store, f'Bearer error="insufficient_scope", scope="more", {meta}')
            assert server.forms[2]["scope"] == "all more"
            assert stored(server, store).scope == "all more"

    run_checked(main())


def test_an_address_pasted_by_hand(tmp_path: Path) -> None:
    async def main() -> None:
        lines: asyncio.Queue[str] = asyncio.Queue()

        async def show(address: str) -> None:
            # Somebody else's browser, which cannot get to this machine.
            reader_state = dict(pair.split("=") for pair in address.partition("?")[2].split("&"))["state"]
            server.challenges["by-hand"] = dict(pair.split("=") for pair in address.split("?")[1].split("&"))[
                "code_challenge"
            ]
            for line in ("what?", "https://x.example/?code=1&state=wrong"):
                lines.put_nowait(line)
            lines.put_nowait(f"  https://elsewhere.example/back?code=by-hand&state={reader_state} ")

        store = TokenStore(str(tmp_path))
        async with oauth_server() as server, http_client() as client:
            given = settings(server, redirectUri="https://elsewhere.example/back")
            await login("s", given, client=client, store=store, show_url=show, read_url=lines.get)
            assert server.forms[-1]["redirect_uri"] == "https://elsewhere.example/back"
            assert stored(server, store).access_token == "access-2"

    run_checked(main())


def failure_of_login(
    tmp_path: Path,
    *,
    seconds: float = 60,
    faults: dict[str, bytes] | None = None,
    **oauth: str | bool | tuple[str, ...],
) -> str:
    async def main() -> str:
        async def show(_: str) -> None:
            pass

        async with oauth_server() as server, http_client() as client:
            server.faults |= faults or {}
            with pytest.raises(McpFailure) as caught:
                await login(
                    "s",
                    settings(server, **oauth),
                    client=client,
                    store=TokenStore(str(tmp_path)),
                    show_url=show,
                    seconds=seconds,
                )
            return caught.value.message

    message = run_checked(main())
    assert list(tmp_path.glob("*.json")) == []
    return message


def test_logins_that_fail(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert failure_of_login(tmp_path, seconds=1.5).startswith("Login timed out after 1.5 seconds.")
    refused = http_response("403 Forbidden", "a secret\nof many lines", content_type="text/plain")
    assert failure_of_login(tmp_path, faults={"/register": refused}) == (
        "The login failed: Registration failed: 403 a secret"
    )
    assert failure_of_login(tmp_path, faults={"/register": http_response("201 Created", "{}")}).startswith(
        "The login failed: "
    )
    assert failure_of_login(tmp_path, faults={"/meta": http_response("500 Internal Server Error")}) == (
        "The login failed: Protected resource metadata request failed: HTTP 500"
    )
    assert failure_of_login(tmp_path, tokenParamName="x").startswith("oauth.tokenParamName is not supported")
    assert failure_of_login(tmp_path, redirectUri="https://x.example/").startswith("Cannot receive the login redirect")
    # The package would print what went wrong.
    assert capfd.readouterr() == ("", "")


def kept(server: OAuthServer, store: TokenStore, **changes: object) -> OAuthCredentials:
    """Somebody who logged in some time ago."""
    server.refresh_tokens.add("refresh-0")
    service = {
        "issuer": server.url,
        "authorization_endpoint": f"{server.url}/authorize",
        "token_endpoint": f"{server.url}/token",
    }
    grant = OAuthGrant(
        "access-0", "refresh-0", time.time() - 1, client={"client_id": "c"}, service=service, resource=None
    )
    store.write(token_key("s", settings(server)), replace(grant, **changes))
    client = HttpClient(environment={}, use_proxies=False)
    identity = create_oauth_credentials("s", settings(server), client=client, store=store)
    assert identity is not None
    return identity


def test_tokens_are_renewed_before_they_run_out(tmp_path: Path) -> None:
    async def main() -> None:
        store = TokenStore(str(tmp_path))
        async with oauth_server() as server:
            identity = kept(server, store, expires_at=time.time() + 20)
            together = await asyncio.gather(*(identity.headers() for _ in range(5)))
            assert together == [{"Authorization": "Bearer access-1"}] * 5
            assert await identity.headers() == {"Authorization": "Bearer access-1"}
            assert server.requests == ["POST /token"]
            [form] = server.forms
            assert form == {
                "grant_type": "refresh_token",
                "refresh_token": "refresh-0",
                "client_id": "c",
                "resource": server.mcp,
            }

    asyncio.run(main())


def test_a_network_in_trouble_costs_no_token(tmp_path: Path) -> None:
    async def main() -> None:
        store = TokenStore(str(tmp_path))
        async with oauth_server() as server:
            server.faults["/token"] = http_response("503 Service Unavailable")
            identity = kept(server, store, expires_at=time.time() + 20)
            assert await identity.headers() == {"Authorization": "Bearer access-0"}
            identity = kept(server, store)
            with pytest.raises(McpFailure, match="Could not refresh the login") as caught:
                await identity.headers()
            assert caught.value.problem is McpProblem.START
            assert stored(server, store).refresh_token == "refresh-0"
            server.faults.clear()
            assert await identity.headers() == {"Authorization": "Bearer access-1"}

    asyncio.run(main())


def test_a_login_that_has_ended(tmp_path: Path) -> None:
    async def main() -> None:
        store = TokenStore(str(tmp_path))
        async with oauth_server() as server:
            identity = kept(server, store)
            server.refresh_tokens.clear()
            with pytest.raises(McpFailure, match="Log in again: tejat mcp auth s") as caught:
                await identity.headers()
            assert caught.value.problem is McpProblem.UNAUTHORIZED
            # It is not tried again, and the server says the rest.
            assert await identity.headers() == {"Authorization": "Bearer access-0"}
            assert not await identity.refresh({"Authorization": "Bearer access-0"})
            assert server.requests == ["POST /token"]

    asyncio.run(main())


def test_whoever_stops_waiting_loses_no_token(tmp_path: Path) -> None:
    async def main() -> None:
        store = TokenStore(str(tmp_path))
        async with oauth_server() as server:
            server.hold = asyncio.Event()
            identity = kept(server, store)
            waiting = asyncio.create_task(identity.headers())
            await asyncio.wait_for(server.request_event.wait(), 30)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            server.hold.set()
            assert await identity.headers() == {"Authorization": "Bearer access-1"}
            assert server.requests == ["POST /token"]
            assert stored(server, store).refresh_token == "refresh-1"

    asyncio.run(main())


def test_whoever_logged_out_stays_out(tmp_path: Path) -> None:
    async def main() -> None:
        store = TokenStore(str(tmp_path))
        async with oauth_server() as server:
            identity = kept(server, store, expires_at=time.time() + 3600)
            await identity.headers()
            assert store.remove(token_key("s", settings(server)))
            assert not await identity.refresh({"Authorization": "Bearer access-0"})
            assert await identity.headers() == {}

    asyncio.run(main())


PROCESS = """
import asyncio, sys
from tejat.config.settings.types import McpServer
from tejat.mcp.oauth.credentials import create_oauth_credentials
from tejat.mcp.oauth.token_store import TokenStore
from tejat.workspace.http.client import HttpClient

async def main(url, directory):
    client = HttpClient(environment={}, use_proxies=False)
    identity = create_oauth_credentials("s", McpServer(http_url=url), client=client, store=TokenStore(directory))
    print((await identity.headers())["Authorization"], flush=True)
    sys.stdin.readline()
    for _ in range(3):
        assert await identity.refresh(await identity.headers())
    print((await identity.headers())["Authorization"])
    await client.close()

asyncio.run(main(*sys.argv[1:]))
"""


def test_five_processes_lose_no_token(tmp_path: Path) -> None:
    async def started(url: str) -> asyncio.subprocess.Process:
        pipe = asyncio.subprocess.PIPE
        return await asyncio.create_subprocess_exec(
            sys.executable, "-c", PROCESS, url, str(tmp_path), stdin=pipe, stdout=pipe
        )

    async def first_line(process: asyncio.subprocess.Process) -> bytes:
        assert process.stdout is not None
        return await process.stdout.readline()

    async def main() -> None:
        store = TokenStore(str(tmp_path))
        async with oauth_server() as server:
            kept(server, store)
            processes = await asyncio.gather(*(started(server.mcp) for _ in range(5)))
            assert await asyncio.gather(*map(first_line, processes)) == [b"Bearer access-1\n"] * 5
            assert server.requests == ["POST /token"]
            for process in processes[3:]:
                process.kill()
            said = await asyncio.gather(*(process.communicate(b"\n") for process in processes))
            assert [process.returncode for process in processes[:3]] == [0] * 3
            assert all(output.startswith(b"Bearer access-") for output, _ in said[:3])
            assert server.reused == []
            assert 3 <= len(server.requests) - 1 <= 9
            assert server.refresh_tokens == {stored(server, store).refresh_token}

    asyncio.run(main())


def test_switched_off(tmp_path: Path) -> None:
    store, client = TokenStore(str(tmp_path)), HttpClient(environment={})
    given = McpServer(http_url="https://x.example", oauth={"enabled": False})
    assert create_oauth_credentials("s", given, client=client, store=store) is None
    google = McpServer(http_url="https://x.example", auth_provider_type="google_credentials")
    with pytest.raises(McpFailure, match="authProviderType google_credentials is not supported"):
        create_oauth_credentials("s", google, client=client, store=store)


def test_without_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    assert failure_of_login(tmp_path) == "Server logins need the mcp package: pip install 'tejat[oauth]'"
