"""Conversations as Anthropic's messages take them."""

import json
from typing import Any

import pytest
from hypothesis import given, settings

from support.media_files import png
from support.message_strategies import TOOLS, legal_conversations
from support.model_servers.anthropic import find_problem
from support.model_servers.gemini import Received
from tejat.core.frozen import replace
from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.history import Message, Role, model_message, user_message
from tejat.core.messages.types import FileData, FunctionCall, FunctionResponse, InlineData, Opaque, Text, Thought
from tejat.core.model import ModelRequest
from tejat.models.anthropic.request import (
    ANSWER_TOOL,
    BODY_TAIL,
    AnthropicDialect,
    AnthropicJsonMode,
    ThinkingMode,
    adapt_dialect,
    add_cache_control,
    dialect_for_model,
    encode_count_head,
    encode_head,
    encode_message,
    is_thinking_block_error,
    preserve_block,
)
from tejat.models.wire.common import wire_arguments, wire_id, wire_name

MODEL = "claude-x"
OLD = AnthropicDialect(1000)
NEW = AnthropicDialect(
    1000, ThinkingMode.SUMMARIZED, (AnthropicJsonMode.FORMAT, AnthropicJsonMode.TOOL, AnthropicJsonMode.PROMPT)
)
HEADERS = {"x-api-key": "k", "anthropic-version": "2023-06-01"}
MARK = {"cache_control": {"type": "ephemeral"}}
PICTURE = InlineData("image/png", b"\x89PNG")
SCHEMA = {"type": "object", "properties": {"answer": {"type": "object", "properties": {}}, "map": {"type": "object"}}}
HELLO = user_message("Hello")


def raw(
    request: ModelRequest, dialect: AnthropicDialect = OLD, *, thinker: str | None = MODEL, media: bool = True
) -> bytes:
    pieces = [encode_message(message, thinking_model=thinker, media=media) for message in request.messages]
    return encode_head(MODEL, request, dialect) + b",".join(pieces) + BODY_TAIL


def body(request: ModelRequest, dialect: AnthropicDialect = OLD) -> Any:
    return json.loads(raw(request, dialect))


def content(message: Message, *, thinker: str | None = MODEL, media: bool = True) -> Any:
    encoded = json.loads(encode_message(message, thinking_model=thinker, media=media))
    assert encoded["role"] == ("assistant" if message.role is Role.MODEL else "user")
    return encoded["content"]


@settings(max_examples=60, deadline=None)
@given(legal_conversations())
def test_the_service_takes_every_legal_conversation(told: list[Message]) -> None:
    for tools in (TOOLS, ()):
        for dialect in (OLD, NEW):
            for request in (ModelRequest(told, "Be brief.", tools), ModelRequest(told, " ", tools, SCHEMA)):
                for media in (True, False):
                    sent = raw(request, dialect, media=media)
                    assert find_problem(Received("POST", "/v1/messages", HEADERS, sent)) is None
    blocks = [block for message in body(ModelRequest(told))["messages"] for block in message["content"]]
    assert [(block["id"], block["name"]) for block in blocks if block["type"] == "tool_use"] == [
        (wire_id(call.id, 0), wire_name(call.name)) for message in told for call in message.calls
    ]
    assert [(block["tool_use_id"], "is_error" in block) for block in blocks if block["type"] == "tool_result"] == [
        (wire_id(response.id, 0), "error" in response.response) for message in told for response in message.responses
    ]


@settings(max_examples=40, deadline=None)
@given(legal_conversations())
def test_every_message_of_the_user_can_be_marked(told: list[Message]) -> None:
    for message in told:
        if message.role is Role.USER:
            encoded = encode_message(message, thinking_model=None, media=True)
            marked = json.loads(add_cache_control(encoded))
            assert marked["content"][-1].pop("cache_control") == {"type": "ephemeral"}
            assert marked == json.loads(encoded)


