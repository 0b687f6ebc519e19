"""Correction of a failed edit by a model, which looks for the text that was meant."""

import asyncio
from collections.abc import Mapping
from typing import cast

from tejat.core.json_text import InvalidJson, load_json
from tejat.core.messages.history import user_message
from tejat.core.messages.types import JsonObject
from tejat.core.model import AskModel, FinishReason, ModelFailure, ModelRequest, ModelResponse
from tejat.core.tools.edit_failure import EditFailure
from tejat.engine.prompt.templates import load_template

PURPOSE = "edit_correction"

_TIMEOUT = 40.0
_ANSWER_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "explanation": {"type": "string", "description": "How old_string differs from the file."},
        "corrected_target_snippet": {
            "type": "string",
            "description": "The text of the file that was meant, character by character. Empty if there is none.",
        },
    },
    "required": ["explanation", "corrected_target_snippet"],
}


class ModelEditCorrector:
    """An `EditCorrector` that asks the model and gives up after `timeout` seconds. Raises only CancelledError."""

    def __init__(self, ask: AskModel, *, timeout: float = _TIMEOUT) -> None:
        self._ask = ask
        self._timeout = timeout

    async def __call__(self, edit: EditFailure) -> str | None:
        try:
            async with asyncio.timeout(self._timeout):
                return _parse_snippet(await self._ask(_correction_request(edit)))
        except (ModelFailure, TimeoutError):
            return None


def _correction_request(edit: EditFailure) -> ModelRequest:
    blocks = [("file", edit.content), ("old_string", edit.old_string), ("new_string", edit.new_string)]
    if edit.instruction:
        blocks.append(("instruction", edit.instruction))
    sections = "\n\n".join(_fence(name, text) for name, text in blocks)
    prompt = f"The edit of {edit.path} failed: {edit.problem}\n\n{sections}\n\nWhich text of the file was meant?"
    messages, system = [user_message(prompt)], load_template(PURPOSE)
    return ModelRequest(messages, system, response_schema=_ANSWER_SCHEMA, temperature=0.0, purpose=PURPOSE)


def _fence(name: str, text: str) -> str:
    """Enclose the text in tags that do not occur in it, so that it cannot end the block itself."""
    while f"</{name}>" in text:
        name += "_"
    return f"<{name}>\n{text}\n</{name}>"


def _parse_snippet(answer: ModelResponse) -> str | None:
    if answer.reason is not FinishReason.STOP:
        return None
    # Some models wrap their JSON in text or fences in spite of the instructions.
    text = answer.text
    try:
        data = load_json(text[text.find("{") : text.rfind("}") + 1])
    except InvalidJson:
        return None
    if not isinstance(data, Mapping):
        return None
    snippet = cast("Mapping[str, object]", data).get("corrected_target_snippet")
    return snippet if isinstance(snippet, str) and snippet.strip() else None
