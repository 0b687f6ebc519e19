import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.model_servers.gemini import chunk, function_call
from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.types import FileData, FunctionCall, InlineData, MessagePart, Opaque, Text, Thought
from tejat.core.model import (
    Chunk,
    Citation,
    FailureKind,
    FinishReason,
    Grounding,
    GroundingSource,
    ModelFailure,
    ModelResponse,
    TextDelta,
    ThoughtDelta,
    Usage,
)
from tejat.models.gemini.request import NAME_PATTERN
from tejat.models.gemini.response import GeminiResponseReader
from tejat.models.wire.common import UNNAMED_CALL, wire_name
from tejat.workspace.http.sse import SseParser


def read(*chunks: object) -> tuple[list[Chunk], ModelResponse]:
    reader = GeminiResponseReader()
    deltas = [delta for value in chunks for delta in reader.feed(json.dumps(value))]
    return deltas, reader.response()


def parts(*given: object) -> tuple[MessagePart, ...]:
    return read(chunk(*given, reason="STOP"))[1].message.parts


def failure_of(*chunks: object) -> ModelFailure:
    with pytest.raises(ModelFailure) as caught:
        read(*chunks)
    return caught.value


def test_text_and_thoughts_come_piece_by_piece_and_are_whole_at_the_end() -> None:
    deltas, answer = read(
        chunk({"text": "Hm", "thought": True}),
        chunk({"text": "m.", "thought": True}),
        chunk("Hel"),
        chunk("lo", ""),
        chunk(function_call("f", {"a": 1}, id="c1", thoughtSignature="sig+/=")),
        chunk(function_call("g", {}), reason="STOP"),
    )
    assert deltas == [ThoughtDelta("Hm"), ThoughtDelta("m."), TextDelta("Hel"), TextDelta("lo")]
    assert answer.message.parts == (
        Thought("Hmm."),
        Text("Hello"),
        FunctionCall("f", {"a": 1}, "c1", "sig+/="),
        FunctionCall("g", {}),
    )
    assert (answer.reason, answer.detail, answer.model) == (FinishReason.STOP, "", "gemini-test")
    assert (answer.text, answer.thoughts, len(answer.calls)) == ("Hello", "Hmm.", 2)


def test_a_signature_stays_with_its_own_piece_of_text() -> None:
    given = ("a", "b", {"text": "c", "thoughtSignature": "1"}, "d", {"text": "", "thoughtSignature": "2"})
    assert parts(*given) == (Text("ab"), Text("c", "1"), Text("d"), Text("", "2"))
    assert parts("a", {"thoughtSignature": "3"}) == (Text("a"), Text("", "3"))
    thoughts = ({"text": "x", "thought": True, "thoughtSignature": "4"}, {"text": "y", "thought": True})
    assert parts(*thoughts) == (Thought("x", "4"), Thought("y"))


def test_a_response_that_the_model_makes_up_is_left_out() -> None:
    made_up = {"functionResponse": {"name": "f", "response": {"output": "x"}}}
    assert parts("a", made_up, {**made_up, "thoughtSignature": "s"}, "b") == (Text("ab"),)


def test_media_and_what_we_do_not_know() -> None:
    code = {"executableCode": {"language": "PYTHON", "code": "1"}, "thoughtSignature": "s"}
    signed = {"inlineData": {"mimeType": "image/png", "data": "AP8="}, "thoughtSignature": "s"}
    assert parts(
        {"inlineData": {"mimeType": "image/png", "data": "-_8"}},
        {"fileData": {"mimeType": "a/b", "fileUri": "gs://x"}},
        code,
        signed,
    ) == (
        InlineData("image/png", b"\xfb\xff"),
        FileData("a/b", "gs://x"),
        Opaque("gemini", code),
        Opaque("gemini", signed),
    )


@pytest.mark.parametrize(
    ("sent", "understood"),
    [
        ({"args": {"a": 1}}, FunctionCall(UNNAMED_CALL, {"a": 1})),
        ({"name": "f"}, FunctionCall("f", {})),
        ({"name": "f", "args": None, "id": ""}, FunctionCall("f", {})),
        ({"name": "f", "args": [1]}, FunctionCall("f", {"args": [1]})),
        ({"name": "f", "args": "{}"}, FunctionCall("f", {"args": "{}"})),
        ({"name": 7, "id": 7}, FunctionCall(UNNAMED_CALL, {})),
        ("f()", FunctionCall(UNNAMED_CALL, {"functionCall": "f()"})),
    ],
)
def test_calls_that_are_not_as_they_should_be_stay_calls(sent: object, understood: FunctionCall) -> None:
    assert parts({"functionCall": sent}) == (understood,)


