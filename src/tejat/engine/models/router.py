"""The router of `auto` models: asks a light model how difficult a prompt is, and chooses the model for it."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import cast

from tejat.core.errors import UsageError
from tejat.core.frozen import Frozen
from tejat.core.i18n import _
from tejat.core.json_text import InvalidJson, load_json
from tejat.core.messages.history import Message, Role
from tejat.core.messages.types import JsonObject
from tejat.core.model import AskModel, ModelClient, ModelFailure, ModelRequest
from tejat.engine.models.conversation_models import ROUTER_PURPOSE
from tejat.engine.prompt.templates import load_template

PRO_DIFFICULTY = 90
"""From this difficulty on the stronger model answers."""
_TIMEOUT = 3.0
_CONTEXT_MESSAGES = 8
_MAX_OUTPUT_TOKENS = 1024
_THINKING: JsonObject = {"thinkingConfig": {"thinkingBudget": 512}}
_ANSWER_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "reasoning": {"type": "string", "description": "One short sentence."},
        "difficulty": {"type": "integer", "description": "From 1 to 100."},
    },
    "required": ["reasoning", "difficulty"],
}


class RouterModels(Frozen):
    """The models to choose from, by their full names."""

    pro: str
    flash: str


class PromptRouter:
    """Chooses between two models for each prompt; the requests that follow it stay with the model.

    `is_planning` says whether the session only plans, which is work for the stronger model. `is_available` says whether
    a model may be asked. Without an answer of the light model in time, the stronger one is chosen.
    """

    def __init__(
        self,
        models: RouterModels,
        open_model: Callable[[str], ModelClient],
        *,
        is_planning: Callable[[], bool] = lambda: False,
        is_available: Callable[[str], bool] = lambda _: True,
        timeout: float = _TIMEOUT,
    ) -> None:
        self._models = models
        self._open = open_model
        self._is_planning = is_planning
        self._is_available = is_available
        self._timeout = timeout

    async def choose(
        self, model: ModelClient, messages: Sequence[Message], ask: AskModel
    ) -> tuple[ModelClient, str] | None:
        if model.name not in {self._models.pro, self._models.flash}:
            return None
        wanted, reason = await self._decide(messages, ask)
        other = self._models.flash if wanted == self._models.pro else self._models.pro
        if not self._is_available(wanted) and self._is_available(other):
            wanted, reason = other, _("{model} is not available.", model=wanted)
        if wanted == model.name:
            return None
        try:
            return self._open(wanted), reason
        except (UsageError, ModelFailure):
            return None

    async def _decide(self, messages: Sequence[Message], ask: AskModel) -> tuple[str, str]:
        if self._is_planning():
            return self._models.pro, _("Plan mode is on.")
        try:
            async with asyncio.timeout(self._timeout):
                difficulty = parse_difficulty((await ask(router_request(messages))).text)
        except (ModelFailure, TimeoutError):
            difficulty = None
        if difficulty is None:
            return self._models.pro, _("The difficulty of the prompt is not known.")
        name = self._models.pro if difficulty >= PRO_DIFFICULTY else self._models.flash
        return name, _("The prompt's difficulty is {difficulty} of 100.", difficulty=difficulty)


def router_request(messages: Sequence[Message]) -> ModelRequest:
    """Return the request about the last messages, beginning with one of the user that is text."""
    latest = list(messages[-_CONTEXT_MESSAGES:])
    while len(latest) > 1 and (latest[0].role is not Role.USER or latest[0].responses):
        del latest[0]
    return ModelRequest(
        latest,
        load_template(ROUTER_PURPOSE),
        response_schema=_ANSWER_SCHEMA,
        max_output_tokens=_MAX_OUTPUT_TOKENS,
        temperature=0.0,
        purpose=ROUTER_PURPOSE,
        generation=_THINKING,
    )


def parse_difficulty(text: str) -> int | None:
    """Return the difficulty in an answer, None if it has none."""
    try:
        answer = load_json(text)
    except InvalidJson:
        return None
    if not isinstance(answer, Mapping):
        return None
    difficulty = cast("Mapping[str, object]", answer).get("difficulty")
    if isinstance(difficulty, bool) or not isinstance(difficulty, int | float) or not 1 <= difficulty <= 100:
        return None
    return round(difficulty)
