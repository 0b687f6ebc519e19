import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.media_files import png
from support.model_servers.gemini import read_message
from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.history import GENERATED_ID_PREFIX, Message, Role, model_message, user_message
from tejat.core.messages.types import (
    FileData,
    FunctionCall,
    FunctionResponse,
    InlineData,
    MessagePart,
    Opaque,
    Text,
    Thought,
)
from tejat.core.model import Capability, ModelRequest
from tejat.models.gemini.request import NAME_PATTERN, GeminiEncoder, refused_values
from tejat.models.wire.common import wire_name

OLDER, NEWER = GeminiEncoder("gemini-2.5-pro"), GeminiEncoder("gemini-3-pro-preview")
STAND_IN = "skip_thought_signature_validator"

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(st.text(max_size=5), JSON, max_size=3)
SIGNATURES = st.none() | st.text("ABCabc019+/=", min_size=1, max_size=12)
IDS = st.none() | st.text(min_size=1, max_size=8) | st.just(f"{GENERATED_ID_PREFIX}1")
KINDS = st.sampled_from(["image/png", "audio/wav", "application/pdf", "video/mp4"])
PARTS: st.SearchStrategy[MessagePart] = st.one_of(
    st.builds(Text, st.text(max_size=20), SIGNATURES),
    st.builds(Thought, st.text(max_size=20), SIGNATURES),
    st.builds(InlineData, KINDS, st.binary(max_size=8)),
    st.builds(FileData, KINDS, st.text(max_size=20)),
    st.builds(FunctionCall, st.text(min_size=1, max_size=9), OBJECTS, IDS, SIGNATURES),
    st.builds(FunctionResponse, st.text(min_size=1, max_size=9), OBJECTS, IDS),
    st.builds(Opaque, st.sampled_from(["gemini", "anthropic"]), st.builds(lambda value: {"other": value}, JSON)),
)
MESSAGES = st.builds(Message, st.sampled_from(Role), st.lists(PARTS, min_size=1, max_size=6).map(tuple))


def encoded(dialect: GeminiEncoder, message: Message) -> Any:
    return json.loads(dialect.encode_message(message))


def what_is_sent(part: MessagePart) -> MessagePart | None:
    """The part as the service is to understand it, or None for one that stays here."""
    match part:
        case Text("", None) | Thought(_, None) | Opaque("anthropic"):
            return None
        case FunctionCall(name, args, own, signature):
            return FunctionCall(wire_name(name, NAME_PATTERN), args, own_or_none(own), signature)
        case FunctionResponse(name, response, own):
            return FunctionResponse(wire_name(name, NAME_PATTERN), response, own_or_none(own))
        case _:
            return part


def own_or_none(call_id: str | None) -> str | None:
    """The service is told only ids that it gave itself."""
    return None if call_id is None or call_id.startswith(GENERATED_ID_PREFIX) else call_id


@settings(max_examples=250)
@given(message=MESSAGES)
def test_the_service_understands_what_was_meant(message: Message) -> None:
    meant = tuple(sent for part in message.parts if (sent := what_is_sent(part)) is not None)
    understood = read_message(encoded(OLDER, message))
    assert (understood.role, understood.parts) == (message.role, meant or (Text(" "),))


@settings(max_examples=250)
@given(message=MESSAGES)
def test_newer_models_get_the_same_parts_with_media_in_their_place(message: Message) -> None:
    older, newer = (read_message(encoded(dialect, message)).parts for dialect in (OLDER, NEWER))
    first = next((part for part in older if isinstance(part, FunctionCall)), None)
    signed = [
        FunctionCall(part.name, part.args, part.id, part.signature or STAND_IN)
        if part is first and isinstance(part, FunctionCall)
        else part
        for part in older
    ]
    assert sorted(map(repr_with_signature, newer)) == sorted(map(repr_with_signature, signed))
    kept = (Text, Thought, FunctionCall, FunctionResponse, Opaque)
    assert [part for part in newer if isinstance(part, kept)] == [part for part in signed if isinstance(part, kept)]


def repr_with_signature(part: MessagePart) -> str:
    return f"{part!r} {getattr(part, 'signature', None)} {getattr(part, 'data', None)}"


def test_pictures_that_the_service_would_reject_are_left_out() -> None:
    wide, cut = png(8001, 2), png()[:-20]
    message = user_message(
        FunctionResponse("shot", {"output": "done"}), *(InlineData("image/png", data) for data in (png(), wide, cut))
    )
    for encoder in (OLDER, NEWER):
        parts = encoded(encoder, message)["parts"]
        assert [part["text"] for part in parts if "text" in part] == [
            f"[image/png of {len(wide)} bytes was left out: it has more than 8000 pixels on a side.]",
            f"[image/png of {len(cut)} bytes was left out: it is damaged.]",
        ]


