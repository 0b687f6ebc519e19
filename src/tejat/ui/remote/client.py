"""Connections to the sockets of sessions."""

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

from tejat.core.errors import UsageError
from tejat.core.i18n import _, translate
from tejat.core.messages.types import JsonObject
from tejat.mcp.protocol import METHOD_NOT_FOUND
from tejat.ui.jsonrpc.peer import JsonRpcPeer, MethodHandler, PeerError, RequestError
from tejat.ui.jsonrpc.socket_stream import SocketSink, SocketSource
from tejat.ui.remote import methods
from tejat.ui.remote.socket_name import socket_pid
from tejat.workspace.files.unix_socket import connect_to_socket
from tejat.workspace.processes.socket_peer import PeerRefused, check_listener

_REQUEST_SECONDS = 2.0
"""How long a session may take to say how it is."""


@asynccontextmanager
async def open_connection(path: str, peer: JsonRpcPeer, handler: MethodHandler) -> AsyncGenerator[None]:
    """Serve the connection to a session while the context is open. Raises UsageError if there is none.

    A process that only pretends to be a session is refused, see `check_listener`.
    """
    try:
        connection = connect_to_socket(path)
    except OSError as error:
        reason = error.strerror or error
        raise UsageError(_("Could not reach the session: {reason}.", reason=reason)) from error
    try:
        check_listener(connection, socket_pid(path))
    except BaseException as error:
        connection.close()
        if isinstance(error, PeerRefused | OSError):
            reason = translate(error.args[0]) if isinstance(error, PeerRefused) else error
            raise UsageError(_("Refused the socket of the session: {reason}.", reason=reason)) from error
        raise
    reader, writer = await asyncio.open_unix_connection(sock=connection)
    serving = asyncio.create_task(peer.serve(handler, SocketSource(reader), SocketSink(writer)))
    try:
        yield
    finally:
        peer.close()
        try:
            await asyncio.wait((serving,))
        finally:
            writer.close()


async def request_once(path: str, method: str, params: JsonObject) -> JsonObject:
    """Send one request to a session. Raises UsageError if it cannot be reached or answers with an error."""
    peer = JsonRpcPeer(lambda _: None, name="session")
    async with open_connection(path, peer, _NoRequests()):
        try:
            async with asyncio.timeout(_REQUEST_SECONDS):
                return await peer.request(method, params)
        except TimeoutError:
            raise UsageError(_("The session does not answer.")) from None
        except PeerError as error:
            raise UsageError(str(error)) from error


async def read_info(path: str) -> JsonObject | None:
    """What a session says about itself. None if it does not answer; the socket of one that has ended is removed."""
    try:
        return await request_once(path, methods.INFO, {})
    except UsageError as error:
        if isinstance(error.__cause__, ConnectionRefusedError):
            _remove_socket(path)
        return None


def _remove_socket(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)


class _NoRequests:
    async def handle_request(self, method: str, params: JsonObject) -> JsonObject:
        raise RequestError(METHOD_NOT_FOUND, f"Method not found: {method}")

    def handle_notification(self, method: str, params: JsonObject) -> None:
        """Nothing is expected."""
