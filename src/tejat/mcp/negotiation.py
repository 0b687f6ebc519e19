"""Which revision of the protocol is spoken with a server, and who it says it is."""

from collections.abc import Mapping

from tejat.core.types import JsonObject, JsonValue
from tejat.core.visible import visible
from tejat.core.words import phrase
from tejat.mcp.conversation import DISCOVER, INITIALIZE, Conversation
from tejat.mcp.failures import McpFailure, McpProblem
from tejat.mcp.protocol import (
    HANDSHAKE_REVISIONS,
    META_CAPABILITIES,
    META_CLIENT,
    META_REVISION,
    STATELESS_REVISIONS,
)
from tejat.mcp.questions import Questions
from tejat.mcp.values import ServerInfo

_META_SERVER = "io.modelcontextprotocol/serverInfo"
_LONGEST_NAME = 200
_LONGEST_INSTRUCTIONS = 20_000


async def negotiate(conversation: Conversation, questions: Questions, *, version: str) -> ServerInfo:
    """Agree with the server on a revision; then it can be used. Raises McpFailure. The caller sees to the time."""
    # The handshake comes first, with the newest revision that has one: every server of today answers it, and so do
    # those that speak the stateless revision as well. The other way round, with `server/discover` first, some servers
    # never answer what they do not know, some end, and all cost a round trip more. Whoever will have none of the
    # handshake is asked to discover itself: nothing but a stateless server can answer that.
    client: JsonObject = {"name": "tejat", "title": "Tejat", "version": version}
    try:
        answer = await conversation.request(
            INITIALIZE,
            {
                "protocolVersion": HANDSHAKE_REVISIONS[0],
                "capabilities": questions.capabilities(with_notices=True),
                "clientInfo": client,
            },
        )
    except McpFailure as failure:
        if failure.problem is not McpProblem.REFUSED:
            raise
        return await _discover(conversation, questions, client, failure)
    revision = answer.get("protocolVersion")
    if revision in HANDSHAKE_REVISIONS:
        conversation.agree(revision, {})
        await conversation.notify("notifications/initialized")
        return _info(answer, answer.get("serverInfo"), revision)
    named = visible(revision[:_LONGEST_NAME]) if isinstance(revision, str) else "none"
    message = phrase("The server speaks a revision of the protocol that is not known here: {named}.", named=named)
    unknown = McpFailure(message, McpProblem.MALFORMED)
    if revision in STATELESS_REVISIONS:
        return await _discover(conversation, questions, client, unknown)
    raise unknown


async def _discover(
    conversation: Conversation, questions: Questions, client: JsonObject, refusal: McpFailure
) -> ServerInfo:
    """Raises the refusal of the handshake if this does not lead further: it is what the server has to say about us."""
    revision = STATELESS_REVISIONS[0]
    envelope: JsonObject = {
        META_REVISION: revision,
        META_CLIENT: client,
        META_CAPABILITIES: questions.capabilities(with_notices=False),
    }
    conversation.agree(revision, envelope)
    try:
        answer = await conversation.request(DISCOVER)
    except McpFailure as failure:
        is_an_answer = failure.problem in {McpProblem.REFUSED, McpProblem.MALFORMED}
        raise (refusal if is_an_answer else failure) from None
    spoken = answer.get("supportedVersions")
    if not isinstance(spoken, list | tuple) or revision not in spoken:
        raise refusal
    about = answer.get("_meta")
    named = about.get(_META_SERVER) if isinstance(about, Mapping) else None
    return _info(answer, named or answer.get("serverInfo"), revision)


def _info(answer: JsonObject, server: JsonValue, revision: str) -> ServerInfo:
    known: JsonObject = server if isinstance(server, Mapping) else {}
    capabilities, instructions = answer.get("capabilities"), answer.get("instructions")
    return ServerInfo(
        name=_text(known.get("name")),
        version=_text(known.get("version")),
        revision=revision,
        capabilities=capabilities if isinstance(capabilities, Mapping) else {},
        instructions=instructions[:_LONGEST_INSTRUCTIONS] if isinstance(instructions, str) else None,
    )


def _text(given: JsonValue) -> str:
    return visible(given[:_LONGEST_NAME]) if isinstance(given, str) else ""
