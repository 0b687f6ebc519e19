import asyncio
from collections.abc import Sequence
from typing import cast

import pytest

from tejat.core.types import JsonObject
from tejat.mcp.failures import McpFailure, McpProblem, Unsent
from tejat.mcp.questions import Questions
from tejat.mcp.rounds import ask_in_rounds
from tejat.mcp.values import Host

DONE: JsonObject = {"content": [], "resultType": "complete"}
PARAMS: JsonObject = {"name": "t", "arguments": {}}


async def accept(alias: str, params: JsonObject) -> JsonObject:
    assert alias == "one"
    return {"action": "accept", "content": params}


def needs(**more: object) -> JsonObject:
    return cast("JsonObject", {"resultType": "input_required", **more})


def asks(method: str = "elicitation/create", **params: str) -> dict[str, object]:
    return {"method": method, "params": params}


class Server:
    def __init__(self, *answers: JsonObject | McpFailure) -> None:
        self.answers = list(answers)
        self.told: list[JsonObject] = []

    async def send(self, params: JsonObject) -> JsonObject:
        self.told.append(params)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, McpFailure):
            raise answer
        return answer

    def ask(self, host: Host = Host(elicit=accept)) -> JsonObject:  # noqa: B008
        return asyncio.run(ask_in_rounds(self.send, PARAMS, Questions("one", host)))

    def failure(self, host: Host = Host(elicit=accept)) -> McpFailure:  # noqa: B008
        with pytest.raises(McpFailure) as caught:
            self.ask(host)
        return caught.value


@pytest.mark.parametrize("answer", [DONE, {"content": []}, {"resultType": 7}])
def test_an_answer_without_questions_is_the_result(answer: JsonObject) -> None:
    server = Server(answer)
    assert server.ask() == answer
    assert server.told == [PARAMS]


def test_questions_are_answered_and_the_state_is_given_back() -> None:
    server = Server(
        needs(inputRequests={"a": asks(message="who?"), "b": asks("roots/list")}, requestState="s1"),
        needs(inputRequests={"c": asks(message="why?")}),
        DONE,
    )
    assert server.ask() == DONE
    assert server.told == [
        PARAMS,
        {
            **PARAMS,
            "inputResponses": {"a": {"action": "accept", "content": {"message": "who?"}}, "b": {"roots": []}},
            "requestState": "s1",
        },
        {**PARAMS, "inputResponses": {"c": {"action": "accept", "content": {"message": "why?"}}}},
    ]


def test_a_state_alone_is_given_back_after_a_moment() -> None:
    server = Server(needs(requestState="later"), DONE)
    assert server.ask() == DONE
    assert server.told == [PARAMS, {**PARAMS, "requestState": "later"}]


def test_there_is_an_end_to_it() -> None:
    server = Server(needs(inputRequests={"a": asks()}))
    assert server.failure().message == "The server still wanted to know more after 10 rounds of questions."
    assert len(server.told) == 11


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (needs(), "The server wants to know more and does not say what."),
        (needs(inputRequests=[1]), "The questions of the server are no object, or too many."),
        (
            needs(inputRequests={str(number): asks() for number in range(17)}),
            "The questions of the server are no object, or too many.",
        ),
        (needs(inputRequests={"a": 7}), "The server asks for something that nobody here can answer."),
        (needs(inputRequests={"a": asks("ping")}), "The server asks for something that nobody here can answer."),
        (
            needs(inputRequests={"a": asks("sampling/createMessage")}),
            "The server asks for sampling/createMessage, and that is not answered here: There is no such method here.",
        ),
    ],
)
def test_questions_that_are_none(answer: JsonObject, message: str) -> None:
    server = Server(answer)
    assert server.failure().message == message
    assert server.told == [PARAMS]


@pytest.mark.parametrize(("answers", "kind"), [((), Unsent), ((needs(requestState="s"),), McpFailure)])
def test_only_a_first_request_can_have_done_nothing(answers: Sequence[JsonObject], kind: type) -> None:
    failure = Server(*answers, Unsent("gone", McpProblem.CLOSED)).failure()
    assert (type(failure), failure.message, failure.problem) == (kind, "gone", McpProblem.CLOSED)