def test_a_whole_request() -> None:
    tool = FunctionDeclaration("read_file", "Reads.", {"type": "object", "properties": {}})
    told = (
        HELLO,
        model_message("I look.", FunctionCall("read_file", {"path": "ä"}, "toolu_1", "sig")),
        user_message(FunctionResponse("read_file", {"output": "text"}, "toolu_1")),
    )
    request = ModelRequest(told, "Be brief.", (tool,), max_output_tokens=100, temperature=0.5)
    schema = {"type": "object", "properties": {}}
    assert body(request) == {
        "model": MODEL,
        "max_tokens": 100,
        "stream": True,
        "temperature": 0.5,
        "system": [{"type": "text", "text": "Be brief.", **MARK}],
        "tools": [{"name": "read_file", "description": "Reads.", "input_schema": schema, **MARK}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Hello"}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "I look."},
                    {"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {"path": "ä"}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "text"}]}
                ],
            },
        ],
    }


def test_what_is_asked_of_a_model_that_thinks() -> None:
    request = ModelRequest((HELLO,), temperature=0.5, max_output_tokens=10**9)
    shown = body(request, NEW)
    assert shown["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert (shown["max_tokens"], "temperature" in shown, "system" in shown, "tools" in shown) == (
        1000,
        False,
        False,
        False,
    )
    assert body(request, replace(NEW, thinking=ThinkingMode.ADAPTIVE))["thinking"] == {"type": "adaptive"}
    assert "thinking" not in body(request, OLD)


def test_without_caching_there_are_no_marks() -> None:
    assert b"cache_control" not in raw(ModelRequest((HELLO,), "Be brief.", TOOLS), replace(OLD, supports_caching=False))


def test_a_count_is_of_what_would_be_sent() -> None:
    request = ModelRequest((HELLO,), "Be brief.", TOOLS, temperature=1.0)
    counted = json.loads(encode_count_head(MODEL, request, NEW) + BODY_TAIL)
    assert counted.keys() == {"model", "thinking", "system", "tools", "messages"}


THOUGHT = {"type": "thinking", "thinking": "hm ", "signature": "AbC+/=="}
HIDDEN = {"type": "redacted_thinking", "data": "xyz"}


class TestThoughts:
    def answer_message(self, model: str = MODEL) -> Message:
        return model_message(
            Thought("hm ", "a signature of somebody else"),
            preserve_block(THOUGHT, model),
            "First this.",
            FunctionCall("a", {}, "1"),
            preserve_block(HIDDEN, model),
            FunctionCall("b", {}, "2"),
        )

    def test_they_go_back_as_they_were_and_where_they_were(self) -> None:
        assert content(self.answer_message()) == [
            THOUGHT,
            {"type": "text", "text": "First this."},
            {"type": "tool_use", "id": "1", "name": "a", "input": {}},
            HIDDEN,
            {"type": "tool_use", "id": "2", "name": "b", "input": {}},
        ]

    def test_not_to_another_model_and_not_when_unwanted(self) -> None:
        plain = [
            {"type": "text", "text": "First this."},
            {"type": "tool_use", "id": "1", "name": "a", "input": {}},
            {"type": "tool_use", "id": "2", "name": "b", "input": {}},
        ]
        assert content(self.answer_message("claude-y")) == content(self.answer_message(), thinker=None) == plain

    def test_a_message_of_nothing_else(self) -> None:
        told = model_message(Thought("hm"), preserve_block(THOUGHT, MODEL), Opaque("gemini", {"block": {}}))
        assert content(told) == [THOUGHT]
        assert content(told, thinker=None) == [{"type": "text", "text": "(no text)"}]


def test_calls_of_another_service_come_last() -> None:
    told = model_message(FunctionCall("a", {}, "1"), "After.", FunctionCall("b", {}, "2"), " \n")
    assert [block["type"] for block in content(told)] == ["text", "tool_use", "tool_use"]
    assert [block["id"] for block in content(told)[1:]] == ["1", "2"]


