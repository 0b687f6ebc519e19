"""The checks of messages find what is wrong: without them, the other tests would prove less."""

import pytest

from support.acp.message_log import PROTOCOL_SCHEMA, Json, MessageLog, check_value
from support.mcp.node_programs import LOUD_NODE

CHUNK = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Hello"}}


def update(**fields: object) -> Json:
    return {"sessionId": "s", "update": {**CHUNK, **fields}}


def test_a_right_message() -> None:
    assert check_value("session/update notification", update()) == []
    assert check_value("session/update notification", update(_meta={"tejat": 1})) == []


@pytest.mark.parametrize(
    "wrong",
    [
        *({}, {"sessionId": "s"}, update(content={"type": "text"}), update(content="Hello")),
        *(update(mesageId="m"), {**update(), "session": "s"}, {**update(), "sessionId": 7}),
    ],
)
def test_wrong_messages(wrong: Json) -> None:
    assert check_value("session/update notification", wrong) != []


def test_the_json_schema_is_used() -> None:
    if not PROTOCOL_SCHEMA.is_file():
        pytest.skip(f"{LOUD_NODE}: the JSON schema of ACP is not installed; scripts/test does so where npm is")
    (problem, *_) = check_value("session/new request", {"cwd": "/somewhere"})
    assert "mcpServers" in problem


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        ({"method": "initialize"}, "not JSON-RPC 2.0"),
        ({"jsonrpc": "2.0", "id": 1, "result": {}}, "an answer to no request"),
        ({"jsonrpc": "2.0", "id": 1, "method": "session/fly", "params": {}}, "the protocol has no session/fly request"),
        ({"jsonrpc": "2.0", "method": "session/new", "params": {}}, "the protocol has no session/new notification"),
    ],
)
def test_messages_that_are_none_of_the_protocol(message: Json, problem: str) -> None:
    log = MessageLog()
    log.add(message, is_sent=False)
    assert len(log.problems) == 1
    assert log.problems[0].startswith(problem)


def test_a_result_is_checked_by_its_request() -> None:
    log = MessageLog()
    log.add({"jsonrpc": "2.0", "id": 1, "method": "session/list", "params": {}}, is_sent=True)
    log.add({"jsonrpc": "2.0", "id": 1, "result": {"sessions": "none"}}, is_sent=False)
    assert len(log.problems) >= 1
