"""Conversations as OpenAI's chat completions take them."""

import json
from typing import Any

import pytest
from hypothesis import given, settings

from support.media_files import png
from support.message_strategies import TOOLS, legal_conversations
from support.model_servers.gemini import Received
from support.model_servers.openai import find_problem, tool_answers
from tejat.core.frozen import replace
from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.history import Message, model_message, user_message
from tejat.core.messages.types import FileData, FunctionCall, FunctionResponse, InlineData, Opaque, Text, Thought
from tejat.core.model import ModelRequest
from tejat.models.openai.request import (
    BODY_TAIL,
    OpenAIDialect,
    OpenAIJsonMode,
    OutputLimitField,
    adapt_dialect,
    encode_head,
    encode_message,
)
from tejat.models.wire.common import response_text, wire_id, wire_name
from tejat.models.wire.generation import Effort

USUAL = OpenAIDialect()
PICTURE = InlineData("image/png", b"\x89PNG")
SCHEMA = {"type": "object", "properties": {"answer": {"type": "string"}}}
HELLO = user_message("Hello")


def raw(request: ModelRequest, dialect: OpenAIDialect = USUAL) -> bytes:
    pieces = b",".join(encode_message(message, dialect) for message in request.messages)
    return encode_head("gpt-x", request, dialect) + pieces + BODY_TAIL


def body(request: ModelRequest, dialect: OpenAIDialect = USUAL) -> Any:
    return json.loads(raw(request, dialect))


def messages(*told: Message, dialect: OpenAIDialect = USUAL) -> Any:
    return body(ModelRequest(told), dialect)["messages"]


@settings(max_examples=60, deadline=None)
@given(legal_conversations())
def test_the_service_takes_every_legal_conversation(told: list[Message]) -> None:
    for dialect in (USUAL, OpenAIDialect(supports_media=False)):
        request = ModelRequest(told, system="Be brief.", tools=TOOLS)
        assert find_problem(Received("POST", "/v1/chat/completions", {}, raw(request, dialect))) is None
    sent = body(ModelRequest(told))["messages"]
    calls = [call for message in told for call in message.calls]
    sent_calls = [call for message in sent for call in message.get("tool_calls", ())]
    assert [(call["id"], call["function"]["name"]) for call in sent_calls] == [
        (wire_id(call.id, 0), wire_name(call.name)) for call in calls
    ]
    answers = tool_answers(sent)
    for response in (response for message in told for response in message.responses):
        first = response_text(response.response).replace("\ud800", "\ufffd")
        assert answers[wire_id(response.id, 0)].startswith(first)


def test_a_whole_request() -> None:
    tool = FunctionDeclaration("read_file", "Reads.", {"type": "object", "properties": {}})
    told = (
        HELLO,
        model_message(Thought("hm", "sig"), "I look.", FunctionCall("read_file", {"path": "ä"}, "call_1", "sig")),
        user_message(FunctionResponse("read_file", {"output": "text"}, "call_1")),
    )
    request = ModelRequest(told, "Be brief.", (tool,), max_output_tokens=100, temperature=0.5)
    assert body(request) == {
        "model": "gpt-x",
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 100,
        "temperature": 0.5,
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "read_file",
                    "description": "Reads.",
                    "parameters": {"type": "object", "properties": {}},
                },
            }
        ],
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hello"},
            {
                "role": "assistant",
                "content": "I look.",
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "read_file", "arguments": '{"path":"ä"}'},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "call_1", "content": "text"},
        ],
    }


def test_a_bare_request() -> None:
    assert body(ModelRequest((HELLO,)), OpenAIDialect(supports_usage=False)) == {
        "model": "gpt-x",
        "stream": True,
        "messages": [{"role": "user", "content": "Hello"}],
    }


def test_what_a_server_does_not_take_is_left_out() -> None:
    request = ModelRequest((HELLO,), max_output_tokens=5, temperature=1.0)
    new = OpenAIDialect(
        supports_usage=False,
        limit_field=OutputLimitField.MAX_COMPLETION_TOKENS,
        refused_fields=frozenset({"temperature"}),
    )
    assert body(request, new).keys() == {"model", "stream", "max_completion_tokens", "messages"}
    assert body(request, replace(new, limit_field=OutputLimitField.NONE)).keys() == {"model", "stream", "messages"}


GENERATION = {
    "temperature": 0.5,
    "topP": 0.9,
    "topK": 4,
    "maxOutputTokens": 7,
    "stopSequences": ["END"],
    "seed": 3,
    "thinkingConfig": {"thinkingLevel": "LOW"},
}


def test_generation_settings_of_the_user() -> None:
    request = ModelRequest((HELLO,), temperature=0.0, generation=GENERATION)
    sent = body(request, OpenAIDialect(supports_usage=False))
    del sent["model"], sent["stream"], sent["messages"]
    assert sent == {
        "max_tokens": 7,
        "temperature": 0.5,
        "top_p": 0.9,
        "stop": ["END"],
        "seed": 3,
        "reasoning_effort": "low",
    }


