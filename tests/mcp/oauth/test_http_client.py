"""Where a login may lead: a server on the internet must not send us into our own network."""

from collections.abc import Mapping, Sequence

import pytest

from support.raw_server import run_checked
from support.web_site import FakeInternet, http_response, open_site, redirect
from tejat.mcp.errors import McpFailure, McpProblem
from tejat.mcp.oauth.http_client import OAuthHttpClient, OAuthResponse
from tejat.workspace.http.client import HttpClient

NAMES = {
    "mcp.example": ["93.184.216.34"],
    "login.example": ["93.184.216.35"],
    "rebound.example": ["93.184.216.35", "10.0.0.1"],
    "inside.example": ["10.0.0.1"],
    "here.example": ["127.0.0.1"],
    "cloud.example": ["169.254.169.254"],
    "mapped.example": ["::ffff:127.0.0.1"],
    "two.example": ["93.184.216.36", "93.184.216.37"],
}
PUBLIC, PRIVATE = "https://mcp.example/mcp", "http://inside.example/mcp"


async def resolve(host: str, _: int) -> Sequence[str]:
    if host not in NAMES:
        raise OSError
    return NAMES[host]


def places(server: str, url: str, environment: Mapping[str, str] | None = None) -> str:
    """The page, as it may be opened, or why not."""

    async def main() -> str:
        client = HttpClient(environment=environment or {})
        try:
            return await OAuthHttpClient(client, server, resolve=resolve).check_url(url)
        except McpFailure as failure:
            return failure.message
        finally:
            await client.close()

    return run_checked(main())


@pytest.mark.parametrize("url", ["https://login.example/a?b=c", "https://93.184.216.35/", "https://two.example/"])
@pytest.mark.parametrize("server", [PUBLIC, PRIVATE])
def test_the_public_internet(server: str, url: str) -> None:
    assert places(server, url) == url


@pytest.mark.parametrize("server", [PUBLIC, PRIVATE])
def test_the_server_itself_is_never_in_question(server: str) -> None:
    page = f"{server}/authorize"
    assert places(server, page) == page


@pytest.mark.parametrize(
    "host", ["inside.example", "here.example", "rebound.example", "127.0.0.1", "[::1]", "192.168.1.1", "2130706433"]
)
def test_a_private_network(host: str) -> None:
    for scheme in ("http", "https"):
        message = places(PUBLIC, f"{scheme}://{host}:8000/x?secret=1")
        assert message.endswith(
            ":8000, which is on this machine or a private network although the server is not. Not followed."
        )
    assert places(PRIVATE, f"https://{host}:8000/x").endswith(":8000/x")
    assert places("http://127.0.0.1:1/mcp", f"https://{host}:8000/x").endswith(":8000/x")


@pytest.mark.parametrize(
    "host", ["cloud.example", "169.254.169.254", "mapped.example", "[::ffff:10.0.0.1]", "[64:ff9b::1]"]
)
@pytest.mark.parametrize("server", [PUBLIC, PRIVATE])
def test_where_nobody_may_go(server: str, host: str) -> None:
    assert "which is not a public internet address" in places(server, f"https://{host}/")


def test_what_is_not_encrypted() -> None:
    assert places(PUBLIC, "http://login.example/x") == (
        "The login would redirect to http://login.example, which is not encrypted. Not followed."
    )
    assert places(PRIVATE, "http://inside.example:1/x") == "http://inside.example:1/x"


@pytest.mark.parametrize("url", ["javascript:alert(1)", "file:///etc/passwd", "https://a@b.example/", "-x", ""])
def test_what_is_no_page(url: str) -> None:
    assert places(PUBLIC, url).startswith("The login uses an invalid address.")


def test_a_name_that_nobody_knows() -> None:
    assert places(PUBLIC, "https://unknown.example") == "Could not resolve unknown.example."


def test_behind_a_proxy_the_spelling_counts() -> None:
    proxy = {"https_proxy": "http://127.0.0.1:9"}
    assert places(PUBLIC, "https://unknown.example/x", proxy) == "https://unknown.example/x"
    assert "private network" in places(PUBLIC, "https://login.internal/x", proxy)


def test_requests_go_to_the_address_that_was_checked() -> None:
    async def main() -> None:
        async with open_site(
            {"/token": http_response("{}", content_type="application/json"), "/moved": redirect("/token")}
        ) as web:
            client = FakeInternet(web.port)
            client.dead = {"93.184.216.36"}
            # The names are public, what answers is not encrypted: the server itself is on a private network here.
            NAMES["plain.example"] = ["10.0.0.7", "10.0.0.8"]
            client.dead.add("10.0.0.7")
            requests = OAuthHttpClient(client, PRIVATE, resolve=resolve)
            url = f"http://plain.example:{web.port}"
            reply = await requests.request("POST", f"{url}/token", headers={"X-A": "1"}, body=b"a=b")
            assert reply == OAuthResponse(200, (("content-length", "2"), ("content-type", "application/json")), b"{}")
            assert (await requests.request("GET", f"{url}/moved", headers={}, body=b"")).status == 302
            assert client.connected[:2] == [("10.0.0.7", web.port), ("10.0.0.8", web.port)]
            client.dead.add("10.0.0.8")
            with pytest.raises(McpFailure, match="Could not connect") as caught:
                await requests.request("GET", f"{url}/token", headers={}, body=b"")
            assert caught.value.problem is McpProblem.START
            await client.close()

    run_checked(main())


def test_an_answer_without_end() -> None:
    async def main() -> None:
        async with open_site({"/": http_response("x" * (2**20 + 1))}) as web:
            client = HttpClient(environment={}, use_proxies=False)
            with pytest.raises(McpFailure, match="sent more than"):
                await OAuthHttpClient(client, f"{web.origin}/mcp").request(
                    "GET", f"{web.origin}/", headers={}, body=b""
                )
            await client.close()

    run_checked(main())
