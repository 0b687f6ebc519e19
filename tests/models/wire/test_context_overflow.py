"""Errors about requests that are too long, as services word them."""

import pytest

from tejat.core.model import ContextOverflow
from tejat.models.wire.context_overflow import is_context_too_long, parse_overflow


@pytest.mark.parametrize(
    ("message", "tokens", "window"),
    [
        ("request (5031 tokens) exceeds the available context size (4096 tokens), try increasing it", 5031, 4096),
        ("This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8000", 9000, 8192),
        ("This model's maximum context length is 8192 tokens. Your messages resulted in 8300 tokens.", 8300, 8192),
        ("The input token count (1,200) exceeds the maximum number of tokens allowed (1,048).", 1200, 1048),
        ("The input token count 1200000 exceeds the maximum number of tokens allowed 1048576.", 0, 1_048_576),
        ("prompt is too long: 210000 tokens > 200000 maximum", 210_000, 200_000),
        ("Request payload size exceeds the limit: 20971520 bytes.", 0, 0),
        ("Your input context is too long. Reduce it.", 0, 0),
    ],
)
def test_figures(message: str, tokens: int, window: int) -> None:
    assert is_context_too_long(message)
    assert parse_overflow(message, {}) == ContextOverflow(tokens, window)


def test_the_fields_of_llama_cpp() -> None:
    assert parse_overflow("too long", {"n_prompt_tokens": 5031, "n_ctx": 4096}) == ContextOverflow(5031, 4096)


@pytest.mark.parametrize("message", ["", "The model is overloaded.", "max_tokens is too large: 9"])
def test_other_errors(message: str) -> None:
    assert not is_context_too_long(message)
