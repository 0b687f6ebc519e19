"""A request that a stateless server answers with questions of its own, until it knows all that it needs."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from tejat.core.types import JsonObject, JsonValue
from tejat.mcp.failures import McpFailure, McpProblem, Unsent
from tejat.mcp.questions import ELICIT, ROOTS, SAMPLE, Questions

_MOST_ROUNDS = 10
_MOST_QUESTIONS = 16
_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 1.0


async def ask_in_rounds(
    send: Callable[[JsonObject], Awaitable[JsonObject]], params: JsonObject, questions: Questions
) -> JsonObject:
    """Send a request, and answer what comes back until it is the result. Raises McpFailure, also if that never ends."""
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
            raise McpFailure("The server wants to know more and does not say what.", McpProblem.MALFORMED)
        try:
            answer = await send({**params, **more})
        except Unsent as failure:
            # Something of the request has reached the server before.
            raise McpFailure(failure.message, failure.problem, code=failure.code, data=failure.data) from None
    raise McpFailure(
        f"The server still wanted to know more after {_MOST_ROUNDS} rounds of questions.", McpProblem.MALFORMED
    )


async def _answered(asked: JsonValue, questions: Questions) -> JsonObject:
    """Raises McpFailure: a question that cannot be answered ends the request."""
    if not isinstance(asked, Mapping) or len(asked) > _MOST_QUESTIONS:
        raise McpFailure("The questions of the server are no object, or too many.", McpProblem.MALFORMED)
    # One after the other: a person who is asked reads one question at a time.
    return {key: await _answer(question, questions) for key, question in asked.items()}


async def _answer(question: JsonValue, questions: Questions) -> JsonObject:
    known: JsonObject = question if isinstance(question, Mapping) else {}
    method, params = known.get("method"), known.get("params")
    if not isinstance(method, str) or method not in {ELICIT, ROOTS, SAMPLE}:
        raise McpFailure("The server asks for something that nobody here can answer.", McpProblem.MALFORMED)
    try:
        return await questions.answer(method, params if isinstance(params, Mapping) else {})
    except McpFailure as failure:
        message = f"The server asks for {method}, and that is not answered here: {failure.message}"
        raise McpFailure(message, McpProblem.REFUSED, code=failure.code) from None
