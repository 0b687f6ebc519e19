"""Long answers in small pieces: the work on each piece must not depend on how many came before."""

import json
import time
from collections.abc import Callable, Iterator

import pytest

from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.types import FunctionCall, MessagePart, Text, Thought
from tejat.core.model import ModelResponse
from tejat.models.anthropic.response import AnthropicResponseReader
from tejat.models.gemini.response import GeminiResponseReader
from tejat.models.openai.response import OpenAIResponseReader
from tejat.models.openai.responses_reader import ResponsesReader
from tejat.models.wire.api_errors import ModelTarget
from tejat.models.wire.sse_client import ResponseReader

TARGET = ModelTarget("m", "KEY", "secret-key-1234")
TOOLS = (FunctionDeclaration("write_file", "Writes a file.", {"type": "object", "properties": {}}),)
PIECE = "a piece of about fifty characters, }as it may come\n"
FEW, MANY = 10_000, 40_000


def gemini(part: dict[str, object], count: int) -> Iterator[str]:
    data = json.dumps({"candidates": [{"content": {"parts": [part]}}]})
    yield from (data for _ in range(count))
    yield json.dumps({"candidates": [{"finishReason": "STOP"}]})


def openai(delta: dict[str, object], count: int) -> Iterator[str]:
    data = json.dumps({"choices": [{"index": 0, "delta": delta}]})
    yield from (data for _ in range(count))
    yield json.dumps({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})


def openai_call(count: int, *, name_in_each: bool) -> Iterator[str]:
    yield openai_call_delta("write_file", '{"content":"')
    yield from (openai_call_delta("write_file" if name_in_each else "", "text}") for _ in range(count))
    yield openai_call_delta("", '"}')
    yield json.dumps({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})


def openai_call_delta(name: str, arguments: str) -> str:
    call = {"index": 0, "function": {"name": name, "arguments": arguments}}
    return json.dumps({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]})


def written_call(count: int) -> Iterator[str]:
    yield from openai_texts('<tool_call>{"name":"write_file","arguments":{"content":"')
    yield from openai_texts(*["text" for _ in range(count)])
    yield from openai_texts('"}}</tool_call>')
    yield json.dumps({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})


def openai_texts(*texts: str) -> Iterator[str]:
    return (json.dumps({"choices": [{"index": 0, "delta": {"content": text}}]}) for text in texts)


def anthropic(kind: dict[str, object], delta: dict[str, object], count: int, end: str = "") -> Iterator[str]:
    yield json.dumps({"type": "content_block_start", "index": 0, "content_block": kind})
    data = json.dumps({"type": "content_block_delta", "index": 0, "delta": delta})
    yield from (data for _ in range(count))
    if end:
        yield json.dumps({"type": "content_block_delta", "index": 0, "delta": {"partial_json": end}})
    yield json.dumps({"type": "content_block_stop", "index": 0})
    yield json.dumps({"type": "message_delta", "delta": {"stop_reason": "end_turn"}})


def responses(kind: str, count: int) -> Iterator[str]:
    data = json.dumps({"type": kind, "output_index": 0, "delta": PIECE})
    yield from (data for _ in range(count))
    content = [{"type": "output_text", "text": PIECE * count}]
    yield json.dumps({"type": "response.output_item.done", "item": {"type": "message", "content": content}})
    yield json.dumps({"type": "response.completed", "response": {}})


CASES: dict[str, tuple[Callable[[], ResponseReader], Callable[[int], Iterator[str]], Callable[[int], MessagePart]]] = {
    "gemini text": (
        GeminiResponseReader,
        lambda count: gemini({"text": PIECE}, count),
        lambda count: Text(PIECE * count),
    ),
    "gemini thoughts": (
        GeminiResponseReader,
        lambda count: gemini({"text": PIECE, "thought": True}, count),
        lambda count: Thought(PIECE * count),
    ),
    "openai text": (
        lambda: OpenAIResponseReader(TOOLS, TARGET),
        lambda count: openai({"content": PIECE}, count),
        lambda count: Text(PIECE * count),
    ),
    "openai thoughts": (
        lambda: OpenAIResponseReader((), TARGET),
        lambda count: openai({"reasoning_content": PIECE}, count),
        lambda count: Thought(PIECE * count),
    ),
    "openai call": (
        lambda: OpenAIResponseReader(TOOLS, TARGET),
        lambda count: openai_call(count, name_in_each=False),
        lambda count: FunctionCall("write_file", {"content": "text}" * count}),
    ),
    "openai call with its name in each piece": (
        lambda: OpenAIResponseReader(TOOLS, TARGET),
        lambda count: openai_call(count, name_in_each=True),
        lambda count: FunctionCall("write_file", {"content": "text}" * count}),
    ),
    "openai call in text": (
        lambda: OpenAIResponseReader(TOOLS, TARGET, writes_calls=True),
        written_call,
        lambda count: FunctionCall("write_file", {"content": "text" * count}),
    ),
    "anthropic text": (
        lambda: AnthropicResponseReader((), TARGET),
        lambda count: anthropic({"type": "text", "text": ""}, {"text": PIECE}, count),
        lambda count: Text(PIECE * count),
    ),
    "anthropic thoughts": (
        lambda: AnthropicResponseReader((), TARGET),
        lambda count: anthropic({"type": "thinking", "thinking": ""}, {"thinking": PIECE}, count),
        lambda count: Thought(PIECE * count),
    ),
    "anthropic call": (
        lambda: AnthropicResponseReader(TOOLS, TARGET),
        lambda count: anthropic(
            {"type": "tool_use", "id": "1", "name": "write_file"}, {"partial_json": " "}, count, end='{"content":"x"}'
        ),
        lambda _count: FunctionCall("write_file", {"content": "x"}, "1"),
    ),
    "responses text": (
        lambda: ResponsesReader((), TARGET),
        lambda count: responses("response.output_text.delta", count),
        lambda count: Text(PIECE * count),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_time_of_an_answer_is_linear(name: str) -> None:
    open_reader, events, expected = CASES[name]

    def read(count: int) -> float:
        reader, data = open_reader(), list(events(count))
        started = time.process_time()
        for event in data:
            reader.feed(event)
        answer = reader.end()[-1]
        seconds = time.process_time() - started
        assert isinstance(answer, ModelResponse)
        assert answer.message.parts == (expected(count),)
        return seconds

    few = min(read(FEW) for _ in range(2))
    many = min(read(MANY) for _ in range(2))
    # Linear: 4. Quadratic: 16, and the longer answer alone would take minutes.
    assert many < 8 * few
