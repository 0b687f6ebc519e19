"""Conversations as the Responses API takes them."""

import json
from typing import Any

import pytest
from hypothesis import given, settings

from support.media_files import png
from support.message_strategies import TOOLS, legal_conversations
from support.model_servers.gemini import Received
from support.model_servers.responses import find_problem
from tejat.core.frozen import replace
from tejat.core.messages.history import Message, model_message, user_message
from tejat.core.messages.types import FileData, FunctionCall, FunctionResponse, InlineData, Opaque, Text, Thought
from tejat.core.model import ModelRequest
from tejat.models.openai.responses_request import (
    BODY_TAIL,
    ResponsesDialect,
    adapt_dialect,
    dialect_for_model,
    encode_head,
    encode_message,
    is_reasoning_error,
    preserve_item,
    preserve_phase,
)
from tejat.models.wire.generation import Effort

MODEL = "gpt-6"
ABLE = ResponsesDialect()
PLAIN = ResponsesDialect(reasons=False, summarizes=False)
HELLO = user_message("Hello")
SCHEMA = {"type": "object", "properties": {"answer": {"type": "string"}}}
PICTURE = InlineData("image/png", png())


def raw(request: ModelRequest, dialect: ResponsesDialect = ABLE, *, reasoning: bool = True) -> bytes:
    model = MODEL if reasoning else None
    messages = [encode_message(each, reasoning_model=model, media=dialect.supports_media) for each in request.messages]
    return encode_head(MODEL, request, dialect, cache_key="k") + b",".join(messages) + BODY_TAIL


def body(request: ModelRequest, dialect: ResponsesDialect = ABLE) -> Any:
    return json.loads(raw(request, dialect))


def items(*messages: Message, reasoning_model: str | None = MODEL, media: bool = True) -> list[Any]:
    encoded = [encode_message(each, reasoning_model=reasoning_model, media=media) for each in messages]
    return json.loads(b"[" + b",".join(encoded) + b"]")


@settings(max_examples=150)
@given(legal_conversations())
def test_every_conversation_is_accepted(messages: list[Message]) -> None:
    for dialect in (ABLE, replace(PLAIN, supports_media=False)):
        request = ModelRequest(messages, "Be brief.", TOOLS)
        assert find_problem(Received("POST", "/v1/responses", {}, raw(request, dialect))) is None


def test_a_whole_request() -> None:
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"}
    said = model_message(
        Thought("hm"),
        preserve_item(reasoning, MODEL),
        Text("I look."),
        FunctionCall("read_file", {"path": "ä"}, "call_1"),
    )
    result = user_message(FunctionResponse("read_file", {"output": "text"}, "call_1"))
    request = ModelRequest((HELLO, said, result), "Be brief.", TOOLS[:1], max_output_tokens=100, temperature=0.5)
    assert body(request) == {
        "model": MODEL,
        "stream": True,
        "store": False,
        "prompt_cache_key": "k",
        "include": ["reasoning.encrypted_content"],
        "reasoning": {"summary": "auto"},
        "max_output_tokens": 100,
        "temperature": 0.5,
        "instructions": "Be brief.",
        "tools": [
            {
                "type": "function",
                "name": "read_file",
                "description": "Reads a file.",
                "parameters": {"type": "object", "properties": {"path": {"type": "string"}}},
                "strict": False,
            }
        ],
        "input": [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello"}]},
            reasoning,
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
            {"type": "function_call", "call_id": "call_1", "name": "read_file", "arguments": '{"path":"ä"}'},
            {"type": "function_call_output", "call_id": "call_1", "output": "text"},
        ],
    }


def test_a_bare_request() -> None:
    request = ModelRequest((HELLO,))
    assert body(request, replace(PLAIN, supports_cache_key=False)).keys() == {"model", "stream", "store", "input"}


def test_json_on_request() -> None:
    request = ModelRequest((HELLO,), response_schema=SCHEMA)
    assert body(request)["text"]["format"] == {
        "type": "json_schema",
        "name": "answer",
        "schema": SCHEMA,
        "strict": False,
    }
    worded = body(request, replace(ABLE, supports_schema=False))
    assert "text" not in worded
    assert "JSON schema" in worded["instructions"]


def test_generation_settings_of_the_user() -> None:
    generation = {"topP": 0.9, "seed": 3, "maxOutputTokens": 5, "thinkingConfig": {"thinkingLevel": "LOW"}}
    sent = body(ModelRequest((HELLO,), generation=generation))
    assert sent["reasoning"] == {"summary": "auto", "effort": "low"}
    assert (sent["top_p"], sent["max_output_tokens"], "seed" in sent) == (0.9, 16, False)
    able = replace(ABLE, effort=Effort.MEDIUM, refused_fields=frozenset({"top_p", "max_output_tokens"}))
    sent = body(ModelRequest((HELLO,), generation=generation), able)
    assert sent["reasoning"]["effort"] == "medium"
    assert not {"top_p", "max_output_tokens"} & sent.keys()


