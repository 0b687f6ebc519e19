"""Answers out of OpenAI's chunks."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.model_servers.openai import call_chunk, chunk, usage_chunk
from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.types import FunctionCall, MessagePart, Text, Thought
from tejat.core.model import (
    NO_USAGE,
    Chunk,
    FailureKind,
    FinishReason,
    ModelFailure,
    ModelResponse,
    TextDelta,
    ThoughtDelta,
    Usage,
)
from tejat.models.openai.response import OpenAIResponseReader
from tejat.models.wire.api_errors import ModelTarget
from tejat.models.wire.common import wire_name
from tejat.workspace.http.sse import SseParser

TOOLS = (
    FunctionDeclaration("read_file", "", {"type": "object", "properties": {}}),
    FunctionDeclaration("web.search", "", {"type": "object", "properties": {}}),
)
ASKED = ModelTarget("gpt-x", "OPENAI_API_KEY", "sk-secret-key")
DONE = "[DONE]"


def read(*chunks: Any, tools: tuple[FunctionDeclaration, ...] = TOOLS) -> tuple[list[Chunk], ModelResponse]:
    reader = OpenAIResponseReader(tools, ASKED)
    deltas: list[Chunk] = []
    for each in chunks:
        deltas += reader.feed(each if isinstance(each, str) else json.dumps(each))
    deltas += reader.end()
    answer = deltas.pop()
    assert isinstance(answer, ModelResponse)
    return deltas, answer


def parts(*chunks: Any) -> tuple[MessagePart, ...]:
    return read(*chunks)[1].message.parts


def answered(*pieces: dict[str, Any], reason: str | None = "tool_calls") -> ModelResponse:
    return read(*(chunk(tool_calls=[piece]) for piece in pieces), chunk(reason=reason), DONE)[1]


def test_a_whole_answer() -> None:
    deltas, answer = read(
        chunk(role="assistant", content=""),
        chunk(reasoning_content="hm"),
        chunk(reasoning="m"),
        chunk(content="Hel"),
        chunk(content="lo"),
        chunk(tool_calls=[call_chunk(0, call_id="call_1", name="read_file", arguments="")]),
        chunk(tool_calls=[call_chunk(0, arguments='{"path":')]),
        chunk(tool_calls=[call_chunk(0, arguments='"a"}')]),
        chunk(tool_calls=[call_chunk(1, call_id="call_2", name=wire_name("web.search"), arguments="{}")]),
        chunk(reason="tool_calls"),
        usage_chunk(),
        DONE,
    )
    assert deltas == [ThoughtDelta("hm"), ThoughtDelta("m"), TextDelta("Hel"), TextDelta("lo")]
    assert answer.message.parts == (
        Thought("hmm"),
        Text("Hello"),
        FunctionCall("read_file", {"path": "a"}, "call_1"),
        FunctionCall("web.search", {}, "call_2"),
    )
    assert (answer.reason, answer.detail, answer.model) == (FinishReason.STOP, "", "gpt-test")
    assert answer.usage == Usage(prompt=100, cached=40, output=20, thoughts=10)


class TestCalls:
    """In all the pieces that servers cut them into."""

    ONE = FunctionCall("read_file", {"path": "a"}, "1")
    TWO = FunctionCall("read_file", {"path": "b"}, "2")

    def test_ids_only_in_the_first_piece(self) -> None:
        pieces = [call_chunk(0, call_id="1", name="read_file"), call_chunk(0, arguments='{"path":"a"}')]
        assert answered(*pieces).calls == (self.ONE,)

    def test_whole_calls_in_one_chunk(self) -> None:
        both = [
            call_chunk(0, call_id="1", name="read_file", arguments='{"path":"a"}'),
            call_chunk(1, call_id="2", name="read_file", arguments='{"path":"b"}'),
        ]
        assert read(chunk(tool_calls=both, reason="stop"))[1].calls == (self.ONE, self.TWO)

    def test_woven_pieces(self) -> None:
        pieces = [
            call_chunk(0, call_id="1", name="read_file"),
            call_chunk(1, call_id="2", name="read_file"),
            call_chunk(0, arguments='{"path":'),
            call_chunk(1, arguments='{"path":'),
            call_chunk(0, arguments='"a"}'),
            call_chunk(1, arguments='"b"}'),
        ]
        assert answered(*pieces).calls == (self.ONE, self.TWO)

    def test_all_calls_numbered_0(self) -> None:
        pieces = [
            call_chunk(0, call_id="1", name="read_file", arguments='{"path":'),
            call_chunk(0, arguments='"a"}'),
            call_chunk(0, call_id="2", name="read_file", arguments='{"path":'),
            call_chunk(0, arguments='"b"}'),
        ]
        assert answered(*pieces).calls == (self.ONE, self.TWO)

    def test_no_index(self) -> None:
        pieces = [
            call_chunk(None, call_id="1", name="read_file", arguments='{"path":'),
            call_chunk(None, arguments='"a"}'),
            call_chunk(None, call_id="2", name="read_file", arguments='{"path":"b"}'),
        ]
        assert answered(*pieces).calls == (self.ONE, self.TWO)

    @pytest.mark.parametrize("index", [None, 0])
    def test_no_ids(self, index: int | None) -> None:
        pieces = [
            call_chunk(index, name="read_file", arguments='{"path":"a"}'),
            call_chunk(index, name="read_file", arguments='{"path":"b"}'),
        ]
        assert [(call.args, call.id) for call in answered(*pieces).calls] == [
            ({"path": "a"}, None),
            ({"path": "b"}, None),
        ]

    def test_no_ids_no_index_no_arguments(self) -> None:
        pieces = [call_chunk(None, name="read_file"), call_chunk(None, name="other", arguments="")]
        assert answered(*pieces).calls == (FunctionCall("read_file", {}), FunctionCall("other", {}))

    def test_the_name_with_every_piece(self) -> None:
        pieces = [
            call_chunk(0, call_id="1", name="read_file", arguments=piece) for piece in ('{"pa', 'th":', '"a"', "}")
        ]
        assert answered(*pieces).calls == (self.ONE,)
        pieces = [call_chunk(0, name="read_file", arguments=piece) for piece in ('{"pa', 'th":', '"a"', "}")]
        assert answered(*pieces).calls == (FunctionCall("read_file", {"path": "a"}),)

    def test_the_name_in_pieces(self) -> None:
        pieces = [
            call_chunk(0, call_id="1", name="read"),
            call_chunk(0, name="_file"),
            call_chunk(0, arguments='{"path":"a"}'),
        ]
        assert answered(*pieces).calls == (self.ONE,)

    def test_another_id_with_every_piece(self) -> None:
        pieces = [
            call_chunk(0, call_id="1", name="read_file", arguments='{"path":'),
            call_chunk(0, call_id="x", arguments='"a"'),
            call_chunk(0, call_id="y", arguments="}"),
        ]
        assert answered(*pieces).calls == (self.ONE,)

    def test_arguments_as_an_object(self) -> None:
        assert answered(call_chunk(0, call_id="1", name="read_file", arguments={"path": "a"})).calls == (self.ONE,)

    def test_arguments_as_null(self) -> None:
        assert answered(call_chunk(0, name="read_file", arguments="null")).calls == (FunctionCall("read_file", {}),)

    def test_no_name(self) -> None:
        assert answered(call_chunk(0, call_id="1", arguments="{}")).calls == (
            FunctionCall("undefined_tool_name", {}, "1"),
        )

    def test_a_tool_that_is_not_there(self) -> None:
        assert answered(call_chunk(0, name="rm", arguments="{}")).calls == (FunctionCall("rm", {}),)

    def test_the_old_way(self) -> None:
        chunks = [chunk(function_call={"name": "read_file"}), chunk(function_call={"arguments": '{"path":"a"}'})]
        assert read(*chunks, chunk(reason="function_call"))[1].calls == (FunctionCall("read_file", {"path": "a"}),)

    def test_a_mended_call(self) -> None:
        assert answered(call_chunk(0, call_id="1", name="read_file", arguments='{"path":"a",}')).calls == (self.ONE,)

    @pytest.mark.parametrize(
        "arguments", ['{"path":', "[1]", "{'path':'a'}", '{"a":1}{"b":2}', '{"a":' * 200 + "1" + "}" * 200]
    )
    def test_a_call_that_cannot_be_read_is_not_made(self, arguments: str) -> None:
        whole = call_chunk(0, call_id="1", name="read_file", arguments="{}")
        answer = answered(whole, call_chunk(1, call_id="2", name="read_file", arguments=arguments))
        assert (answer.reason, answer.message.parts) == (FinishReason.MALFORMED_CALL, ())
        assert answer.detail == "The arguments of read_file are not a JSON object."

    def test_a_call_that_was_cut_short_is_not_made(self) -> None:
        whole = call_chunk(0, call_id="1", name="read_file", arguments='{"path":"a"}')
        for cut in ("", "{", '{"path":"a"', '{"path":"a",'):
            answer = answered(whole, call_chunk(1, call_id="2", name="read_file", arguments=cut), reason="length")
            assert (answer.reason, answer.calls) == (FinishReason.MAX_TOKENS, (self.ONE,))


class TestWrittenCalls:
    TEXT = '<tool_call>{"name":"read_file","arguments":{"path":"a"}}</tool_call>'

    def test_they_are_made_and_not_shown(self) -> None:
        deltas, answer = read(*(chunk(content=letter) for letter in f"\n{self.TEXT}"), chunk(reason="stop"))
        assert deltas == []
        assert answer.message.parts == (FunctionCall("read_file", {"path": "a"}),)

    def test_after_a_thought(self) -> None:
        deltas, answer = read(chunk(content=f"<think>hm</think>\n{self.TEXT}"), chunk(reason="stop"))
        assert deltas == [ThoughtDelta("hm")]
        assert answer.message.parts == (Thought("hm"), FunctionCall("read_file", {"path": "a"}))

    @pytest.mark.parametrize("text", [f"See: {TEXT}", f"{TEXT} is how.", TEXT.replace("read_file", "rm"), TEXT[:-3]])
    def test_quoted_they_are_text(self, text: str) -> None:
        deltas, answer = read(*(chunk(content=letter) for letter in text), chunk(reason="stop"))
        assert "".join(delta.text for delta in deltas if isinstance(delta, TextDelta)) == text
        assert answer.message.parts == (Text(text),)

    @pytest.mark.parametrize("reason", ["length", "content_filter"])
    def test_not_in_an_answer_that_did_not_end_well(self, reason: str) -> None:
        assert parts(chunk(content=self.TEXT), chunk(reason=reason)) == (Text(self.TEXT),)

    def test_beside_a_real_call_they_are_text(self) -> None:
        call = call_chunk(0, call_id="1", name="read_file", arguments="{}")
        made = parts(chunk(content=self.TEXT), chunk(tool_calls=[call]), chunk(reason="tool_calls"))
        assert made == (Text(self.TEXT), FunctionCall("read_file", {}, "1"))

    def test_without_tools_they_are_text(self) -> None:
        deltas, answer = read(chunk(content=self.TEXT), chunk(reason="stop"), tools=())
        assert deltas == [TextDelta(self.TEXT)]
        assert answer.text == self.TEXT


def test_thoughts_in_all_the_places_where_servers_put_them() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "h"}]}
    deltas, answer = read(
        chunk(content=[thinking]),
        chunk(content=[{"type": "text", "text": "Hi"}]),
        chunk(reason="stop"),
    )
    assert deltas == [ThoughtDelta("h"), TextDelta("Hi")]
    assert answer.message.parts == (Thought("h"), Text("Hi"))
    assert parts(chunk(content="<think>h</think>"), chunk(content="\nHi"), chunk(reason="stop")) == answer.message.parts


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("stop", FinishReason.STOP),
        ("tool_calls", FinishReason.STOP),
        ("function_call", FinishReason.STOP),
        ("eos", FinishReason.STOP),
        ("length", FinishReason.MAX_TOKENS),
        ("content_filter", FinishReason.BLOCKED),
        ("elsewhere", FinishReason.OTHER),
    ],
)
def test_why_it_ended(reason: str, expected: FinishReason) -> None:
    answer = read(chunk(content="Hi"), chunk(reason=reason))[1]
    detail = "" if expected is FinishReason.STOP else f"The response ended with {reason!r}."
    assert (answer.reason, answer.text, answer.detail) == (expected, "Hi", detail)


def test_a_refusal_is_a_block() -> None:
    answer = read(chunk(refusal="I can't "), chunk(refusal="help."), chunk(reason="stop"))[1]
    assert (answer.reason, answer.detail, answer.message.parts) == (FinishReason.BLOCKED, "I can't help.", ())


def test_where_a_stream_may_end() -> None:
    assert parts(chunk(content="Hi"), DONE) == (Text("Hi"),)
    assert parts(chunk(content="Hi", reason="stop")) == (Text("Hi"),)
    for cut in ([], [chunk(content="Hi")], [chunk(content="Hi"), usage_chunk()]):
        with pytest.raises(ModelFailure) as caught:
            read(*cut)
        assert (caught.value.kind, caught.value.can_retry) == (FailureKind.STREAM_CUT, True)


def test_whole_calls_are_made_though_the_stream_does_not_say_that_it_ends() -> None:
    pieces = [
        call_chunk(0, call_id="1", name="read_file", arguments='{"path"'),
        call_chunk(0, arguments=':"a"}'),
        call_chunk(1, call_id="2", name="read_file"),
        call_chunk(1, arguments="{}"),
    ]
    chunks = [chunk(tool_calls=[piece]) for piece in pieces]
    assert parts(*chunks) == (FunctionCall("read_file", {"path": "a"}, "1"), FunctionCall("read_file", {}, "2"))
    for size in (1, 3):
        with pytest.raises(ModelFailure) as caught:
            read(*chunks[:size])
        assert caught.value.kind is FailureKind.STREAM_CUT


def test_a_server_that_does_not_stream() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "read_file", "arguments": "{}"}}
    message = {"role": "assistant", "content": "Hi", "tool_calls": [call]}
    deltas, answer = read({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}], "usage": None})
    assert deltas == [TextDelta("Hi")]
    assert answer.message.parts == (Text("Hi"), FunctionCall("read_file", {}, "1"))


@pytest.mark.parametrize(
    ("error", "kind", "can_retry"),
    [
        ({"message": "busy", "type": "server_error", "code": None}, FailureKind.UNAVAILABLE, True),
        ({"message": "slow down", "code": 429}, FailureKind.RATE_LIMITED, True),
        ({"message": "slow down", "code": "rate_limit_exceeded"}, FailureKind.RATE_LIMITED, True),
        ({"message": "too long", "code": "context_length_exceeded"}, FailureKind.CONTEXT_FULL, False),
        ("out of memory", FailureKind.UNAVAILABLE, True),
        ({"message": "bad key sk-secret-key", "code": 401}, FailureKind.AUTHENTICATION, False),
    ],
)
def test_an_error_in_the_stream(error: Any, kind: FailureKind, can_retry: bool) -> None:
    with pytest.raises(ModelFailure) as caught:
        read(chunk(content="Hi"), {"error": error})
    assert (caught.value.kind, caught.value.can_retry) == (kind, can_retry)
    assert "sk-secret-key" not in caught.value.message


@pytest.mark.parametrize("data", ["{", "[]", "nothing", "1", "[" * 100_000])
def test_what_is_no_chunk(data: str) -> None:
    with pytest.raises(ModelFailure) as caught:
        read(data)
    assert caught.value.kind is FailureKind.PROTOCOL


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, NO_USAGE),
        ({}, NO_USAGE),
        ({"prompt_tokens": 5, "completion_tokens": 2}, Usage(5, 0, 2)),
        ({"prompt_tokens": 5, "completion_tokens": 2, "prompt_cache_hit_tokens": 4}, Usage(5, 4, 2)),
        ({"prompt_tokens": -5, "completion_tokens": "many", "prompt_tokens_details": None}, NO_USAGE),
        (
            {"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 99}},
            Usage(9, 4, cache_write=5),
        ),
        ({"completion_tokens": 2, "completion_tokens_details": {"reasoning_tokens": 9}}, Usage(thoughts=2)),
    ],
)
def test_usage(usage: Any, expected: Usage) -> None:
    assert read(chunk(content="Hi", usage=usage), chunk(reason="stop"))[1].usage == expected


def test_usage_is_that_of_the_last_chunk_that_tells() -> None:
    first = {"prompt_tokens": 5, "completion_tokens": 1}
    last = {"prompt_tokens": 5, "completion_tokens": 2}
    assert read(chunk(usage=first), chunk(usage=last), chunk(reason="stop"))[1].usage == Usage(5, 0, 2)


def test_odd_chunks_add_nothing() -> None:
    odd = [
        "",
        {},
        {"choices": None},
        {"choices": [None, 1, {}]},
        {"choices": [{"delta": None}]},
        {"choices": [{"delta": {"content": None, "tool_calls": None, "refusal": None}}]},
        {"choices": [{"index": 1, "delta": {"content": "other"}, "finish_reason": "length"}]},
    ]
    deltas, answer = read(*odd, chunk(content="Hi"), chunk(reason="stop"), *odd)
    assert deltas == [TextDelta("Hi")]
    assert (answer.message.parts, answer.reason) == ((Text("Hi"),), FinishReason.STOP)


STREAM = b"".join(
    b"data: %s\r\n\r\n" % json.dumps(each, ensure_ascii=False).encode()
    for each in [
        chunk(role="assistant"),
        chunk(reasoning="thö"),
        chunk(content="Grüße "),
        chunk(content="😀"),
        chunk(tool_calls=[call_chunk(0, call_id="1", name="read_file")]),
        chunk(tool_calls=[call_chunk(0, arguments='{"path":"ü')]),
        chunk(tool_calls=[call_chunk(0, arguments='"}')]),
        chunk(reason="tool_calls"),
        usage_chunk(),
    ]
)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, len(STREAM)), max_size=8))
def test_it_does_not_matter_where_the_stream_is_split(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(STREAM)]
    parser, reader = SseParser(), OpenAIResponseReader(TOOLS, ASKED)
    deltas: list[Chunk] = []
    for start, end in pairwise(places):
        for event in parser.feed(STREAM[start:end]):
            deltas += reader.feed(event.data)
    *deltas, answer = [*deltas, *reader.end()]
    assert deltas == [ThoughtDelta("thö"), TextDelta("Grüße "), TextDelta("😀")]
    assert isinstance(answer, ModelResponse)
    assert answer.message.parts == (Thought("thö"), Text("Grüße 😀"), FunctionCall("read_file", {"path": "ü"}, "1"))
    assert answer.usage == Usage(100, 40, 20, 10)