def test_results_hold_what_follows_them() -> None:
    told = user_message(
        FunctionResponse("look", {"output": "done"}, "a"),
        "more of it",
        PICTURE,
        FunctionResponse("read", {"error": "gone"}, "b"),
        PICTURE,
        FunctionResponse("odd", {"error": "half", "output": " "}, "c"),
        FunctionResponse("none", {"output": " "}, "d"),
        "And now?",
        PICTURE,
    )
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw=="}}

    def text(words: str) -> dict[str, str]:
        return {"type": "text", "text": words}

    assert content(told) == [
        {"type": "tool_result", "tool_use_id": "a", "content": [text("done"), text("more of it"), image]},
        {"type": "tool_result", "tool_use_id": "b", "content": [text("gone"), image], "is_error": True},
        {
            "type": "tool_result",
            "tool_use_id": "c",
            "content": [text('{"error":"half","output":" "}')],
            "is_error": True,
        },
        {"type": "tool_result", "tool_use_id": "d", "content": []},
        text("And now?"),
        image,
    ]


def test_an_image_with_too_many_pixels_is_left_out() -> None:
    image = png(8000, 2)
    assert content(user_message(InlineData("image/png", image)))[0]["type"] == "image"
    too_many = "it has more than 8000 pixels on a side"
    for large, reason in ((png(8001, 2), too_many), (png(2, 8001), too_many), (image[:-20], "it is damaged")):
        expected = f"[image/png of {len(large)} bytes was left out: {reason}.]"
        assert content(user_message(InlineData("image/png", large))) == [{"type": "text", "text": expected}]


def test_media() -> None:
    told = user_message(
        InlineData("application/pdf", b"p"),
        FileData("application/pdf", "https://example.org/a.pdf"),
        FileData("image/png", "https://example.org/a.png"),
        FileData("image/png", "gs://x"),
        InlineData("audio/wav", b"w"),
        InlineData("image/png", b"0" * 4 * 2**20),
        InlineData("application/pdf", b"0" * 16 * 2**20),
    )
    left_out = (
        "[application/pdf of 16777216 bytes was left out: it is too large for this service. "
        "`read_file` with `offset` and `limit` gives its text.]"
    )
    assert content(told) == [
        {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "cA=="}},
        {"type": "document", "source": {"type": "url", "url": "https://example.org/a.pdf"}},
        {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}},
        {"type": "text", "text": "[image/png at gs://x was left out: this service does not take it.]"},
        {"type": "text", "text": "[audio/wav of 1 bytes was left out: this service does not take it.]"},
        {"type": "text", "text": "[image/png of 4194304 bytes was left out: it is too large for this service.]"},
        {"type": "text", "text": left_out},
    ]
    assert content(user_message(PICTURE), media=False) == [
        {"type": "text", "text": "[image/png of 4 bytes was left out: there is no room for it.]"}
    ]


class TestAnswersInJson:
    REQUEST = ModelRequest((HELLO,), "Be brief.", TOOLS, SCHEMA)

    def test_by_format(self) -> None:
        sent = body(self.REQUEST, NEW)
        closed = {
            "type": "object",
            "properties": {
                "answer": {"type": "object", "properties": {}, "additionalProperties": False},
                "map": {"type": "object"},
            },
            "additionalProperties": False,
        }
        assert sent["output_config"] == {"format": {"type": "json_schema", "schema": closed}}
        assert (len(sent["tools"]), "thinking" in sent, "tool_choice" in sent) == (3, True, False)

    def test_by_a_tool_that_must_be_called(self) -> None:
        sent = body(self.REQUEST, replace(NEW, json_modes=(AnthropicJsonMode.TOOL,)))
        assert sent["tools"] == [{"name": ANSWER_TOOL, "description": "Gives the answer.", "input_schema": SCHEMA}]
        assert sent["tool_choice"] == {"type": "tool", "name": ANSWER_TOOL}
        assert ("thinking" in sent, "output_config" in sent) == (False, False)

    def test_by_words(self) -> None:
        sent = body(self.REQUEST, replace(NEW, json_modes=(AnthropicJsonMode.PROMPT,)))
        assert sent["system"][0]["text"].startswith("Be brief.\n\nAnswer with JSON and nothing else.")
        assert ("thinking" in sent, "output_config" in sent, "tool_choice" in sent) == (True, False, False)