@pytest.mark.parametrize(
    ("model", "reasons"),
    [
        *((name, True) for name in ("gpt-6.1-sol", "gpt-5", "o4-mini", "codex-mini", "gpt-10")),
        *((name, False) for name in ("gpt-4.1", "gpt-4o", "gpt-5-chat-latest", "gpt-3.5-turbo")),
    ],
)
def test_which_models_reason(model: str, reasons: bool) -> None:
    assert dialect_for_model(model).reasons is reasons


def test_reasoning_of_others_stays_here() -> None:
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"}
    message = model_message(
        preserve_item(reasoning, "gpt-5"), Opaque("gemini", {"model": MODEL, "item": {}}), Text("a")
    )
    assert [item["type"] for item in items(message)] == ["message"]
    own = model_message(preserve_item(reasoning, MODEL), Text("a"))
    assert [item["type"] for item in items(own)] == ["reasoning", "message"]
    assert [item["type"] for item in items(own, reasoning_model=None)] == ["message"]


def test_the_phase_of_a_text_goes_back() -> None:
    message = model_message(preserve_phase("commentary", MODEL), Text("I look."), FunctionCall("f", {}, "call_1"))
    said, _ = items(message)
    assert said["phase"] == "commentary"
    assert "phase" not in items(message, reasoning_model="gpt-5")[0]


def test_media_go_with_their_result() -> None:
    told = user_message(
        FunctionResponse("shot", {"output": "done"}, "a"),
        PICTURE,
        FunctionResponse("read", {"error": "gone"}, "b"),
        "And now?",
        InlineData("application/pdf", b"p"),
        FileData("image/png", "https://example.org/p.png"),
        FileData("application/pdf", "https://example.org/p.pdf"),
        InlineData("audio/wav", b"w"),
    )
    shot, read, rest = items(told)
    assert [part["type"] for part in shot["output"]] == ["input_text", "input_image"]
    assert shot["output"][1]["image_url"].startswith("data:image/png;base64,")
    assert read["output"] == '{"error":"gone"}'
    kinds = [part["type"] for part in rest["content"]]
    assert kinds == ["input_text", "input_file", "input_image", "input_file", "input_text"]
    assert "was left out" in rest["content"][-1]["text"]
    (lean,) = items(user_message(PICTURE), media=False)
    assert "this model takes only text" in lean["content"][0]["text"]
    (wide,) = items(user_message(InlineData("image/png", png(8001, 1))))
    assert "more than 8000 pixels" in wide["content"][0]["text"]


FULL = ModelRequest(
    (user_message("see", PICTURE),),
    response_schema=SCHEMA,
    generation={"temperature": 1, "maxOutputTokens": 50, "thinkingConfig": {"thinkingLevel": "LOW"}},
)


@pytest.mark.parametrize(
    ("error", "change"),
    [
        ("Unknown parameter: 'prompt_cache_key'", {"supports_cache_key": False}),
        ("Your organization must be verified to generate reasoning summaries.", {"summarizes": False}),
        ("Encrypted content is not supported with this model.", {"reasons": False}),
        ("Unsupported parameter: 'temperature' is not supported", {"refused_fields": frozenset({"temperature"})}),
        ("'max_output_tokens' is too large", {"refused_fields": frozenset({"max_output_tokens"})}),
        ("Unsupported value: 'reasoning.effort'. Supported values are: 'high'.", {"effort": Effort.HIGH}),
        ("Unsupported parameter: 'reasoning.effort'", {"refused_fields": frozenset({"reasoning_effort"})}),
        ("Unsupported parameter: 'reasoning'", {"reasons": False, "summarizes": False}),
        ("Invalid schema for response_format", {"supports_schema": False}),
        ("This model does not support image inputs", {"supports_media": False}),
        ("Something else is wrong", None),
    ],
)
def test_what_a_server_rejects(error: str, change: Any) -> None:
    adapted = adapt_dialect(ABLE, FULL, error)
    assert adapted == (None if change is None else replace(ABLE, **change))
    if adapted is not None and "effort" not in (change or {}):
        assert adapt_dialect(adapted, FULL, error) != adapted


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ("The encrypted content gAAA could not be verified. Reason: could not be decrypted.", True),
        ("Item 'rs_1' of type 'reasoning' was provided without its required following item.", True),
        ("Encrypted content is not supported with this model.", False),
        ("The model is overloaded", False),
    ],
)
def test_errors_about_reasoning_that_was_sent_back(error: str, expected: bool) -> None:
    assert is_reasoning_error(error) is expected
