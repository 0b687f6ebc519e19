from typing import Any

import pytest

from tejat.core.messages.history import user_message
from tejat.core.model import ModelRequest
from tejat.models.wire.generation import Effort, Generation, ignored_settings, read_generation


def read(generation: Any, **request: Any) -> Generation:
    return read_generation(ModelRequest([user_message("hi")], generation=generation, **request))


def test_the_settings_of_the_user_come_first() -> None:
    assert read({"temperature": 1}, temperature=0.0).temperature == 1
    assert read({}, temperature=0.0).temperature == 0
    assert read({"temperature": 0}).temperature == 0


def test_the_smaller_limit_holds() -> None:
    assert read({"maxOutputTokens": 9}, max_output_tokens=5).max_tokens == 5
    assert read({"maxOutputTokens": 3}, max_output_tokens=5).max_tokens == 3
    assert read({}).max_tokens is None


@pytest.mark.parametrize(
    ("thinking", "effort"),
    [
        ({"thinkingLevel": "HIGH"}, Effort.HIGH),
        ({"thinkingLevel": "minimal"}, Effort.MINIMAL),
        ({"thinkingBudget": 0}, Effort.MINIMAL),
        ({"thinkingBudget": 0, "thinkingLevel": "MEDIUM"}, Effort.MEDIUM),
        ({"thinkingBudget": 512}, None),
        ({"thinkingLevel": "THINKING_LEVEL_UNSPECIFIED"}, None),
        ("much", None),
    ],
)
def test_thinking_as_effort(thinking: Any, effort: Effort | None) -> None:
    assert read({"thinkingConfig": thinking}).effort is effort


def test_values_of_another_type_are_left_out() -> None:
    assert read({"temperature": "hot", "topP": True, "seed": 1.5, "stopSequences": "x"}) == Generation()


@pytest.mark.parametrize(
    ("generation", "names"),
    [
        ({}, ""),
        ({"temperature": 0, "topK": 64, "thinkingConfig": {"includeThoughts": True}}, ""),
        ({"thinkingConfig": {"thinkingBudget": 0}}, ""),
        ({"thinkingConfig": {"thinkingBudget": 512}}, "thinkingConfig.thinkingBudget"),
        ({"safetySettings": [], "presencePenalty": 1}, "presencePenalty, safetySettings"),
    ],
)
def test_what_is_reported_as_ignored(generation: Any, names: str) -> None:
    notice = ignored_settings(generation)
    assert notice.endswith(f"{names}.") if names else notice == ""
