"""The router of `auto` models."""

import asyncio
import json
from typing import Any

import pytest

from support.named_model import NamedModel
from tejat.core.errors import UsageError
from tejat.core.messages.history import model_message, user_message
from tejat.core.messages.types import FunctionCall, FunctionResponse
from tejat.core.model import FailureKind, ModelClient, ModelFailure, ModelRequest, ModelResponse
from tejat.engine.models.router import PromptRouter, RouterModels, parse_difficulty, router_request

MODELS = RouterModels("pro", "flash")
PROMPT = [user_message("Do it.")]


def choose(answer: Any, model: str = "pro", timeout: float = 60.0, **options: Any) -> str | None:
    """The name of the chosen model, None if it stays."""
    asked: list[ModelRequest] = []

    async def ask(request: ModelRequest) -> ModelResponse:
        asked.append(request)
        if isinstance(answer, ModelFailure):
            raise answer
        if answer is None:
            await asyncio.Event().wait()
        return ModelResponse(model_message(answer if isinstance(answer, str) else json.dumps(answer)))

    router = PromptRouter(MODELS, NamedModel, timeout=timeout, **options)
    chosen = asyncio.run(router.choose(NamedModel(model), PROMPT, ask))
    assert all(request.purpose == "router" for request in asked)
    return None if chosen is None else chosen[0].name


@pytest.mark.parametrize(
    ("difficulty", "chosen"), [(1, "flash"), (89, "flash"), (90, None), (100, None), (0, None), ("high", None)]
)
def test_the_difficulty_decides(difficulty: object, chosen: str | None) -> None:
    assert choose({"difficulty": difficulty}) == chosen


def test_back_to_the_stronger_model() -> None:
    assert choose({"difficulty": 95}, "flash") == "pro"
    assert choose({"difficulty": 5}, "flash") is None


@pytest.mark.parametrize("answer", ["no JSON", "[1]", ModelFailure("Busy.", FailureKind.UNAVAILABLE)])
def test_without_a_number_the_stronger_model_answers(answer: Any) -> None:
    assert choose(answer, "flash") == "pro"


def test_it_does_not_wait_for_long() -> None:
    assert choose(None, "flash", timeout=0.05) == "pro"


def test_planning_asks_nobody() -> None:
    assert choose(None, "flash", is_planning=lambda: True) == "pro"


def test_a_model_that_is_not_available_is_skipped() -> None:
    assert choose({"difficulty": 5}, "pro", is_available=lambda name: name != "flash") is None
    assert choose({"difficulty": 95}, "pro", is_available=lambda name: name != "pro") == "flash"


def test_another_model_stays() -> None:
    assert choose({"difficulty": 5}, "chosen-by-the-user") is None


def test_a_model_that_cannot_be_opened() -> None:
    def refuse(name: str) -> ModelClient:
        raise UsageError(name)

    async def ask(_: ModelRequest) -> ModelResponse:
        return ModelResponse(model_message('{"difficulty": 5}'))

    router = PromptRouter(MODELS, refuse)
    assert asyncio.run(router.choose(NamedModel("pro"), PROMPT, ask)) is None


def test_the_request_begins_with_text_of_the_user() -> None:
    turn = [
        model_message(FunctionCall("f", {}, "1")),
        user_message(FunctionResponse("f", {"output": "x"}, "1")),
        model_message("Done."),
        user_message("Next."),
    ]
    messages = [user_message("First."), *turn, *turn, *turn]
    request = router_request(messages)
    assert request.messages[0].text == "Next."
    assert request.messages[-1] is messages[-1]
    assert len(request.messages) <= 8
    assert (request.temperature, request.max_output_tokens) == (0.0, 1024)
    assert request.generation == {"thinkingConfig": {"thinkingBudget": 512}}
    assert router_request(PROMPT).messages == PROMPT


@pytest.mark.parametrize(
    ("text", "difficulty"), [('{"difficulty": 7.4}', 7), ('{"difficulty": true}', None), ("", None)]
)
def test_answers(text: str, difficulty: int | None) -> None:
    assert parse_difficulty(text) == difficulty
