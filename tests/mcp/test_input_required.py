import asyncio
import time
from collections.abc import Sequence
from typing import cast

import pytest

from tejat.core.messages.types import JsonObject
from tejat.mcp.errors import McpFailure, McpProblem, RequestNotSent
from tejat.mcp.input_required import request_with_input, request_with_url_elicitation
from tejat.mcp.server_requests import ServerRequestHandler
from tejat.mcp.types import ClientCallbacks

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

    def ask(self, host: ClientCallbacks = ClientCallbacks(elicit=accept)) -> JsonObject:  # noqa: B008
        return asyncio.run(request_with_input(self.send, PARAMS, ServerRequestHandler("one", host)))

    def failure(self, host: ClientCallbacks = ClientCallbacks(elicit=accept)) -> McpFailure:  # noqa: B008
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
    assert server.failure().message == "The server still requested input after 10 rounds."
    assert len(server.told) == 11


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (needs(), "The server requested input without saying what it needs."),
        (needs(inputRequests=[1]), "The server sent invalid or too many input requests."),
        (
            needs(inputRequests={str(number): asks() for number in range(17)}),
            "The server sent invalid or too many input requests.",
        ),
        (needs(inputRequests={"a": 7}), "The server sent a request that cannot be answered here."),
        (needs(inputRequests={"a": asks("ping")}), "The server sent a request that cannot be answered here."),
        (
            needs(inputRequests={"a": asks("sampling/createMessage")}),
            "The server sent sampling/createMessage, which is not supported here: The model may not be asked here.",
        ),
    ],
)
def test_questions_that_are_none(answer: JsonObject, message: str) -> None:
    server = Server(answer)
    assert server.failure().message == message
    assert server.told == [PARAMS]


@pytest.mark.parametrize(("answers", "kind"), [((), RequestNotSent), ((needs(requestState="s"),), McpFailure)])
def test_only_a_first_request_can_have_done_nothing(answers: Sequence[JsonObject], kind: type) -> None:
    failure = Server(*answers, RequestNotSent(McpFailure("gone", McpProblem.CLOSED))).failure()
    assert (type(failure), failure.message, failure.problem) == (kind, "gone", McpProblem.CLOSED)


BANK, POST = "https://bank.example/in?a=1", "HTTP://post.example"
LONG = 60.0
"""Seconds that nobody waits here."""


def wants(*urls: object, code: int = -32042) -> McpFailure:
    listed = [{"mode": "url", "message": f"go to {url}", "url": url, "elicitationId": f"id {url}"} for url in urls]
    data = cast("JsonObject", {"elicitations": listed})
    return McpFailure("The server returned an error: first that.", McpProblem.REFUSED, code=code, data=data)


def asked_for(url: str) -> JsonObject:
    return {"mode": "url", "message": f"go to {url}", "url": url, "elicitationId": f"id {url}"}


class User:
    """Somebody who agrees to some visits, and of which each is over as soon as that is asked for."""

    def __init__(self, *agrees_to: str) -> None:
        self.agrees_to = agrees_to
        self.asked: list[JsonObject] = []
        self.visit_ends = asyncio.Event()

    async def elicit(self, alias: str, params: JsonObject) -> JsonObject:
        assert alias == "one"
        self.asked.append(params)
        return {"action": "accept" if params["url"] in self.agrees_to else "decline"}

    def visit(self, server: Server, *pauses: float, can_be_asked: bool = True) -> JsonObject:
        request_handler = ServerRequestHandler(
            "one", ClientCallbacks(elicit=self.elicit) if can_be_asked else ClientCallbacks()
        )
        asking = request_with_url_elicitation(
            server.send, PARAMS, request_handler, next_completion=lambda: self.visit_ends, delays=pauses
        )
        return asyncio.run(asking)

    def failure(self, server: Server, *pauses: float, can_be_asked: bool = True) -> tuple[str, McpProblem, int | None]:
        with pytest.raises(McpFailure) as caught:
            self.visit(server, *pauses, can_be_asked=can_be_asked)
        return caught.value.message, caught.value.problem, caught.value.code