def test_old_calls_need_tools() -> None:
    told = (
        HELLO,
        model_message(FunctionCall("b.c", {}, "1"), FunctionCall("a", {}, "2"), FunctionCall("a", {}, "3")),
        user_message(*(FunctionResponse("x", {}, call_id) for call_id in "123")),
    )
    sent = body(ModelRequest(told))
    schema = {"type": "object", "properties": {}}
    assert sent["tools"] == [{"name": name, "input_schema": schema} for name in ("a", wire_name("b.c"))]
    assert sent["tool_choice"] == {"type": "none"}


@pytest.mark.parametrize(
    ("model", "most", "thinks"),
    [
        ("claude-3-opus-20240229", 4096, False),
        ("claude-3-5-sonnet-20241022", 8192, False),
        ("claude-3-7-sonnet-latest", 64_000, False),
        ("claude-opus-4-20250514", 32_000, False),
        ("claude-opus-4-1", 32_000, False),
        ("claude-sonnet-4-20250514", 64_000, False),
        ("claude-opus-4-5-20251101", 64_000, False),
        ("claude-haiku-4-5", 64_000, False),
        ("claude-opus-4-6", 64_000, True),
        ("claude-sonnet-5", 64_000, True),
        ("claude-opus-5-5", 64_000, True),
        ("anthropic/claude-opus-4.7", 64_000, True),
        ("deepseek-chat", 32_000, False),
    ],
)
def test_what_a_name_tells(model: str, most: int, thinks: bool) -> None:
    dialect = dialect_for_model(model)
    assert dialect.max_output == most
    assert (dialect.thinking is ThinkingMode.SUMMARIZED) == thinks
    assert (dialect.json_modes[0] is AnthropicJsonMode.FORMAT) == thinks
    assert dialect.json_modes[-1] is AnthropicJsonMode.PROMPT


PLAIN = ModelRequest((HELLO,))
FULL = ModelRequest((user_message("see", PICTURE),), response_schema=SCHEMA, temperature=0.0)
BY_TOOL = (AnthropicJsonMode.TOOL, AnthropicJsonMode.PROMPT)


@pytest.mark.parametrize(
    ("dialect", "request_", "refusal", "expected"),
    [
        (OLD, PLAIN, "max_tokens: 1000 > 512, which is the maximum allowed", AnthropicDialect(512)),
        (OLD, PLAIN, "max_tokens: 1 > 5000, which is odd", None),
        (OLD, PLAIN, "system.0.cache_control: Extra inputs are not permitted", replace(OLD, supports_caching=False)),
        (replace(OLD, supports_caching=False), PLAIN, "cache_control", None),
        (NEW, FULL, "output_config: Extra inputs are not permitted", replace(NEW, json_modes=BY_TOOL)),
        (NEW, FULL, "output_config.format.schema: too complex", replace(NEW, json_modes=BY_TOOL)),
        (
            OLD,
            FULL,
            "tool_choice: forced tool use is not supported",
            replace(OLD, json_modes=(AnthropicJsonMode.PROMPT,)),
        ),
        (replace(OLD, json_modes=(AnthropicJsonMode.PROMPT,)), FULL, "tool_choice", None),
        (NEW, PLAIN, "output_config", None),
        (NEW, PLAIN, "thinking.adaptive.display: Extra inputs", replace(NEW, thinking=ThinkingMode.ADAPTIVE)),
        (NEW, PLAIN, "adaptive thinking is not supported on this model", replace(NEW, thinking=ThinkingMode.OFF)),
        (OLD, PLAIN, "thinking", None),
        (OLD, FULL, "`temperature` is deprecated for this model", replace(OLD, supports_temperature=False)),
        (OLD, PLAIN, "temperature", None),
        (OLD, FULL, "messages.0.content.1.image.source.base64: The image is bad", replace(OLD, supports_media=False)),
        (OLD, PLAIN, "image", None),
        (OLD, FULL, "", None),
    ],
)
def test_a_refusal_teaches(
    dialect: AnthropicDialect, request_: ModelRequest, refusal: str, expected: AnthropicDialect | None
) -> None:
    assert adapt_dialect(dialect, request_, refusal) == expected