def test_signatures_stay_where_they_were_byte_for_byte() -> None:
    parts = (Text("a"), Text("", "x+/=="), FunctionCall("f", {}, "1", "EpoG\u00e9"), FunctionCall("g", {}, "2"))
    for dialect in (OLDER, NEWER):
        assert encoded(dialect, model_message(*parts))["parts"] == [
            {"text": "a"},
            {"text": "", "thoughtSignature": "x+/=="},
            {"functionCall": {"id": "1", "name": "f", "args": {}}, "thoughtSignature": "EpoG\u00e9"},
            {"functionCall": {"id": "2", "name": "g", "args": {}}},
        ]


def test_a_history_without_signatures() -> None:
    message = model_message(Thought("t", "s"), Text("a", "s"), FunctionCall("f", {}, "1", "s"), FunctionCall("g", {}))
    assert json.loads(NEWER.encode_message(message, signed=False))["parts"] == [
        {"text": "a"},
        {"functionCall": {"id": "1", "name": "f", "args": {}}, "thoughtSignature": STAND_IN},
        {"functionCall": {"name": "g", "args": {}}},
    ]
    unknown = model_message(Opaque("gemini", {"executableCode": {"code": "1"}, "thoughtSignature": "s"}))
    assert json.loads(NEWER.encode_message(unknown, signed=False))["parts"] == [{"executableCode": {"code": "1"}}]


def test_media_of_function_responses() -> None:
    picture, sound = InlineData("image/png", b"\x00\xff"), InlineData("audio/wav", b"w")
    message = user_message(FunctionResponse("f", {"output": "see"}, "1"), picture, sound, "and this:", picture)
    as_picture = {"inlineData": {"mimeType": "image/png", "data": "AP8="}}
    as_sound = {"inlineData": {"mimeType": "audio/wav", "data": "dw=="}}
    response = {"id": "1", "name": "f", "response": {"output": "see"}}
    assert encoded(OLDER, message)["parts"] == [
        {"functionResponse": response},
        as_picture,
        as_sound,
        {"text": "and this:"},
        as_picture,
    ]
    assert encoded(NEWER, message)["parts"] == [
        {"functionResponse": {**response, "parts": [as_picture]}},
        as_sound,
        {"text": "and this:"},
        as_picture,
    ]


def test_words_in_the_place_of_media() -> None:
    message = user_message(FunctionResponse("f", {}), InlineData("image/png", b"123"), FileData("a/b", "gs://x"))
    for dialect in (OLDER, NEWER):
        assert json.loads(dialect.encode_message(message, media=False))["parts"] == [
            {"functionResponse": {"name": "f", "response": {}}},
            {"text": "[image/png of 3 bytes was left out: the conversation became too large.]"},
            {"fileData": {"mimeType": "a/b", "fileUri": "gs://x"}},
        ]


def test_half_characters_do_not_break_a_request() -> None:
    assert encoded(OLDER, user_message("a\ud800b"))["parts"] == [{"text": "a\ufffdb"}]


def rest(dialect: GeminiEncoder, request: ModelRequest) -> Any:
    return json.loads(b'{"x":0' + dialect.encode_request_fields(request) + b"}")


def test_the_rest_of_a_request() -> None:
    tool = FunctionDeclaration("run", "Runs.", {"type": "object", "properties": {}})
    request = ModelRequest(
        [],
        system="Be brief.",
        tools=(tool,),
        response_schema={"type": "object"},
        max_output_tokens=9,
        temperature=0.0,
    )
    assert rest(OLDER, request) == {
        "x": 0,
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "tools": [
            {
                "functionDeclarations": [
                    {
                        "name": "run",
                        "description": "Runs.",
                        "parametersJsonSchema": {"type": "object", "properties": {}},
                    }
                ]
            }
        ],
        "generationConfig": {
            "temperature": 0.0,
            "maxOutputTokens": 9,
            "responseMimeType": "application/json",
            "responseJsonSchema": {"type": "object"},
            "thinkingConfig": {"includeThoughts": True, "thinkingBudget": 8192},
        },
    }
    assert set(json.loads(b'{"x":0' + OLDER.encode_prompt_fields(request) + b"}")) == {
        "x",
        "systemInstruction",
        "tools",
    }


