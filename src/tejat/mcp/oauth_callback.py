"""Where a person comes back to who has logged in with a browser: a server on this machine, or an address pasted."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from secrets import compare_digest
from typing import TypeAlias
from urllib.parse import parse_qs, urlsplit

from tejat.core.value import value
from tejat.core.visible import visible
from tejat.core.words import phrase
from tejat.mcp.failures import McpFailure, McpProblem

ReadAddress: TypeAlias = Callable[[], Awaitable[str]]
"""A line that the person types or pastes; empty when there is nobody to ask."""

_USUAL_PATH = "/oauth/callback"
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_LONGEST_HEAD = 16_384
_HEAD_SECONDS = 10.0
_LONGEST_ADDRESS = 16_384
_PAGE = "<!doctype html><meta charset=utf-8><title>Tejat</title><p style='font:1.2em sans-serif;margin:3em'>{}"


@value
class Returned:
    """What the authorisation server gave to the person for us. It is printed without that."""

    code: str
    state: str
    issuer: str | None = None

    def __repr__(self) -> str:
        return "Returned()"


@asynccontextmanager
async def way_back(wanted: str | None) -> AsyncGenerator["WayBack"]:
    """A place to come back to: at `wanted`, or at a free port of this machine. Raises McpFailure.

    At an address that is not on this machine nobody listens: there the person has to paste where they got to.
    """
    address = urlsplit(wanted or f"http://127.0.0.1:0{_USUAL_PATH}")
    way = WayBack(address.path or "/")
    try:
        port = address.port
        is_here = address.scheme == "http" and address.netloc.rpartition(":")[0] in _LOOPBACK and port is not None
        if not is_here:
            way.address = wanted or ""
            yield way
            return
        server = await asyncio.start_server(way.serve, address.hostname, port, limit=_LONGEST_HEAD)
    except (OSError, ValueError):
        message = phrase(
            "Nobody can come back from the login: the port of oauth.redirectUri is taken or cannot be used."
        )
        raise McpFailure(message, McpProblem.CONFIGURATION) from None
    way.is_listening = True
    port = server.sockets[0].getsockname()[1]
    way.address = wanted if wanted is not None else f"http://127.0.0.1:{port}{_USUAL_PATH}"
    try:
        yield way
    finally:
        server.close()
        await way.stop()


class WayBack:
    """Where to come back to (`address`), and whoever does."""

    def __init__(self, path: str) -> None:
        self.address = ""
        self.is_listening = False
        self._path = path
        self._state = ""
        self._returned: asyncio.Future[Returned | McpFailure] = asyncio.get_running_loop().create_future()
        self._visits: set[asyncio.Task[None]] = set()

    def expect(self, state: str) -> None:
        """Whoever comes back with this state belongs to this login. To be told before anybody is sent away."""
        self._state = state

    async def wait(self, read_address: ReadAddress | None) -> Returned:
        """What comes back, or came back before, by itself or pasted. Raises McpFailure when the login was refused."""
        if not self.is_listening and read_address is None:
            message = phrase(
                "Nobody can come back from the login: oauth.redirectUri is not an address of this machine."
            )
            raise McpFailure(message, McpProblem.CONFIGURATION)
        pasting = None if read_address is None else asyncio.get_running_loop().create_task(self._paste(read_address))
        try:
            returned = await self._returned
        finally:
            if pasting is not None:
                pasting.cancel()
                await asyncio.wait([pasting])
        if isinstance(returned, McpFailure):
            raise returned
        return returned

    def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one visit."""
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._visits.add(task)
        task.add_done_callback(self._visits.discard)

    async def stop(self) -> None:
        """Let go of visitors; whoever is being answered is let go with the answer."""
        if self._visits:
            _, late = await asyncio.wait(self._visits, timeout=0.5)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late)

    async def _paste(self, read_address: ReadAddress) -> None:
        while not self._returned.done():
            text = (await read_address()).strip()
            if not text:
                if not self.is_listening:
                    self._settle(McpFailure(phrase("The login was not finished."), McpProblem.UNAUTHORISED))
                return
            self._settle(self._read(text))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_HEAD_SECONDS):
                line = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n", 1)[0].decode("latin-1")
                method, _, rest = line.partition(" ")
                target = rest.partition(" ")[0]
                is_ours = method == "GET" and target.partition("?")[0] == self._path
                found = self._read(target) if is_ours else None
                writer.write(_answer(found))
                await writer.drain()
                self._settle(found)
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    def _settle(self, found: Returned | McpFailure | None) -> None:
        if found is not None and not self._returned.done():
            self._returned.set_result(found)

    def _read(self, address: str) -> Returned | McpFailure | None:
        """What an address says; None if it does not belong to this login."""
        try:
            query = parse_qs(urlsplit(address[:_LONGEST_ADDRESS]).query, max_num_fields=50)
        except ValueError:
            return None
        known = {name: values[0] for name, values in query.items()}
        state = known.get("state", "")
        if not self._state or not compare_digest(state.encode(), self._state.encode()):
            return None
        if "error" in known:
            why = " ".join(filter(None, (known["error"], known.get("error_description"))))
            return McpFailure(phrase("The login was refused: {why}", why=visible(why[:200])), McpProblem.UNAUTHORISED)
        return Returned(known["code"], state, known.get("iss")) if "code" in known else None


def _answer(found: Returned | McpFailure | None) -> bytes:
    if isinstance(found, Returned):
        status, words = "200 OK", phrase("Thank you. You can close this window and go back to Tejat.")
    elif found is None:
        status, words = "404 Not Found", phrase("This is not the way back from a login.")
    else:
        status, words = "200 OK", phrase("The login was refused. You can close this window and go back to Tejat.")
    page = _PAGE.format(words).encode()
    head = f"HTTP/1.1 {status}\r\ncontent-type: text/html\r\ncontent-length: {len(page)}\r\nconnection: close\r\n\r\n"
    return head.encode() + page
