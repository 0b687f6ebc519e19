"""Redirect target of a login: a server on this machine, or a pasted URL."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from secrets import compare_digest
from typing import NamedTuple, TypeAlias
from urllib.parse import parse_qs, urlsplit

from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.sanitize import sanitize_text
from tejat.mcp.errors import McpFailure, McpProblem

ReadUrl: TypeAlias = Callable[[], Awaitable[str]]
"""Returns a line that the user typed or pasted; empty if there is nobody to ask."""

_DEFAULT_PATH = "/oauth/callback"
_LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "[::1]")
_MAX_HEAD_BYTES = 16_384
_HEAD_SECONDS = 10.0
_MAX_URL_LENGTH = 16_384
_PAGE = "<!doctype html><meta charset=utf-8><title>Tejat</title><p style='font:1.2em sans-serif;margin:3em'>{}"


class AuthorizationResponse(Frozen):
    """The response of the authorization server. Its repr hides the secrets."""

    code: str
    state: str
    issuer: str | None = None

    def __repr__(self) -> str:
        return "Returned()"


class CallbackListener(NamedTuple):
    """Where to listen: at another `host` than the one of the redirect URI, and at a fixed `port` instead of a free one.

    Needed where the browser reaches this machine through a container or a tunnel.
    """

    host: str | None = None
    port: int = 0


LOCAL_LISTENER = CallbackListener()


def callback_listener(environment: Mapping[str, str]) -> CallbackListener:
    """The listener of `OAUTH_CALLBACK_HOST` and `OAUTH_CALLBACK_PORT`. Raises McpFailure for an invalid port."""
    host, port = (environment.get(f"OAUTH_CALLBACK_{name}", "").strip() for name in ("HOST", "PORT"))
    if port and not (port.isascii() and port.isdigit() and 0 < int(port) < 65_536):
        message = lazy("OAUTH_CALLBACK_PORT must be a port from 1 to 65535, not {port!r}.", port=port[:20])
        raise McpFailure(message, McpProblem.CONFIGURATION)
    return CallbackListener(host or None, int(port or 0))


@asynccontextmanager
async def open_callback_server(
    redirect_uri: str | None, listener: CallbackListener = LOCAL_LISTENER
) -> AsyncGenerator["CallbackServer"]:
    """Open the redirect target at `redirect_uri`, or on a local port. Raises McpFailure.

    If the URI is not local, nobody listens, and the user has to paste the URL they were redirected to. The port of a
    URI wins over the one of the listener.
    """
    address = urlsplit(redirect_uri or f"http://127.0.0.1:{listener.port}{_DEFAULT_PATH}")
    way = CallbackServer(address.path or "/")
    try:
        port = address.port
        is_here = address.scheme == "http" and address.netloc.rpartition(":")[0] in _LOOPBACK_HOSTS and port is not None
        if not is_here:
            way.url = redirect_uri or ""
            yield way
            return
        server = await asyncio.start_server(way.serve, listener.host or address.hostname, port, limit=_MAX_HEAD_BYTES)
    except (OSError, ValueError):
        message = lazy(
            "Cannot receive the login redirect: the address in oauth.redirectUri, "
            "OAUTH_CALLBACK_HOST or OAUTH_CALLBACK_PORT is invalid or in use."
        )
        raise McpFailure(message, McpProblem.CONFIGURATION) from None
    way.is_listening = True
    port = server.sockets[0].getsockname()[1]
    way.url = redirect_uri if redirect_uri is not None else f"http://127.0.0.1:{port}{_DEFAULT_PATH}"
    try:
        yield way
    finally:
        server.close()
        await way.stop()


class CallbackServer:
    """Receives the authorization response at `url`."""

    def __init__(self, path: str) -> None:
        self.url = ""
        self.is_listening = False
        self._path = path
        self._state = ""
        self._response: asyncio.Future[AuthorizationResponse | McpFailure] = asyncio.get_running_loop().create_future()
        self._connections: set[asyncio.Task[None]] = set()

    def expect_state(self, state: str) -> None:
        """Set the state of this login. Call it before the user is sent to the page."""
        self._state = state

    async def wait(self, read_url: ReadUrl | None) -> AuthorizationResponse:
        """Wait for the response, by redirect or pasted. Raises McpFailure when the login was denied."""
        if not self.is_listening and read_url is None:
            message = lazy("Cannot receive the login redirect: oauth.redirectUri is not an address of this machine.")
            raise McpFailure(message, McpProblem.CONFIGURATION)
        pasting = None if read_url is None else asyncio.get_running_loop().create_task(self._read_pasted(read_url))
        try:
            returned = await self._response
        finally:
            if pasting is not None:
                pasting.cancel()
                await asyncio.wait([pasting])
        if isinstance(returned, McpFailure):
            raise returned
        return returned

    def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Handle one connection."""
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    async def stop(self) -> None:
        """Close connections; one that is being answered gets its answer."""
        if self._connections:
            _, late = await asyncio.wait(self._connections, timeout=0.5)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late)

    async def _read_pasted(self, read_address: ReadUrl) -> None:
        while not self._response.done():
            text = (await read_address()).strip()
            if not text:
                if not self.is_listening:
                    self._settle(McpFailure(lazy("The login was not completed."), McpProblem.UNAUTHORIZED))
                return
            self._settle(self._parse_response(text))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_HEAD_SECONDS):
                line = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n", 1)[0].decode("latin-1")
                method, _, rest = line.partition(" ")
                target = rest.partition(" ")[0]
                is_ours = method == "GET" and target.partition("?")[0] == self._path
                found = self._parse_response(target) if is_ours else None
                writer.write(_response_page(found))
                await writer.drain()
                self._settle(found)
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    def _settle(self, found: AuthorizationResponse | McpFailure | None) -> None:
        if found is not None and not self._response.done():
            self._response.set_result(found)

    def _parse_response(self, address: str) -> AuthorizationResponse | McpFailure | None:
        """Parse the response in a URL; None if it does not belong to this login."""
        try:
            query = parse_qs(urlsplit(address[:_MAX_URL_LENGTH]).query, max_num_fields=50)
        except ValueError:
            return None
        known = {name: values[0] for name, values in query.items()}
        state = known.get("state", "")
        if not self._state or not compare_digest(state.encode(), self._state.encode()):
            return None
        if "error" in known:
            why = " ".join(filter(None, (known["error"], known.get("error_description"))))
            message = lazy("The login was refused: {why}", why=sanitize_text(why[:200]))
            return McpFailure(message, McpProblem.UNAUTHORIZED)
        return AuthorizationResponse(known["code"], state, known.get("iss")) if "code" in known else None


def _response_page(found: AuthorizationResponse | McpFailure | None) -> bytes:
    if isinstance(found, AuthorizationResponse):
        status, words = "200 OK", lazy("Logged in. You can close this window and return to Tejat.")
    elif found is None:
        status, words = "404 Not Found", lazy("This is not a login redirect.")
    else:
        status, words = "200 OK", lazy("The login was refused. You can close this window and return to Tejat.")
    page = _PAGE.format(words).encode()
    head = f"HTTP/1.1 {status}\r\ncontent-type: text/html\r\ncontent-length: {len(page)}\r\nconnection: close\r\n\r\n"
    return head.encode() + page