@pytest.mark.parametrize(
    ("error", "change"),
    [
        ("Unsupported parameter: 'top_p'", {"refused_fields": frozenset({"top_p"})}),
        ("Unrecognized request argument: seed", {"refused_fields": frozenset({"seed"})}),
        ("Unsupported parameter: 'stop' is not supported", {"refused_fields": frozenset({"stop"})}),
        ("Unknown parameter: 'reasoning_effort'", {"refused_fields": frozenset({"reasoning_effort"})}),
        (
            "Unsupported value: 'reasoning_effort' does not support 'low'. Supported values are: 'medium', and 'high'.",
            {"effort": Effort.MEDIUM},
        ),
    ],
)
def test_settings_that_a_server_refuses(error: str, change: Any) -> None:
    request = ModelRequest((HELLO,), generation=GENERATION)
    assert adapt_dialect(OpenAIDialect(), request, error) == replace(OpenAIDialect(), **change)


def test_an_effort_that_is_refused_twice_is_left_out() -> None:
    request = ModelRequest((HELLO,), generation=GENERATION)
    error = "'reasoning_effort' is wrong. Supported values are: 'medium'"
    dialect = adapt_dialect(OpenAIDialect(effort=Effort.MEDIUM), request, error)
    assert dialect is not None
    assert dialect.refused_fields == {"reasoning_effort"}


def test_pictures_that_services_would_reject_are_left_out() -> None:
    wide = InlineData("image/png", png(2, 8001))
    (message,) = messages(user_message(InlineData("image/png", png()), wide))
    picture, text = message["content"]
    assert picture["type"] == "image_url"
    reason = "it has more than 8000 pixels on a side"
    assert text == {"type": "text", "text": f"[image/png of {len(wide.data)} bytes was left out: {reason}.]"}


def test_answers_of_tools_follow_their_calls_and_the_rest_follows_them() -> None:
    told = user_message(
        FunctionResponse("look", {"output": "done"}, "a"),
        "more of it",
        PICTURE,
        FunctionResponse("read", {"error": "gone"}, "b"),
        FileData("image/png", "https://example.org/p.png"),
        "And now?",
    )
    assert messages(told) == [
        {"role": "tool", "tool_call_id": "a", "content": "done\nmore of it"},
        {"role": "tool", "tool_call_id": "b", "content": '{"error":"gone"}'},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "From look:"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}},
                {"type": "text", "text": "From read:"},
                {"type": "image_url", "image_url": {"url": "https://example.org/p.png"}},
                {"type": "text", "text": "And now?"},
            ],
        },
    ]


def test_media() -> None:
    told = user_message(
        InlineData("audio/wav", b"w"),
        InlineData("audio/mpeg", b"m"),
        InlineData("application/pdf", b"p"),
        InlineData("video/mp4", b"v"),
        FileData("application/pdf", "gs://x"),
    )
    assert messages(told)[0]["content"] == [
        {"type": "input_audio", "input_audio": {"data": "dw==", "format": "wav"}},
        {"type": "input_audio", "input_audio": {"data": "bQ==", "format": "mp3"}},
        {"type": "file", "file": {"filename": "document.pdf", "file_data": "data:application/pdf;base64,cA=="}},
        {"type": "text", "text": "[video/mp4 of 1 bytes was left out: this service does not take it.]"},
        {"type": "text", "text": "[application/pdf at gs://x was left out: this service does not take it.]"},
    ]
    assert messages(user_message("see", PICTURE), dialect=OpenAIDialect(supports_media=False)) == [
        {"role": "user", "content": "see\n[image/png of 4 bytes was left out: this model takes only text.]"}
    ]


def test_an_answer_that_says_nothing_says_so() -> None:
    told = (HELLO, model_message(Thought("hm"), Opaque("gemini", {"x": 1})), user_message("Well?"))
    assert messages(*told)[1] == {"role": "assistant", "content": "(no text)"}


def test_calls_without_words() -> None:
    told = model_message(Thought("hm"), FunctionCall("look", {}), FunctionCall("look", {}))
    call = {"type": "function", "function": {"name": "look", "arguments": "{}"}}
    calls = [{"id": "call_0", **call}, {"id": "call_1", **call}]
    assert messages(told) == [{"role": "assistant", "content": None, "tool_calls": calls}]


def test_a_user_who_says_nothing_that_can_be_sent() -> None:
    assert messages(user_message(Opaque("gemini", {}))) == [{"role": "user", "content": ""}]


def test_thoughts_go_back_where_they_are_wanted() -> None:
    told = (HELLO, model_message(Thought("h"), Thought("m"), "Hi"), user_message("Well?"), model_message("Ho"), HELLO)
    sent = messages(*told, dialect=OpenAIDialect(returns_reasoning=True))
    assert [message.get("reasoning_content") for message in sent] == [None, "hm", None, "", None]


