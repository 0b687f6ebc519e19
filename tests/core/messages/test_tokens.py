"""Token estimates near what services count, and cheap."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.history import Message, model_message, user_message
from tejat.core.messages.tokens import (
    estimate_declaration_tokens,
    estimate_message_tokens,
    estimate_request_tokens,
    estimate_text_tokens,
)
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
from tejat.core.model import ModelRequest


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("日本語", 3), ("日本語 and ASCII", 6), ("é", 1), ("\ud800", 1)],
)
def test_text(text: str, tokens: int) -> None:
    assert estimate_text_tokens(text) == tokens


def test_a_declaration_counts_with_its_schema() -> None:
    declaration = FunctionDeclaration("f", "Does it.", {"type": "object"})
    written = '{"name":"f","description":"Does it.","parametersJsonSchema":{"type":"object"}}'
    assert estimate_declaration_tokens(declaration) == -(-len(written) // 4)


def test_a_request_counts_with_system_prompt_and_tools() -> None:
    tool = FunctionDeclaration("f", "Does it.", {"type": "object"})
    messages = [user_message("abcdefgh")]
    assert estimate_request_tokens(ModelRequest(messages)) == 2
    whole = ModelRequest(messages, system="x" * 40, tools=(tool, tool))
    assert estimate_request_tokens(whole) == 2 + 10 + 2 * estimate_declaration_tokens(tool)


def test_text_in_a_message() -> None:
    assert estimate_message_tokens([user_message("日本語 and ASCII")]) == 6


@pytest.mark.parametrize(
    ("part", "tokens"),
    [
        (InlineData("image/png", b""), 258),
        (InlineData("image/png", bytes(1_000_000)), 2258),
        (FileData("application/pdf", "https://example.invalid/a.pdf"), 258),
        (FunctionCall("read", {"path": "abcd", "limit": 3}), 1 + 1 + 1 + 2 + 1),
        (FunctionCall("read", {}, "an id", "12345678"), 1 + 2),
        (FunctionResponse("read", {"output": "x" * 400}), 1 + 2 + 100),
        (FunctionResponse("read", {"list": ["abcd", [None, True, {"k": "日本"}]]}), 1 + 1 + 1 + 1 + 1 + 1 + 2),
        (Thought("a long thought that goes nowhere"), 0),
        (Thought("abcd", "12345678"), 3),
        (Opaque("gemini", {"code": "abcd"}), 2),
    ],
)
def test_every_part(part: MessagePart, tokens: int) -> None:
    assert estimate_message_tokens([model_message(part)]) == tokens


def test_any_depth() -> None:
    deep: object = "abcd"
    for _ in range(100_000):
        deep = [deep]
    assert estimate_message_tokens([model_message(FunctionCall("f", {"k": deep}))]) == 3


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(st.text(), max_size=4), max_size=8), st.integers(0, 8))
def test_the_whole_is_the_sum_of_its_parts(texts: list[list[str]], cut: int) -> None:
    messages: list[Message] = [user_message(*map(Text, parts)) for parts in texts]
    first, second = estimate_message_tokens(messages[:cut]), estimate_message_tokens(messages[cut:])
    assert estimate_message_tokens(messages) == first + second
    assert estimate_message_tokens(messages) * 4 >= sum(len(text) for parts in texts for text in parts)
