"""Estimates of texts and declarations."""

import pytest

from tejat.core.messages.tokens import estimate_declaration_tokens, estimate_text_tokens
from tejat.core.tools.base import FunctionDeclaration


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
