import asyncio

import pytest

from tejat.core.messages.types import JsonObject
from tejat.mcp.errors import McpFailure
from tejat.mcp.server_requests import ServerRequestHandler
from tejat.mcp.types import ClientCallbacks, McpRoot


async def repeat(alias: str, params: JsonObject) -> JsonObject:
    return {"alias": alias, **params}


async def break_down(*_: object) -> JsonObject:
    raise RuntimeError("hunter22 is the password")


def lost() -> list[McpRoot]:
    raise OSError(2, "/home/me/secret")


NO_USER = ClientCallbacks()
EVERYBODY = ClientCallbacks(lambda: [McpRoot("file:///home/me/a%20b", "a b")], repeat, repeat)


def test_only_what_can_be_answered_is_offered() -> None:
    assert ServerRequestHandler("one", NO_USER).capabilities(with_list_changed=True) == {"roots": {"listChanged": True}}
    assert ServerRequestHandler("one", EVERYBODY).capabilities(with_list_changed=False) == {
        "roots": {},
        "elicitation": {"form": {}, "url": {}},
        "sampling": {},
    }


@pytest.mark.parametrize(
    ("host", "method", "answer"),
    [
        (NO_USER, "ping", {}),
        (NO_USER, "roots/list", {"roots": []}),
        (EVERYBODY, "roots/list", {"roots": [{"uri": "file:///home/me/a%20b", "name": "a b"}]}),
        (EVERYBODY, "elicitation/create", {"alias": "one", "message": "who?"}),
        (EVERYBODY, "sampling/createMessage", {"alias": "one", "message": "who?"}),
    ],
)
def test_answers(host: ClientCallbacks, method: str, answer: JsonObject) -> None:
    assert asyncio.run(ServerRequestHandler("one", host).handle(method, {"message": "who?"})) == answer


@pytest.mark.parametrize(
    ("host", "method", "code", "words"),
    [
        (NO_USER, "elicitation/create", -32601, "Nobody can be asked here."),
        (NO_USER, "sampling/createMessage", -32601, "The model may not be asked here."),
        (EVERYBODY, "tasks/list", -32601, "There is no such method here."),
        (EVERYBODY, "", -32601, "There is no such method here."),
        (ClientCallbacks(elicit=break_down), "elicitation/create", -32603, "It could not be answered."),
        (ClientCallbacks(sample=break_down), "sampling/createMessage", -32603, "It could not be answered."),
        (ClientCallbacks(roots=lost), "roots/list", -32603, "It could not be answered."),
    ],
)
def test_refusals_tell_nothing_of_us(host: ClientCallbacks, method: str, code: int, words: str) -> None:
    with pytest.raises(McpFailure) as caught:
        asyncio.run(ServerRequestHandler("one", host).handle(method, {}))
    assert (caught.value.code, caught.value.message) == (code, words)


def test_what_takes_long() -> None:
    asked = ("ping", "roots/list", "elicitation/create", "sampling/createMessage")
    assert [method for method in asked if ServerRequestHandler("one", NO_USER).is_interactive(method)] == [
        "elicitation/create",
        "sampling/createMessage",
    ]