def test_an_answer_in_json() -> None:
    request = ModelRequest((HELLO,), "Be brief.", response_schema=SCHEMA)
    wish = (
        f"Answer with JSON and nothing else. It must fit this JSON schema:\n{json.dumps(SCHEMA, separators=(',', ':'))}"
    )
    by_schema = body(request)
    assert by_schema["response_format"] == {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA}}
    assert by_schema["messages"][0]["content"] == "Be brief."
    by_object = body(request, OpenAIDialect(json_mode=OpenAIJsonMode.OBJECT))
    assert by_object["response_format"] == {"type": "json_object"}
    assert by_object["messages"][0]["content"] == f"Be brief.\n\n{wish}"
    by_words = body(replace(request, system=""), OpenAIDialect(json_mode=OpenAIJsonMode.PROMPT))
    assert "response_format" not in by_words
    assert by_words["messages"][0]["content"] == wish


PLAIN = ModelRequest((HELLO,))
FULL = ModelRequest((user_message("see", PICTURE),), response_schema=SCHEMA, max_output_tokens=9, temperature=0.0)
NEW_LIMIT = {"limit_field": OutputLimitField.MAX_COMPLETION_TOKENS}
NO_HEAT = {"refused_fields": frozenset({"temperature"})}
NO_LIMIT = {"limit_field": OutputLimitField.NONE}
OBJECT, PROMPT = {"json_mode": OpenAIJsonMode.OBJECT}, {"json_mode": OpenAIJsonMode.PROMPT}
NO_MEDIA, NO_USAGE_STREAMED, REASONING = (
    {"supports_media": False},
    {"supports_usage": False},
    {"returns_reasoning": True},
)
TOO_MUCH_SAID = (
    "Invalid 'tools[6].function.description': string too long. Expected a string with maximum length 1024, "
    "but got a string with length 2780 instead."
)


@pytest.mark.parametrize(
    ("before", "request_", "error", "expected"),
    [
        ({}, PLAIN, "Unrecognized request argument supplied: stream_options", NO_USAGE_STREAMED),
        ({}, PLAIN, "body.stream_options.include_usage: extra fields not permitted", NO_USAGE_STREAMED),
        (NO_USAGE_STREAMED, PLAIN, "stream_options", None),
        ({}, FULL, "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", NEW_LIMIT),
        (NEW_LIMIT, FULL, "Unknown field: max_completion_tokens", NO_LIMIT),
        ({}, FULL, "max_tokens is too large: 9. This model supports at most 4.", NO_LIMIT),
        ({}, PLAIN, "Unsupported parameter: max_tokens", None),
        (NO_LIMIT, FULL, "Unsupported parameter: max_tokens", None),
        ({}, FULL, "Unsupported value: 'temperature' does not support 0.0", NO_HEAT),
        ({}, PLAIN, "Unsupported value: 'temperature'", None),
        ({}, FULL, "response_format is not available", OBJECT),
        (OBJECT, FULL, "'response_format' must be 'text'", PROMPT),
        (PROMPT, FULL, "response_format", None),
        ({}, PLAIN, "response_format", None),
        ({}, PLAIN, "The `reasoning_content` in the thinking mode must be passed back", REASONING),
        (REASONING, PLAIN, "reasoning_content: unknown field", {}),
        ({}, FULL, "image input is not supported - hint: you may need to provide the mmproj", NO_MEDIA),
        ({}, PLAIN, "this model does not support images", None),
        (NO_MEDIA, FULL, "this model does not support images", None),
        ({}, FULL, "registry.ollama.ai/library/x does not support tools", None),
        ({}, PLAIN, TOO_MUCH_SAID, {"max_description": 1024}),
        ({"max_description": 1024}, PLAIN, TOO_MUCH_SAID, None),
        ({"max_description": 2048}, PLAIN, TOO_MUCH_SAID, {"max_description": 1024}),
        ({}, PLAIN, "Invalid 'tools[6].function.description': expected a string", None),
        ({}, FULL, "", None),
    ],
)  # fmt: skip
def test_a_refusal_teaches(
    before: dict[str, Any], request_: ModelRequest, error: str, expected: dict[str, Any] | None
) -> None:
    learned = adapt_dialect(OpenAIDialect(**before), request_, error)
    assert learned == (None if expected is None else OpenAIDialect(**expected))


def test_as_much_is_said_of_a_tool_as_the_server_takes() -> None:
    tool = FunctionDeclaration("run", "Runs everything.", {"type": "object", "properties": {}})
    sent = [
        json.loads(encode_head("m", ModelRequest((HELLO,), tools=(tool,)), dialect) + BODY_TAIL)
        for dialect in (USUAL, OpenAIDialect(max_description=4))
    ]
    assert [each["tools"][0]["function"]["description"] for each in sent] == ["Runs everything.", "Runs"]


def test_every_text_is_utf_8() -> None:
    assert messages(user_message(Text("half \ud800")))[0]["content"] == "half \ufffd"
