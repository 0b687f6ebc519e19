"""Requests that the server answers with requests for more input (`resultType: input_required`)."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress

from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.core.sanitize import sanitize_text
from tejat.mcp.errors import McpFailure, McpProblem, RequestNotSent
from tejat.mcp.protocol import URL_ELICITATION_REQUIRED
from tejat.mcp.server_requests import ELICIT, LIST_ROOTS, SAMPLE, ServerRequestHandler

_MAX_ROUNDS = 10
_MAX_INPUT_REQUESTS = 16
_FIRST_DELAY = 0.05
_MAX_DELAY = 1.0
_URL_ELICITATION_DELAYS = (0.0, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 30.0, 30.0, 30.0, 30.0)
"""Delays in seconds between attempts while the user visits a URL."""
_MAX_URL_LENGTH = 2_048


async def request_with_input(
    send: Callable[[JsonObject], Awaitable[JsonObject]], params: JsonObject, request_handler: ServerRequestHandler
) -> JsonObject:
    """Send a request to a stateless server, and provide the input it asks for until there is a result.

    Raises McpFailure, also after too many rounds.
    """
    answer = await send(params)
    pause = _FIRST_DELAY
    for _ in range(_MAX_ROUNDS):
        if answer.get("resultType") != "input_required":
            return answer
        more: dict[str, JsonValue] = {}
        asked = answer.get("inputRequests")
        if asked:
            more["inputResponses"] = await _input_responses(asked, request_handler)
        else:
            await asyncio.sleep(pause)
            pause = min(2 * pause, _MAX_DELAY)
        if (state := answer.get("requestState")) is not None:
            more["requestState"] = state
        if not more:
            raise McpFailure(lazy("The server requested input without saying what it needs."), McpProblem.MALFORMED)
        try:
            answer = await send({**params, **more})
        except RequestNotSent as failure:
            # An earlier round of the request has reached the server.
            raise failure.replace() from None
    message = lazy("The server still requested input after {most} rounds.", most=_MAX_ROUNDS)
    raise McpFailure(message, McpProblem.MALFORMED)


async def _input_responses(asked: JsonValue, request_handler: ServerRequestHandler) -> JsonObject:
    """Handle the input requests one after the other. Raises McpFailure for one that cannot be answered."""
    if not isinstance(asked, Mapping) or len(asked) > _MAX_INPUT_REQUESTS:
        raise McpFailure(lazy("The server sent invalid or too many input requests."), McpProblem.MALFORMED)
    # One after the other: a user reads one question at a time.
    return {key: await _input_response(question, request_handler) for key, question in asked.items()}


async def _input_response(question: JsonValue, request_handler: ServerRequestHandler) -> JsonObject:
    known: JsonObject = question if isinstance(question, Mapping) else {}
    method, params = known.get("method"), known.get("params")
    if not isinstance(method, str) or method not in {ELICIT, LIST_ROOTS, SAMPLE}:
        raise McpFailure(lazy("The server sent a request that cannot be answered here."), McpProblem.MALFORMED)
    try:
        return await request_handler.handle(method, params if isinstance(params, Mapping) else {})
    except McpFailure as failure:
        message = lazy(
            "The server sent {method}, which is not supported here: {why}", method=method, why=failure.message
        )
        raise McpFailure(message, McpProblem.REFUSED, code=failure.code) from None


async def request_with_url_elicitation(
    send: Callable[[JsonObject], Awaitable[JsonObject]],
    params: JsonObject,
    request_handler: ServerRequestHandler,
    *,
    next_completion: Callable[[], asyncio.Event],
    delays: Sequence[float] = _URL_ELICITATION_DELAYS,
) -> JsonObject:
    """Send a request to a server with a handshake, which may require the user to visit a URL first.

    The user is asked once per URL. After that the request is sent again when the server announces a completed
    elicitation, which sets the event of `next_completion`, and after each delay. Raises McpFailure, also if the visit
    never happens.
    """
    agreed: set[str] = set()
    wanted: Sequence[_UrlElicitation] = ()
    for pause in delays:
        visit_ends = next_completion()
        try:
            return await send(params)
        except McpFailure as failure:
            if failure.code != URL_ELICITATION_REQUIRED:
                raise
            wanted = _required_elicitations(failure)
        fresh = [visit for visit in wanted if visit.url not in agreed]
        for visit in fresh:
            if not await visit.is_accepted(request_handler):
                raise _elicitation_failure(wanted)
            agreed.add(visit.url)
        if not fresh:
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await visit_ends.wait()
    raise _elicitation_failure(wanted)


class _UrlElicitation(Frozen):
    """A URL that the server wants the user to visit, and its explanation."""

    url: str
    message: str
    elicitation_id: str

    async def is_accepted(self, request_handler: ServerRequestHandler) -> bool:
        asked = {"mode": "url", "message": self.message, "url": self.url, "elicitationId": self.elicitation_id}
        with suppress(McpFailure):
            return (await request_handler.handle(ELICIT, asked)).get("action") == "accept"
        return False


def _required_elicitations(failure: McpFailure) -> Sequence[_UrlElicitation]:
    """Return the required elicitations. Raises McpFailure for an error without any, and for invalid URLs."""
    listed = failure.data.get("elicitations") if isinstance(failure.data, Mapping) else None
    if not isinstance(listed, list) or not 0 < len(listed) <= _MAX_INPUT_REQUESTS:
        raise failure
    return [_parse_elicitation(given if isinstance(given, Mapping) else {}) for given in listed]


def _parse_elicitation(given: JsonObject) -> _UrlElicitation:
    url, message, identifier = given.get("url"), given.get("message"), given.get("elicitationId")
    if not isinstance(url, str) or not _is_http_url(url):
        text = lazy("The server asked to open an invalid web address.")
        raise McpFailure(text, McpProblem.MALFORMED)
    return _UrlElicitation(
        url, message if isinstance(message, str) else "", identifier if isinstance(identifier, str) else ""
    )


def _is_http_url(url: str) -> bool:
    """Return whether this is exactly one URL: text after it would pass for ours."""
    return len(url) <= _MAX_URL_LENGTH and url.isprintable() and bool(re.fullmatch(r"(?i)https?://\S+", url))


def _elicitation_failure(wanted: Sequence[_UrlElicitation]) -> McpFailure:
    addresses = " and ".join(dict.fromkeys(sanitize_text(visit.url) for visit in wanted))
    message = lazy("The server asks you to open {addresses} in a browser first.", addresses=addresses)
    return McpFailure(message, McpProblem.REFUSED, code=URL_ELICITATION_REQUIRED)
