"""Negotiation of the protocol revision."""

from collections.abc import Mapping

from tejat.core.i18n import lazy
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.core.sanitize import sanitize_text
from tejat.mcp.errors import McpFailure, McpProblem
from tejat.mcp.jsonrpc_session import DISCOVER, INITIALIZE, JsonRpcSession
from tejat.mcp.protocol import HANDSHAKE_REVISIONS, META_CAPABILITIES, META_CLIENT, META_REVISION, STATELESS_REVISIONS
from tejat.mcp.server_requests import ServerRequestHandler
from tejat.mcp.types import ServerInfo

_META_SERVER = "io.modelcontextprotocol/serverInfo"
_MAX_NAME_LENGTH = 200
_MAX_INSTRUCTIONS_LENGTH = 20_000


async def negotiate(session: JsonRpcSession, request_handler: ServerRequestHandler, *, version: str) -> ServerInfo:
    """Agree with the server on a revision. The caller limits the time. Raises McpFailure."""
    # The handshake comes first, with the newest revision that has one: all current servers answer it, also those that
    # support the stateless revision. With `server/discover` first, some servers never answer an unknown method, some
    # exit, and all cost another round trip. A server that refuses the handshake gets `server/discover`: only a
    # stateless server can answer that.
    client: JsonObject = {"name": "tejat", "title": "Tejat", "version": version}
    try:
        answer = await session.request(
            INITIALIZE,
            {
                "protocolVersion": HANDSHAKE_REVISIONS[0],
                "capabilities": request_handler.capabilities(with_list_changed=True),
                "clientInfo": client,
            },
        )
    except McpFailure as failure:
        if failure.problem is not McpProblem.REFUSED:
            raise
        return await _discover(session, request_handler, client, failure)
    revision = answer.get("protocolVersion")
    if revision in HANDSHAKE_REVISIONS:
        session.set_revision(revision, {})
        await session.notify("notifications/initialized")
        return _server_info(answer, answer.get("serverInfo"), revision)
    named = sanitize_text(revision[:_MAX_NAME_LENGTH]) if isinstance(revision, str) else "none"
    message = lazy("The server uses an unknown protocol version: {named}.", named=named)
    unknown = McpFailure(message, McpProblem.MALFORMED)
    if revision in STATELESS_REVISIONS:
        return await _discover(session, request_handler, client, unknown)
    raise unknown


async def _discover(
    session: JsonRpcSession, request_handler: ServerRequestHandler, client: JsonObject, refusal: McpFailure
) -> ServerInfo:
    """Query a stateless server. Raises the refusal of the handshake if that fails: it explains the problem."""
    revision = STATELESS_REVISIONS[0]
    envelope: JsonObject = {
        META_REVISION: revision,
        META_CLIENT: client,
        META_CAPABILITIES: request_handler.capabilities(with_list_changed=False),
    }
    session.set_revision(revision, envelope)
    try:
        answer = await session.request(DISCOVER)
    except McpFailure as failure:
        is_an_answer = failure.problem in {McpProblem.REFUSED, McpProblem.MALFORMED}
        raise (refusal if is_an_answer else failure) from None
    spoken = answer.get("supportedVersions")
    if not isinstance(spoken, list | tuple) or revision not in spoken:
        raise refusal
    about = answer.get("_meta")
    named = about.get(_META_SERVER) if isinstance(about, Mapping) else None
    return _server_info(answer, named or answer.get("serverInfo"), revision)


def _server_info(answer: JsonObject, server: JsonValue, revision: str) -> ServerInfo:
    known: JsonObject = server if isinstance(server, Mapping) else {}
    capabilities, instructions = answer.get("capabilities"), answer.get("instructions")
    return ServerInfo(
        name=_text(known.get("name")),
        version=_text(known.get("version")),
        revision=revision,
        capabilities=capabilities if isinstance(capabilities, Mapping) else {},
        instructions=instructions[:_MAX_INSTRUCTIONS_LENGTH] if isinstance(instructions, str) else None,
    )


def _text(given: JsonValue) -> str:
    return sanitize_text(given[:_MAX_NAME_LENGTH]) if isinstance(given, str) else ""
