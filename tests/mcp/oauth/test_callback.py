"""The way back from a login: visits, wrong visits, and addresses pasted by hand."""

import asyncio
import socket

import pytest

from support.mcp.oauth_server import follow_redirects
from support.raw_server import run_checked
from tejat.mcp.errors import McpFailure, McpProblem
from tejat.mcp.oauth.callback import AuthorizationResponse, CallbackListener, callback_listener, open_callback_server

FOUND = "HTTP/1.1 200 OK"
NOT_FOUND = "HTTP/1.1 404 Not Found"


def test_whoever_comes_back_with_the_right_state() -> None:
    async def main() -> None:
        async with open_callback_server(None) as back:
            assert back.url.startswith("http://127.0.0.1:")
            back.expect_state("right")
            waiting = asyncio.create_task(back.wait(None))
            await asyncio.sleep(0)
            origin = back.url.removesuffix("/oauth/callback")
            for wrong in (
                f"{back.url}?code=x&state=wrong",
                f"{back.url}?code=x",
                f"{back.url}?state=right",
                f"{origin}/favicon.ico?code=x&state=right",
            ):
                assert await follow_redirects(wrong) == NOT_FOUND
            assert await follow_redirects(f"{back.url}?code=c&state=right&iss=https%3A%2F%2Fx") == FOUND
            assert await waiting == AuthorizationResponse("c", "right", "https://x")
            assert repr(await waiting) == "Returned()"

    run_checked(main())


def test_a_refusal() -> None:
    async def main() -> None:
        async with open_callback_server(None) as back:
            back.expect_state("s")
            waiting = asyncio.create_task(back.wait(None))
            await asyncio.sleep(0)
            await follow_redirects(f"{back.url}?error=access_denied&error_description=no%1b&state=s")
            with pytest.raises(McpFailure) as caught:
                await waiting
            assert caught.value.message == "The login was refused: access_denied no<U+001B>"
            assert caught.value.problem is McpProblem.UNAUTHORIZED

    run_checked(main())


@pytest.mark.parametrize("said", [b"", b"x" * 100_000, b"POST /oauth/callback?code=c&state=s HTTP/1.1\r\n\r\n"])
def test_visitors_who_say_something_else(said: bytes) -> None:
    async def main() -> None:
        async with open_callback_server(None) as back:
            back.expect_state("s")
            waiting = asyncio.create_task(back.wait(None))
            port = int(back.url.split(":")[2].split("/")[0])
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(said)
            if said:
                assert not (await reader.read()).startswith(FOUND.encode())
            assert await follow_redirects(f"{back.url}?code=c&state=s") == FOUND
            assert (await waiting).code == "c"
            writer.close()

    run_checked(main())


def test_an_address_of_the_settings() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        async def refused() -> None:
            with pytest.raises(McpFailure, match="is invalid or in use"):
                async with open_callback_server(f"http://localhost:{port}/back"):
                    pass

        run_checked(refused())

    async def main() -> None:
        async with open_callback_server(f"http://127.0.0.1:{port}/back") as back:
            assert back.url == f"http://127.0.0.1:{port}/back"
            back.expect_state("s")
            waiting = asyncio.create_task(back.wait(None))
            await asyncio.sleep(0)
            assert await follow_redirects(f"{back.url}?code=c&state=s") == FOUND
            assert (await waiting).code == "c"

    run_checked(main())


def test_the_host_and_port_of_variables() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

    async def main() -> None:
        listener = callback_listener({"OAUTH_CALLBACK_HOST": "0.0.0.0", "OAUTH_CALLBACK_PORT": str(port)})
        async with open_callback_server(None, listener) as back:
            assert back.url == f"http://127.0.0.1:{port}/oauth/callback"
            back.expect_state("s")
            assert await follow_redirects(f"http://127.0.0.2:{port}/oauth/callback?code=c&state=s") == FOUND
            assert (await back.wait(None)).code == "c"

    run_checked(main())


def test_the_port_of_the_settings_wins_over_the_variable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

    async def main() -> None:
        async with open_callback_server(f"http://localhost:{port}/back", CallbackListener(port=1)) as back:
            assert back.url == f"http://localhost:{port}/back"

    run_checked(main())


@pytest.mark.parametrize("port", ["x", "0", "65536", "-1", "1.5"])
def test_a_port_that_is_none(port: str) -> None:
    with pytest.raises(McpFailure, match="OAUTH_CALLBACK_PORT must be a port from 1 to 65535"):
        callback_listener({"OAUTH_CALLBACK_PORT": port})


@pytest.mark.parametrize(
    "address", ["https://x.example/back", "http://x.example:80/", "http://localhost/x", "http://1.2.3.4:1/"]
)
def test_an_address_elsewhere_has_to_be_pasted(address: str) -> None:
    async def main() -> None:
        lines = iter(["nonsense", "https://x.example/back?code=1&state=wrong", f"{address}?code=c&state=s"])

        async def read() -> str:
            return next(lines, "")

        async with open_callback_server(address) as back:
            assert back.url == address
            back.expect_state("s")
            with pytest.raises(McpFailure, match="is not an address of this machine"):
                await back.wait(None)
            assert await back.wait(read) == AuthorizationResponse("c", "s")

    run_checked(main())


def test_whoever_is_back_before_anybody_waits() -> None:
    async def main() -> None:
        async with open_callback_server(None) as back:
            assert await follow_redirects(f"{back.url}?code=x&state=") == NOT_FOUND
            back.expect_state("s")
            assert await follow_redirects(f"{back.url}?code=c&state=s") == FOUND
            assert await back.wait(None) == AuthorizationResponse("c", "s")

    run_checked(main())


def test_nobody_to_paste_it() -> None:
    async def read() -> str:
        return ""

    async def main() -> None:
        async with open_callback_server("https://x.example/") as back:
            back.expect_state("s")
            with pytest.raises(McpFailure, match="was not completed"):
                await back.wait(read)
        async with open_callback_server(None) as back:
            back.expect_state("s")
            waiting = asyncio.create_task(back.wait(read))
            await asyncio.sleep(0.01)
            assert await follow_redirects(f"{back.url}?code=c&state=s") == FOUND
            assert (await waiting).code == "c"

    run_checked(main())


def test_pasting_can_be_cancelled() -> None:
    async def read() -> str:
        await asyncio.sleep(60)
        return ""

    async def main() -> None:
        async with open_callback_server(None) as back:
            back.expect_state("s")
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(back.wait(read), 0.05)

    run_checked(main())