def test_thoughts_that_are_refused_are_known_by_the_words() -> None:
    assert is_thinking_block_error("messages.1.content.0: Invalid `signature` in `thinking` block")
    assert is_thinking_block_error("`thinking` blocks in the latest assistant message cannot be modified")
    assert not is_thinking_block_error("adaptive thinking is not supported on this model")
    assert not is_thinking_block_error("text content blocks must be non-empty")


def test_every_text_is_utf_8() -> None:
    assert content(user_message(Text("half \ud800"))) == [{"type": "text", "text": "half \ufffd"}]


ODD = {
    "type": "object",
    "properties": {
        "$select": {"type": "string", "description": "Which."},
        "filter[x]": {},
        "plain": {},
        "größe": True,
    },
    "required": ["$select", "plain"],
}
ODATA = FunctionDeclaration("odata", "Asks.", ODD)


class TestNamesOfParameters:
    """Those that the service does not take have stand-ins, in what is declared and in old calls."""

    def test_what_is_declared(self) -> None:
        sent = body(ModelRequest((HELLO,), tools=(ODATA,)))
        assert find_problem(Received("POST", "/v1/messages", HEADERS, json.dumps(sent).encode())) is None
        select, filtering, size = (wire_key(key) for key in ("$select", "filter[x]", "größe"))
        assert sent["tools"][0]["input_schema"] == {
            "type": "object",
            "properties": {
                select: {"type": "string", "description": '"$select": Which.'},
                filtering: {"description": '"filter[x]"'},
                "plain": {},
                size: True,
            },
            "required": [select, "plain"],
        }
        assert ODD["required"] == ["$select", "plain"]

    def test_what_was_called(self) -> None:
        given = {"$select": {"$inner": 1}, "plain": 2}
        (block,) = content(model_message(FunctionCall("odata", given, "1")))
        assert block["input"] == {wire_key("$select"): {"$inner": 1}, "plain": 2}


def wire_key(key: str) -> str:
    return next(iter(wire_arguments({key: 1})))


GENERATION = {
    "temperature": 0.5,
    "topP": 0.9,
    "maxOutputTokens": 7,
    "stopSequences": ["END"],
    "seed": 3,
    "thinkingConfig": {"thinkingLevel": "MINIMAL"},
}


@pytest.mark.parametrize(
    ("dialect", "sent"),
    [
        (OLD, {"temperature": 0.5, "stop_sequences": ["END"], "max_tokens": 7}),
        (replace(OLD, supports_temperature=False), {"top_p": 0.9, "stop_sequences": ["END"], "max_tokens": 7}),
        (
            replace(NEW, supports_effort=True),
            {
                "stop_sequences": ["END"],
                "max_tokens": 7,
                "thinking": {"type": "adaptive", "display": "summarized"},
                "output_config": {"effort": "low"},
            },
        ),
    ],
)
def test_generation_settings_of_the_user(dialect: AnthropicDialect, sent: Any) -> None:
    head = encode_head(MODEL, ModelRequest([user_message("hi")], generation=GENERATION), dialect)
    assert json.loads(head + b"]}") == {"model": MODEL, "stream": True, "messages": [], **sent}


def test_settings_that_the_service_refuses() -> None:
    request = ModelRequest([user_message("hi")], generation=GENERATION)
    able = replace(NEW, supports_effort=True)
    assert adapt_dialect(able, request, "effort is not supported by this model") == NEW
    assert adapt_dialect(OLD, request, "`top_p` is deprecated") == replace(OLD, supports_top_p=False)
