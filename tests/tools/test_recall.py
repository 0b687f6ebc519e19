"""The arguments of `recall`."""

import asyncio

import pytest

from tejat.core.errors import ErrorType
from tejat.core.messages.declaration import Kind
from tejat.core.tools.base import validate_and_execute
from tejat.core.tools.recall import RecalledPart, RecallQuery
from tejat.tools.recall import RecallTool


class Recorder:
    def __init__(self) -> None:
        self.queries: list[RecallQuery] = []

    def __call__(self, query: RecallQuery) -> RecalledPart:
        self.queries.append(query)
        return RecalledPart("found", 3)


@pytest.mark.parametrize(
    ("arguments", "query", "description"),
    [
        ({}, RecallQuery(), "all turns"),
        ({"text": " a b "}, RecallQuery("a b"), '"a b"'),
        ({"messages": "12"}, RecallQuery(messages=(12, 12)), "messages 12"),
        ({"messages": "20 - 12"}, RecallQuery(messages=(12, 20)), "messages 20 - 12"),
        ({"turns": "3 to 4", "text": "x"}, RecallQuery("x", turns=(3, 4)), '"x", turns 3 to 4'),
    ],
)
def test_what_is_asked_for(arguments: dict[str, object], query: RecallQuery, description: str) -> None:
    recorder = Recorder()
    tool = RecallTool(recorder)
    result = asyncio.run(validate_and_execute(tool, arguments))
    assert (result.llm_content, result.return_display) == ("found", "3 found.")
    assert recorder.queries == [query]
    assert tool.get_description(arguments) == description
    assert tool.kind is Kind.READ


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"messages": "all"}, "messages must be a number or a range such as 12-20, not 'all'."),
        ({"turns": "-1"}, "turns must be a number or a range such as 12-20, not '-1'."),
        ({"turns": "1", "messages": "2"}, "Give either messages or turns, not both."),
    ],
)
def test_what_cannot_be(arguments: dict[str, object], message: str) -> None:
    recorder = Recorder()
    result = asyncio.run(validate_and_execute(RecallTool(recorder), arguments))
    assert result.error is not None
    assert (result.error.type, result.error.message) == (ErrorType.INVALID_TOOL_PARAMS, message)
    assert recorder.queries == []
