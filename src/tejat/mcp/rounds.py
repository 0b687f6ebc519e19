"""A request that a server answers with wishes of its own, until it has all that it needs."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress

from tejat.core.types import JsonObject, JsonValue
from tejat.core.value import value
from tejat.core.visible import visible
from tejat.core.words import phrase
from tejat.mcp.failures import McpFailure, McpProblem, Unsent
from tejat.mcp.protocol import URL_ELICITATION_REQUIRED
from tejat.mcp.questions import ELICIT, ROOTS, SAMPLE, Questions

_MOST_ROUNDS = 10
_MOST_QUESTIONS = 16
_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 1.0
_VISITING_PAUSES = (0.0, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 30.0, 30.0, 30.0, 30.0)
"""Seconds between the attempts while a person is at the address that a server wants them to visit."""
_LONGEST_ADDRESS = 2_048


async def ask_in_rounds(
    send: Callable[[JsonObject], Awaitable[JsonObject]], params: JsonObject, questions: Questions
) -> JsonObject:
    """Send a request to a stateless server, and answer what comes back until it is the result.

    Raises McpFailure, also if that never ends.
    """
    answer = await send(params)
    pause = _FIRST_PAUSE
    for _ in range(_MOST_ROUNDS):
        if answer.get("resultType") != "input_required":
            return answer
        more: dict[str, JsonValue] = {}
        asked = answer.get("inputRequests")
        if asked:
            more["inputResponses"] = await _answered(asked, questions)
        else:
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        if (state := answer.get("requestState")) is not None:
            more["requestState"] = state
        if not more:
            raise McpFailure(phrase("The server wants to know more and does not say what."), McpProblem.MALFORMED)
        try:
            answer = await send({**params, **more})
        except Unsent as failure:
            # Something of the request has reached the server before.
            raise McpFailure(failure.message, failure.problem, code=failure.code, data=failure.data) from None
    raise McpFailure(
        phrase("The server still wanted to know more after {most} rounds of questions.", most=_MOST_ROUNDS),
        McpProblem.MALFORMED,
    )


async def _answered(asked: JsonValue, questions: Questions) -> JsonObject:
    """Raises McpFailure: a question that cannot be answered ends the request."""
    if not isinstance(asked, Mapping) or len(asked) > _MOST_QUESTIONS:
        raise McpFailure(phrase("The questions of the server are no object, or too many."), McpProblem.MALFORMED)
    # One after the other: a person who is asked reads one question at a time.
    return {key: await _answer(question, questions) for key, question in asked.items()}


async def _answer(question: JsonValue, questions: Questions) -> JsonObject:
    known: JsonObject = question if isinstance(question, Mapping) else {}
    method, params = known.get("method"), known.get("params")
    if not isinstance(method, str) or method not in {ELICIT, ROOTS, SAMPLE}:
        raise McpFailure(phrase("The server asks for something that nobody here can answer."), McpProblem.MALFORMED)
    try:
        return await questions.answer(method, params if isinstance(params, Mapping) else {})
    except McpFailure as failure:
        message = phrase(
            "The server asks for {method}, and that is not answered here: {why}", method=method, why=failure.message
        )
        raise McpFailure(message, McpProblem.REFUSED, code=failure.code) from None


async def ask_with_visits(
    send: Callable[[JsonObject], Awaitable[JsonObject]],
    params: JsonObject,
    questions: Questions,
    *,
    next_visit: Callable[[], asyncio.Event],
    pauses: Sequence[float] = _VISITING_PAUSES,
) -> JsonObject:
    """Send a request to a server with a handshake, which may want the person to visit some address first.

    The person is asked once for each address. Who agrees is not there yet: the request is sent again when the server
    tells that a visit has ended, which sets the event that `next_visit` gives, and after each pause. Raises McpFailure,
    also for a visit that nobody makes.
    """
    agreed: set[str] = set()
    wanted: Sequence[_Visit] = ()
    for pause in pauses:
        visit_ends = next_visit()
        try:
            return await send(params)
        except McpFailure as failure:
            if failure.code != URL_ELICITATION_REQUIRED:
                raise
            wanted = _wanted_visits(failure)
        fresh = [visit for visit in wanted if visit.url not in agreed]
        for visit in fresh:
            if not await visit.is_agreed(questions):
                raise _unvisited(wanted)
            agreed.add(visit.url)
        if not fresh:
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await visit_ends.wait()
    raise _unvisited(wanted)


@value
class _Visit:
    """An address that a server wants the person to visit, and what it says about it."""

    url: str
    message: str
    identifier: str

    async def is_agreed(self, questions: Questions) -> bool:
        asked = {"mode": "url", "message": self.message, "url": self.url, "elicitationId": self.identifier}
        with suppress(McpFailure):
            return (await questions.answer(ELICIT, asked)).get("action") == "accept"
        return False


def _wanted_visits(failure: McpFailure) -> Sequence[_Visit]:
    """Raises McpFailure for a refusal that names none, and for what is no address that a browser can be sent to."""
    listed = failure.data.get("elicitations") if isinstance(failure.data, Mapping) else None
    if not isinstance(listed, list) or not 0 < len(listed) <= _MOST_QUESTIONS:
        raise failure
    return [_visit(given if isinstance(given, Mapping) else {}) for given in listed]


def _visit(given: JsonObject) -> _Visit:
    url, message, identifier = given.get("url"), given.get("message"), given.get("elicitationId")
    if not isinstance(url, str) or not _is_web_address(url):
        told = phrase("The server wants the user to visit something that is no address of a web page.")
        raise McpFailure(told, McpProblem.MALFORMED)
    return _Visit(url, message if isinstance(message, str) else "", identifier if isinstance(identifier, str) else "")


def _is_web_address(url: str) -> bool:
    """Nothing but one address: whatever is written behind it would be read as ours."""
    return len(url) <= _LONGEST_ADDRESS and url.isprintable() and bool(re.fullmatch(r"(?i)https?://\S+", url))


def _unvisited(wanted: Sequence[_Visit]) -> McpFailure:
    addresses = " and ".join(dict.fromkeys(visible(visit.url) for visit in wanted))
    return McpFailure(
        phrase("The server wants the user to visit {addresses} in a browser first.", addresses=addresses),
        McpProblem.REFUSED,
        code=URL_ELICITATION_REQUIRED,
    )
