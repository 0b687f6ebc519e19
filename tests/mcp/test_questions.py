import asyncio

import pytest

from tejat.core.types import JsonObject
from tejat.mcp.failures import McpFailure
from tejat.mcp.questions import Questions
from tejat.mcp.values import Host, Root


async def repeat(alias: str, params: JsonObject) -> JsonObject:
    return {"alias": alias, **params}


async def break_down(*_: object) -> JsonObject:
    raise RuntimeError("hunter22 is the password")


def lost() -> list[Root]:
    raise OSError(2, "/home/me/secret")


NOBODY = Host()
EVERYBODY = Host(lambda: [Root("file:///home/me/a%20b", "a b")], repeat, repeat)


def test_only_what_can_be_answered_is_offered() -> None:
    assert Questions("one", NOBODY).capabilities(with_notices=True) == {"roots": {"listChanged": True}}
    assert Questions("one", EVERYBODY).capabilities(with_notices=False) == {
        "roots": {},
        "elicitation": {"form": {}, "url": {}},
        "sampling": {},
    }


@pytest.mark.parametrize(
    ("host", "method", "answer"),
    [
        (NOBODY, "ping", {}),
        (NOBODY, "roots/list", {"roots": []}),
        (EVERYBODY, "roots/list", {"roots": [{"uri": "file:///home/me/a%20b", "name": "a b"}]}),
        (EVERYBODY, "elicitation/create", {"alias": "one", "message": "who?"}),
        (EVERYBODY, "sampling/createMessage", {"alias": "one", "message": "who?"}),
    ],
)
def test_answers(host: Host, method: str, answer: JsonObject) -> None:
    assert asyncio.run(Questions("one", host).answer(method, {"message": "who?"})) == answer


@pytest.mark.parametrize(
    ("host", "method", "code", "words"),
    [
        (NOBODY, "elicitation/create", -32601, "Nobody can be asked here."),
        (NOBODY, "sampling/createMessage", -32601, "The model may not be asked here."),
        (EVERYBODY, "tasks/list", -32601, "There is no such method here."),
        (EVERYBODY, "", -32601, "There is no such method here."),
        (Host(elicit=break_down), "elicitation/create", -32603, "It could not be answered."),
        (Host(sample=break_down), "sampling/createMessage", -32603, "It could not be answered."),
        (Host(roots=lost), "roots/list", -32603, "It could not be answered."),
    ],
)
def test_refusals_tell_nothing_of_us(host: Host, method: str, code: int, words: str) -> None:
    with pytest.raises(McpFailure) as caught:
        asyncio.run(Questions("one", host).answer(method, {}))
    assert (caught.value.code, caught.value.message) == (code, words)


def test_what_takes_long() -> None:
    asked = ("ping", "roots/list", "elicitation/create", "sampling/createMessage")
    assert [method for method in asked if Questions("one", NOBODY).takes_long(method)] == [
        "elicitation/create",
        "sampling/createMessage",
    ]