@pytest.mark.parametrize(
    ("model", "request_", "thinking"),
    [
        ("gemini-2.5-pro", {}, {"includeThoughts": True, "thinkingBudget": 8192}),
        ("gemini-3.8-flash", {}, {"includeThoughts": True, "thinkingLevel": "HIGH"}),
        ("gemini-3.8-flash", {"purpose": "web_search"}, {"includeThoughts": True}),
        ("gemini-flash-latest", {}, {"includeThoughts": True}),
        ("gemini-2.0-flash", {}, None),
        (
            "gemini-3.8-flash",
            {"generation": {"thinkingConfig": {"thinkingBudget": 5}}},
            {"includeThoughts": True, "thinkingBudget": 5},
        ),
        (
            "gemini-3.8-flash",
            {"generation": {"thinkingConfig": {"thinkingBudget": 5, "thinkingLevel": "LOW"}}},
            {"includeThoughts": True, "thinkingLevel": "LOW"},
        ),
        (
            "gemini-2.5-pro",
            {"generation": {"thinkingConfig": {"thinkingBudget": 5, "thinkingLevel": "LOW"}}},
            {"includeThoughts": True, "thinkingBudget": 5},
        ),
        (
            "gemma-4-31b-it",
            {"generation": {"thinkingConfig": {"thinkingLevel": "HIGH"}}},
            {"thinkingLevel": "HIGH"},
        ),
    ],
)
def test_how_much_it_thinks(model: str, request_: Any, thinking: Any) -> None:
    fields = rest(GeminiEncoder(model), ModelRequest([user_message("hi")], **request_))
    assert fields.get("generationConfig", {}).get("thinkingConfig") == thinking


def test_generation_settings_of_the_user() -> None:
    generation = {
        "temperature": 0.5,
        "topK": 3,
        "maxOutputTokens": 100,
        "candidateCount": 4,
        "automaticFunctionCalling": {"disable": True},
        "safetySettings": [{"category": "C", "threshold": "T"}],
        "newKey": 7,
    }
    request = ModelRequest([user_message("hi")], temperature=0.0, max_output_tokens=9, generation=generation)
    fields = rest(GeminiEncoder("gemini-2.0-flash"), request)
    assert fields["generationConfig"] == {"temperature": 0.5, "topK": 3, "maxOutputTokens": 9, "newKey": 7}
    assert fields["safetySettings"] == generation["safetySettings"]


@pytest.mark.parametrize(
    ("error", "refused"),
    [
        ("Thinking level is not supported for this model.", {"thinkingLevel"}),
        ("Invalid JSON payload received. Unknown name \"newKey\" at 'generation_config'", {"newKey"}),
        ("generation_config.top_k must be positive", {"topK"}),
        ("Budget 7 is invalid. thinking_budget must be between 1 and 5", {"thinkingBudget"}),
        ("Function call is missing a thought_signature", set()),
        ("temperatures", set()),
    ],
)
def test_which_settings_a_service_refuses(error: str, refused: set[str]) -> None:
    generation = {"temperature": 0.5, "topK": 3, "newKey": 1}
    assert refused_values(ModelRequest([user_message("hi")], generation=generation), error) == refused


def test_what_the_service_does_itself_stands_alone() -> None:
    tool = FunctionDeclaration("run", "Runs.", {"type": "object"})
    request = ModelRequest([], tools=(tool,), capabilities=frozenset(Capability))
    assert rest(OLDER, request)["tools"] == [{"googleSearch": {}}, {"urlContext": {}}]


def test_nothing_is_said_that_need_not_be() -> None:
    assert GeminiEncoder("gemini-2.0-flash").encode_request_fields(ModelRequest([])) == b""


@pytest.mark.parametrize(
    ("model", "thinks", "is_newer"),
    [
        ("gemini-2.0-flash", False, False),
        ("gemini-2.5-flash-lite", True, False),
        ("models/gemini-2.5-pro", True, False),
        ("gemini-2.5-flash-image", False, False),
        ("gemini-2.5-pro-preview-tts", False, False),
        ("gemini-3-pro-preview", True, True),
        ("gemini-3.1-flash", True, True),
        ("gemini-10", True, True),
        ("gemini-flash-latest", True, False),
        ("gemma-3-27b-it", False, False),
    ],
)
def test_models_differ(model: str, thinks: bool, is_newer: bool) -> None:
    dialect = GeminiEncoder(model)
    assert (dialect.supports_thinking, dialect.supports_nested_media, dialect.requires_signatures) == (
        thinks,
        is_newer,
        is_newer,
    )


def test_functions_have_names_that_the_service_takes_everywhere() -> None:
    tools = tuple(FunctionDeclaration(name, "", {}) for name in ("srv__a.b:c-d", "2fa", "größe"))
    declared = rest(OLDER, ModelRequest([], tools=tools))["tools"][0]["functionDeclarations"]
    names = [each["name"] for each in declared]
    assert names == ["srv__a.b:c-d", *(wire_name(name, NAME_PATTERN) for name in ("2fa", "größe"))]
    assert [bool(re.fullmatch(NAME_PATTERN, name)) for name in names] == [True] * 3
    assert encoded(OLDER, model_message(FunctionCall("2fa", {}, "1")))["parts"][0]["functionCall"]["name"] == names[1]
    answer = encoded(OLDER, user_message(FunctionResponse("2fa", {}, "1")))
    assert answer["parts"][0]["functionResponse"]["name"] == names[1]