def test_calls_are_of_the_tools_own_names() -> None:
    tools = tuple(FunctionDeclaration(name, "", {}) for name in ("2fa", "srv__a.b"))
    reader = GeminiResponseReader((), tools)
    calls: list[dict[str, Any]] = [
        {"functionCall": {"name": wire_name("2fa", NAME_PATTERN)}},
        {"functionCall": {"name": "srv__a.b"}},
    ]
    calls.append({"functionCall": {"name": "unheard_of"}, "thoughtSignature": "s"})
    assert list(reader.feed(json.dumps(chunk(*calls, reason="STOP")))) == []
    assert reader.response().calls == (
        FunctionCall("2fa", {}),
        FunctionCall("srv__a.b", {}),
        FunctionCall("unheard_of", {}, signature="s"),
    )


def test_a_large_argument() -> None:
    (found,) = parts(function_call("f", {"a": "x" * 10_000_000}))
    assert isinstance(found, FunctionCall)
    assert len(str(found.args["a"])) == 10_000_000


def test_usage_is_that_of_the_last_chunk_that_tells() -> None:
    usage = {
        "promptTokenCount": 100,
        "cachedContentTokenCount": 80,
        "candidatesTokenCount": 7,
        "thoughtsTokenCount": 3,
        "toolUsePromptTokenCount": 2,
        "totalTokenCount": 112,
    }
    last = {"candidates": [{"finishReason": "STOP"}]}
    _, answer = read(chunk("a"), chunk("b", usageMetadata=usage), last)
    assert answer.usage == Usage(prompt=100, cached=80, output=7, thoughts=3, tool=2)
    wrong = {"promptTokenCount": -1, "cachedContentTokenCount": "5", "candidatesTokenCount": None}
    assert read(chunk("a", reason="STOP", usageMetadata=wrong))[1].usage == Usage()


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("STOP", FinishReason.STOP),
        ("MAX_TOKENS", FinishReason.MAX_TOKENS),
        ("SAFETY", FinishReason.BLOCKED),
        ("RECITATION", FinishReason.BLOCKED),
        ("BLOCKLIST", FinishReason.BLOCKED),
        ("PROHIBITED_CONTENT", FinishReason.BLOCKED),
        ("SPII", FinishReason.BLOCKED),
        ("IMAGE_SAFETY", FinishReason.BLOCKED),
        ("MALFORMED_FUNCTION_CALL", FinishReason.MALFORMED_CALL),
        ("UNEXPECTED_TOOL_CALL", FinishReason.MALFORMED_CALL),
        ("LANGUAGE", FinishReason.OTHER),
        ("OTHER", FinishReason.OTHER),
        ("SOMETHING_NEW", FinishReason.OTHER),
    ],
)
def test_reasons(reason: str, expected: FinishReason) -> None:
    _, answer = read(chunk("a", reason=reason))
    assert (answer.reason, answer.detail) == (expected, "" if reason == "STOP" else f"({reason})")