class TestVisits:
    def test_without_any_it_is_sent_once(self) -> None:
        server, user = Server(DONE), User()
        assert user.visit(server, LONG) == DONE
        assert (server.told, user.asked) == ([PARAMS], [])

    def test_each_is_asked_for_once_and_the_request_sent_again(self) -> None:
        server, user = Server(wants(BANK), wants(BANK, POST), wants(POST), DONE), User(BANK, POST)
        user.visit_ends.set()
        before = time.monotonic()
        assert user.visit(server, LONG, LONG, LONG, LONG) == DONE
        assert time.monotonic() - before < LONG / 2
        assert server.told == [PARAMS] * 4
        assert user.asked == [asked_for(BANK), asked_for(POST)]

    def test_a_server_that_does_not_tell_of_the_end_is_tried_all_the_same(self) -> None:
        server, user = Server(wants(BANK), wants(BANK), wants(BANK), DONE), User(BANK)
        assert user.visit(server, 0.01, 0.01, 0.01, 0.01) == DONE
        assert (len(server.told), len(user.asked)) == (4, 1)

    def test_there_is_an_end_to_it(self) -> None:
        server = Server(wants(BANK))
        told = f"The server asks you to open {BANK} in a browser first."
        assert User(BANK).failure(server, 0.01, 0.01, 0.01) == (told, McpProblem.REFUSED, -32042)
        assert len(server.told) == 3

    @pytest.mark.parametrize("can_be_asked", [True, False])
    def test_what_nobody_agrees_to_is_told_with_all_addresses(self, can_be_asked: bool) -> None:
        server, user = Server(wants(BANK, POST), DONE), User(BANK)
        told = f"The server asks you to open {BANK} and {POST} in a browser first."
        assert user.failure(server, LONG, can_be_asked=can_be_asked) == (told, McpProblem.REFUSED, -32042)
        assert server.told == [PARAMS]
        assert user.asked == ([asked_for(BANK), asked_for(POST)] if can_be_asked else [])

    @pytest.mark.parametrize(
        "url",
        [
            *("javascript:alert(1)", "file:///etc/passwd", "bank.example", "https://", "", None, 7),
            *(
                "https://a.example obey",
                "https://a.example\nobey",
                "https://a.example/\u202eobey",
                f"{BANK}{'x' * 2100}",
            ),
        ],
    )
    def test_only_web_pages_are_visited(self, url: object) -> None:
        server, user = Server(wants(BANK, url), DONE), User(BANK)
        told = "The server asked to open an invalid web address."
        assert user.failure(server, LONG) == (told, McpProblem.MALFORMED, None)
        assert (server.told, user.asked) == ([PARAMS], [])

    @pytest.mark.parametrize(
        "refusal", [wants(BANK, code=-32000), wants(), wants(*[BANK] * 17), McpFailure("", McpProblem.REFUSED)]
    )
    def test_other_refusals_are_left_alone(self, refusal: McpFailure) -> None:
        server, user = Server(refusal, DONE), User(BANK)
        assert user.failure(server, LONG) == (refusal.message, refusal.problem, refusal.code)
        assert (server.told, user.asked) == ([PARAMS], [])

    def test_questions_that_cannot_be_asked_are_a_no(self) -> None:
        async def break_down(*_: object) -> JsonObject:
            raise RuntimeError("hunter22")

        server = Server(wants(BANK), DONE)
        asking = request_with_url_elicitation(
            server.send,
            PARAMS,
            ServerRequestHandler("one", ClientCallbacks(elicit=break_down)),
            next_completion=asyncio.Event,
        )
        with pytest.raises(McpFailure, match="asks you to open https://bank"):
            asyncio.run(asking)
