"""Answers out of Anthropic's events."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.model_servers.anthropic import block, call_block, message_end, message_start, text_block, thinking_block
from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.types import FunctionCall, Text, Thought
from tejat.core.model import (
    Chunk,
    FailureKind,
    FinishReason,
    ModelFailure,
    ModelResponse,
    TextDelta,
    ThoughtDelta,
    Usage,
)
from tejat.models.anthropic.request import ANSWER_TOOL, preserve_block
from tejat.models.anthropic.response import AnthropicResponseReader
from tejat.models.wire.api_errors import ModelTarget
from tejat.models.wire.common import wire_arguments, wire_name
from tejat.workspace.http.sse import SseParser

TOOLS = (FunctionDeclaration("web.search", "", {"type": "object", "properties": {}}),)
SEARCH = wire_name("web.search")
ASKED = ModelTarget("claude-x", "ANTHROPIC_API_KEY", "sk-ant-secret")


def read(*events: Any, is_forced: bool = False) -> tuple[list[Chunk], ModelResponse]:
    reader = AnthropicResponseReader(TOOLS, ASKED, is_forced=is_forced)
    deltas: list[Chunk] = []
    for event in events:
        deltas += reader.feed(event if isinstance(event, str) else json.dumps(event))
    deltas += reader.end()
    answer = deltas.pop()
    assert isinstance(answer, ModelResponse)
    return deltas, answer


def test_arguments_have_the_names_that_the_tool_gave_them() -> None:
    given = {"$select": "a", "plain": {"$select": 1}, "filter[x]": None}
    # The last one under its own name, as the model may have read it somewhere.
    written = json.dumps({**wire_arguments({"$select": "a", "plain": {"$select": 1}}), "filter[x]": None})
    tools = (FunctionDeclaration("o.data", "", {"properties": {"$select": {}, "filter[x]": {}, "plain": {}}}),)
    reader = AnthropicResponseReader(tools, ASKED)
    for event in (message_start(), *call_block(0, "1", wire_name("o.data"), written), *message_end("tool_use")):
        reader.feed(json.dumps(event))
    answer = reader.end()[-1]
    assert isinstance(answer, ModelResponse)
    assert answer.calls == (FunctionCall("o.data", given, "1"),)


def test_a_whole_answer() -> None:
    deltas, answer = read(
        message_start("claude-x-20260101"),
        {"type": "ping"},
        *thinking_block(0, "AbC+/==", "let ", "me see"),
        *block(1, {"type": "redacted_thinking", "data": "xyz"}),
        *text_block(2, "Hel", "lo"),
        *call_block(3, "toolu_1", SEARCH, "", '{"q"', ':"ä"}'),
        *call_block(4, "toolu_2", "other"),
        *message_end("tool_use"),
    )
    assert deltas == [ThoughtDelta("let "), ThoughtDelta("me see"), TextDelta("Hel"), TextDelta("lo")]
    assert answer.message.parts == (
        Thought("let me see"),
        preserve_block({"type": "thinking", "thinking": "let me see", "signature": "AbC+/=="}, "claude-x"),
        preserve_block({"type": "redacted_thinking", "data": "xyz"}, "claude-x"),
        Text("Hello"),
        FunctionCall("web.search", {"q": "ä"}, "toolu_1"),
        FunctionCall("other", {}, "toolu_2"),
    )
    assert (answer.reason, answer.detail, answer.model) == (FinishReason.STOP, "", "claude-x-20260101")
    assert answer.usage == Usage(prompt=100, cached=70, output=42, cache_write=20)


def test_thoughts_that_are_not_shown_are_kept() -> None:
    _, answer = read(message_start(), *thinking_block(0, "sig"), *text_block(1, "Hi"), *message_end())
    kept = preserve_block({"type": "thinking", "thinking": "", "signature": "sig"}, "claude-x")
    assert answer.message.parts == (kept, Text("Hi"))


def test_thoughts_without_a_signature_are_only_shown() -> None:
    _, answer = read(message_start(), *thinking_block(0, "", "hm"), *text_block(1, "Hi"), *message_end())
    assert answer.message.parts == (Thought("hm"), Text("Hi"))


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("end_turn", FinishReason.STOP),
        ("tool_use", FinishReason.STOP),
        ("stop_sequence", FinishReason.STOP),
        ("max_tokens", FinishReason.MAX_TOKENS),
        ("refusal", FinishReason.BLOCKED),
        ("pause_turn", FinishReason.OTHER),
        ("news", FinishReason.OTHER),
    ],
)
def test_why_it_ended(reason: str, expected: FinishReason) -> None:
    _, answer = read(message_start(), *text_block(0, "Hi"), *message_end(reason))
    detail = "" if expected is FinishReason.STOP else f"The response ended with {reason!r}."
    assert (answer.reason, answer.text, answer.detail) == (expected, "Hi", detail)


def test_a_refusal_says_why() -> None:
    details = {"type": "refusal", "category": "cyber", "explanation": "Not that."}
    _, answer = read(message_start(), *message_end("refusal", stop_details=details))
    assert (answer.reason, answer.detail) == (FinishReason.BLOCKED, "Not that.")


def test_a_full_window_is_a_failure() -> None:
    with pytest.raises(ModelFailure) as caught:
        read(message_start(), *text_block(0, "Hi"), *message_end("model_context_window_exceeded"))
    assert (caught.value.kind, caught.value.can_retry) == (FailureKind.CONTEXT_FULL, False)


@pytest.mark.parametrize("arguments", ['{"q":', "[1]", "{'q':1}", '{"a":1}{"b":2}'])
def test_a_call_that_cannot_be_read_is_not_made(arguments: str) -> None:
    events = [*call_block(0, "1", "first", "{}"), *call_block(1, "2", "second", arguments)]
    _, answer = read(message_start(), *text_block(2, "Hi"), *events, *message_end("tool_use"))
    assert (answer.reason, answer.message.parts) == (FinishReason.MALFORMED_CALL, (Text("Hi"),))
    assert answer.detail == "The arguments of second are not a JSON object."


@pytest.mark.parametrize("cut", ["", "{", '{"q":1}'])
def test_a_call_that_was_cut_short_is_not_made(cut: str) -> None:
    events = [*call_block(0, "1", "first", "{}"), *call_block(1, "2", "second", cut, stop=False)]
    _, answer = read(message_start(), *events, *message_end("max_tokens"))
    assert (answer.reason, answer.calls) == (FinishReason.MAX_TOKENS, (FunctionCall("first", {}, "1"),))


def test_arguments_may_come_at_once() -> None:
    start = {"type": "tool_use", "id": "1", "name": "a", "input": {"q": 1}}
    assert read(message_start(), *block(0, start), *message_end("tool_use"))[1].calls == (
        FunctionCall("a", {"q": 1}, "1"),
    )


def test_a_call_without_a_name_or_an_id() -> None:
    start = {"type": "tool_use", "input": {}}
    assert read(message_start(), *block(0, start), *message_end())[1].calls == (
        FunctionCall("undefined_tool_name", {}),
    )


def test_the_answer_in_a_forced_call_is_its_text() -> None:
    events = [*text_block(0, "Here:"), *call_block(1, "1", "x", "{}"), *call_block(2, "2", ANSWER_TOOL, '{"a": "ö"}')]
    deltas, answer = read(message_start(), *events, *message_end("tool_use"), is_forced=True)
    assert deltas == [TextDelta('{"a":"ö"}')]
    assert answer.message.parts == (Text('{"a":"ö"}'),)


def test_where_a_stream_may_end() -> None:
    whole = [message_start(), *text_block(0, "Hi"), *message_end()]
    assert read(*whole[:-1])[1].text == "Hi"
    for size in range(len(whole) - 2):
        with pytest.raises(ModelFailure) as caught:
            read(*whole[: size + 1])
        assert (caught.value.kind, caught.value.can_retry) == (FailureKind.STREAM_CUT, True)


def test_whole_calls_are_made_though_the_stream_does_not_say_that_it_ends() -> None:
    events = [message_start(), *text_block(0, "I look."), *call_block(1, "1", "other", '{"a":', "1}")]
    assert read(*events)[1].message.parts == (Text("I look."), FunctionCall("other", {"a": 1}, "1"))
    for cut in (events[:-1], [*events, text_block(2, "And")[0]]):
        with pytest.raises(ModelFailure) as caught:
            read(*cut)
        assert caught.value.kind is FailureKind.STREAM_CUT


def test_a_server_that_does_not_stream() -> None:
    content = [
        {"type": "thinking", "thinking": "hm", "signature": "sig"},
        {"type": "text", "text": "Hi"},
        {"type": "tool_use", "id": "1", "name": "a", "input": {"q": 1}},
    ]
    usage = {"input_tokens": 3, "output_tokens": 4}
    message = {"type": "message", "model": "m", "content": content, "stop_reason": "tool_use", "usage": usage}
    deltas, answer = read(message)
    assert deltas == [ThoughtDelta("hm"), TextDelta("Hi")]
    assert answer.message.parts == (
        Thought("hm"),
        preserve_block({"type": "thinking", "thinking": "hm", "signature": "sig"}, "claude-x"),
        Text("Hi"),
        FunctionCall("a", {"q": 1}, "1"),
    )
    assert answer.usage == Usage(3, 0, 4)


@pytest.mark.parametrize(
    ("kind", "message", "expected", "can_retry"),
    [
        ("overloaded_error", "Overloaded", FailureKind.UNAVAILABLE, True),
        ("api_error", "Internal server error", FailureKind.UNAVAILABLE, True),
        ("rate_limit_error", "slow down", FailureKind.RATE_LIMITED, True),
        ("authentication_error", "bad sk-ant-secret", FailureKind.AUTHENTICATION, False),
        ("invalid_request_error", "prompt is too long: 9 tokens > 8 maximum", FailureKind.CONTEXT_FULL, False),
        ("invalid_request_error", "bad", FailureKind.BAD_REQUEST, False),
        ("request_too_large", "large", FailureKind.CONTEXT_FULL, False),
    ],
)
def test_an_error_in_the_stream(kind: str, message: str, expected: FailureKind, can_retry: bool) -> None:
    with pytest.raises(ModelFailure) as caught:
        read(message_start(), {"type": "error", "error": {"type": kind, "message": message}})
    assert (caught.value.kind, caught.value.can_retry) == (expected, can_retry)
    assert "sk-ant-secret" not in caught.value.message


@pytest.mark.parametrize("data", ["{", "[]", "[DONE]", '{"type":"content_block_delta","index":7,"delta":{}}'])
def test_what_is_no_event(data: str) -> None:
    with pytest.raises(ModelFailure) as caught:
        read(message_start(), data)
    assert caught.value.kind is FailureKind.PROTOCOL


def test_odd_events_add_nothing() -> None:
    odd = [
        "",
        {},
        {"type": None},
        {"type": "news"},
        {"type": "content_block_stop", "index": 9},
        {"type": "message_delta"},
    ]
    deltas, answer = read(*odd, message_start(), *odd, *text_block(0, "Hi"), *odd, *message_end(), *odd)
    assert deltas == [TextDelta("Hi")]
    assert answer.message.parts == (Text("Hi"),)


EVENTS = [
    message_start(),
    *thinking_block(0, "AbC+/==", "thö"),
    *text_block(1, "Grüße ", "😀"),
    *call_block(2, "1", SEARCH, '{"q":"', 'ü"}'),
    *message_end("tool_use"),
]
STREAM = b"".join(
    b"event: %s\ndata: %s\n\n" % (event["type"].encode(), json.dumps(event, ensure_ascii=False).encode())
    for event in EVENTS
)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, len(STREAM)), max_size=8))
def test_it_does_not_matter_where_the_stream_is_split(cuts: list[int]) -> None:
    parser, reader = SseParser(), AnthropicResponseReader(TOOLS, ASKED)
    deltas: list[Chunk] = []
    for start, end in pairwise([0, *sorted(cuts), len(STREAM)]):
        for event in parser.feed(STREAM[start:end]):
            deltas += reader.feed(event.data)
    *deltas, answer = [*deltas, *reader.end()]
    whole_deltas, whole = read(*EVENTS)
    assert deltas == whole_deltas == [ThoughtDelta("thö"), TextDelta("Grüße "), TextDelta("😀")]
    assert isinstance(answer, ModelResponse)
    assert (answer.message.parts, answer.usage) == (whole.message.parts, whole.usage)
    assert answer.calls == (FunctionCall("web.search", {"q": "ü"}, "1"),)