def test_what_the_service_says_about_the_reason_is_kept_short() -> None:
    candidate = {"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "bad\x1b call: " + "x" * 5000}
    _, answer = read({"candidates": [candidate]})
    assert answer.detail.startswith("(MALFORMED_FUNCTION_CALL) bad<U+001B> call: xxx")
    assert len(answer.detail) == 600


def test_older_models_give_a_reason_with_every_chunk() -> None:
    _, answer = read(chunk("a", reason="STOP"), chunk("b", reason="STOP"), chunk("c", reason="MAX_TOKENS"))
    assert (answer.text, answer.reason) == ("abc", FinishReason.MAX_TOKENS)


def test_a_refused_prompt() -> None:
    _, answer = read({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT", "blockReasonMessage": "No."}})
    assert (answer.reason, answer.message.parts) == (FinishReason.BLOCKED, ())
    assert answer.detail == "The service blocked the prompt (PROHIBITED_CONTENT). No."


def test_where_an_answer_came_from() -> None:
    grounding = {
        "groundingChunks": [{"web": {"title": "T", "uri": "https://t"}}, {"retrievedContext": {"title": "R"}}, {}],
        "groundingSupports": [
            {"segment": {"endIndex": 5, "text": "Hello"}, "groundingChunkIndices": [0, 2]},
            {"segment": {}, "groundingChunkIndices": ["x", -1]},
            "nonsense",
        ],
    }
    pages = {"urlMetadata": [{"retrievedUrl": "https://p", "urlRetrievalStatus": "URL_RETRIEVAL_STATUS_SUCCESS"}]}
    candidate = {"finishReason": "STOP", "groundingMetadata": grounding, "urlContextMetadata": pages}
    _, answer = read(chunk("Hello"), {"candidates": [candidate]})
    assert answer.grounding == Grounding(
        (GroundingSource("T", "https://t"), GroundingSource("R", None), GroundingSource(None, None)),
        (Citation(5, (0, 2)), Citation(0, ()), Citation(0, ())),
        {"https://p": "URL_RETRIEVAL_STATUS_SUCCESS"},
    )
    assert read(chunk("a", reason="STOP"))[1].grounding is None


@pytest.mark.parametrize(
    "chunks", [[], [chunk("Hel")], [{}], [{"candidates": []}], [{"usageMetadata": {"promptTokenCount": 3}}]]
)
def test_a_stream_without_a_reason_was_cut(chunks: list[object]) -> None:
    failure = failure_of(*chunks)
    assert (failure.kind, failure.can_retry) == (FailureKind.STREAM_CUT, True)


@pytest.mark.parametrize(
    "value",
    [
        7,
        None,
        "text",
        {"candidates": {}},
        {"candidates": [7]},
        {"candidates": [{"content": [1]}]},
        {"candidates": [{"content": {"parts": {}}}]},
        {"candidates": [{"content": {"parts": ["a"]}}]},
        {"candidates": [{"content": {"parts": [{"text": 7}]}}]},
        {"candidates": [{"content": {"parts": [{"inlineData": {"mimeType": "a/b", "data": "%%%%"}}]}}]},
    ],
)
def test_what_is_no_chunk(value: object) -> None:
    failure = failure_of(value)
    assert (failure.kind, failure.can_retry) == (FailureKind.PROTOCOL, False)


@pytest.mark.parametrize("text", ["{", "[" * 100_000, '{"a": NaN}', b"\xff\xff"])
def test_what_is_no_json(text: str | bytes) -> None:
    with pytest.raises(ModelFailure) as caught:
        GeminiResponseReader().feed(text)
    assert caught.value.kind is FailureKind.PROTOCOL


def test_an_error_in_the_middle_of_the_stream() -> None:
    reader = GeminiResponseReader(["hunter22"])
    assert list(reader.feed(json.dumps(chunk("Hel")))) == [TextDelta("Hel")]
    with pytest.raises(ModelFailure) as caught:
        list(reader.feed(json.dumps({"error": {"code": 503, "message": "busy hunter22", "status": "UNAVAILABLE"}})))
    assert (caught.value.kind, caught.value.can_retry, caught.value.status) == (FailureKind.UNAVAILABLE, True, 503)
    assert caught.value.message == "The service is unavailable. (HTTP 503) busy ***"


def test_a_list_of_chunks() -> None:
    deltas, answer = read([chunk("Hel"), chunk("lo", reason="STOP")])
    assert (deltas, answer.text) == ([TextDelta("Hel"), TextDelta("lo")], "Hello")


STREAM = b"".join(
    b"data: %s\r\n\r\n" % json.dumps(value, ensure_ascii=False).encode()
    for value in [
        chunk({"text": "dénk", "thought": True}),
        chunk("Grüße 語", {"text": "", "thoughtSignature": "s=="}),
        chunk(function_call("f", {"a": "\n\r\u2028"}, id="1"), reason="STOP"),
    ]
)


@settings(max_examples=200)
@given(cuts=st.lists(st.integers(0, len(STREAM)), max_size=10))
def test_however_the_bytes_are_cut_the_answer_is_the_same(cuts: list[int]) -> None:
    reader, parser = GeminiResponseReader(), SseParser()
    pieces = [STREAM[start:end] for start, end in pairwise([0, *sorted(cuts), len(STREAM)])]
    deltas = [delta for piece in pieces for event in parser.feed(piece) for delta in reader.feed(event.data)]
    assert deltas == [ThoughtDelta("dénk"), TextDelta("Grüße 語")]
    assert parser.end() == []
    assert reader.response().message.parts == (
        Thought("dénk"),
        Text("Grüße 語"),
        Text("", "s=="),
        FunctionCall("f", {"a": "\n\r\u2028"}, "1"),
    )


def test_a_call_without_a_reason_for_the_end_is_made() -> None:
    _, answer = read(chunk("I look."), chunk(function_call("f", {"a": 1})))
    assert (answer.reason, answer.detail) == (FinishReason.STOP, "")
    assert answer.message.parts == (Text("I look."), FunctionCall("f", {"a": 1}))


@pytest.mark.parametrize("data", ["", " \n"])
def test_an_event_without_data_is_skipped(data: str) -> None:
    reader = GeminiResponseReader()
    assert reader.feed(data) == []
    reader.feed(json.dumps(chunk("Hi", reason="STOP")))
    assert reader.feed(data) == []
    assert reader.response().text == "Hi"
