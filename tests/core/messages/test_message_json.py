"""Messages go to JSON and come back the same."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.core.messages.history import Message, Role
from tejat.core.messages.message_json import message_from_json, message_to_json, usage_from_json, usage_to_json
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
from tejat.core.model import Usage

TEXTS = st.text(st.characters(), max_size=8)
MAYBE = st.none() | TEXTS
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(TEXTS, JSON, max_size=3)
PARTS = st.one_of(
    st.builds(Text, TEXTS, MAYBE),
    st.builds(Thought, TEXTS, MAYBE),
    st.builds(FunctionCall, TEXTS, OBJECTS, MAYBE, MAYBE),
    st.builds(FunctionResponse, TEXTS, OBJECTS, MAYBE),
    st.builds(InlineData, TEXTS, st.binary(max_size=8)),
    st.builds(FileData, TEXTS, TEXTS),
    st.builds(Opaque, TEXTS, OBJECTS),
)


@settings(max_examples=150, deadline=None)
@given(role=st.sampled_from(Role), parts=st.lists(PARTS, max_size=4))
def test_any_message_comes_back_the_same(role: Role, parts: list[MessagePart]) -> None:
    text = json.dumps(message_to_json(Message(role, tuple(parts))))
    back = message_from_json(json.loads(text))
    assert (back.role, back.parts) == (role, tuple(parts))


def test_the_names_are_those_of_the_documents() -> None:
    parts = (
        Thought("Hm", "sig"),
        Text("So"),
        FunctionCall("glob", {"pattern": "*"}, "1", "sig2"),
        FunctionCall("glob", {}),
        Opaque("anthropic", {"type": "redacted"}),
    )
    assert message_to_json(Message(Role.MODEL, parts)) == {
        "role": "model",
        "parts": [
            {"thought": True, "text": "Hm", "thoughtSignature": "sig"},
            {"text": "So"},
            {"functionCall": {"id": "1", "name": "glob", "args": {"pattern": "*"}}, "thoughtSignature": "sig2"},
            {"functionCall": {"name": "glob", "args": {}}},
            {"opaque": {"vendor": "anthropic", "value": {"type": "redacted"}}},
        ],
    }


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {"role": "user"},
        {"role": "system", "parts": []},
        {"role": "user", "parts": [{}]},
        {"role": "user", "parts": ["text"]},
        {"role": "user", "parts": [{"text": 3}]},
        {"role": "user", "parts": [{"newKind": {}}]},
        {"role": "model", "parts": [{"functionCall": {"name": "x", "args": []}}]},
        {"role": "user", "parts": [{"inlineData": {"mimeType": "a/b", "data": "not base64!"}}]},
        {"role": "user", "parts": [{"opaque": {"vendor": "x"}}]},
    ],
)
def test_anything_else_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"."):
        message_from_json(value)


def test_what_was_used_comes_back_the_same() -> None:
    usage = Usage(1, 2, 3, 4, 5)
    assert usage_to_json(usage) == {"prompt": 1, "cached": 2, "output": 3, "thoughts": 4, "tool": 5}
    assert usage_from_json(usage_to_json(usage)) == usage


@pytest.mark.parametrize("value", [None, [], {"prompt": 1}, {**usage_to_json(Usage()), "cached": True}])
def test_what_is_no_usage_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"object|cached"):
        usage_from_json(value)
