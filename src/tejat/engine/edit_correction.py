"""Asks a model which text of a file an edit meant that did not find its own."""

import asyncio
from collections.abc import Mapping
from typing import cast

from tejat.core.failed_edit import FailedEdit
from tejat.core.history import user_message
from tejat.core.json_text import NotJson, load_json
from tejat.core.model import Answer, Ask, FinishReason, ModelFailure, ModelRequest
from tejat.core.types import JsonObject
from tejat.engine.words import words_about

PURPOSE = "edit_correction"

_PATIENCE = 40.0
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


class EditCorrection:
    """A `Corrector`. It waits for `patience` seconds, raises nothing but the cancellation of its task."""

    def __init__(self, ask: Ask, *, patience: float = _PATIENCE) -> None:
        self._ask = ask
        self._patience = patience

    async def __call__(self, edit: FailedEdit) -> str | None:
        try:
            async with asyncio.timeout(self._patience):
                return _snippet(await self._ask(_question(edit)))
        except (ModelFailure, TimeoutError):
            return None


def _question(edit: FailedEdit) -> ModelRequest:
    given = [("file", edit.content), ("old_string", edit.old), ("new_string", edit.new)]
    if edit.instruction:
        given.append(("instruction", edit.instruction))
    fenced = "\n\n".join(_fenced(name, text) for name, text in given)
    asked = f"The edit of {edit.path} failed: {edit.problem}\n\n{fenced}\n\nWhich text of the file was meant?"
    return ModelRequest(
        [user_message(asked)],
        system=words_about(PURPOSE),
        answer_schema=_ANSWER_SCHEMA,
        temperature=0.0,
        purpose=PURPOSE,
    )


def _fenced(name: str, text: str) -> str:
    """The text between marks that do not occur in it, so that it cannot pretend to end."""
    while f"</{name}>" in text:
        name += "_"
    return f"<{name}>\n{text}\n</{name}>"


def _snippet(answer: Answer) -> str | None:
    if answer.reason is not FinishReason.STOP:
        return None
    # Some models put their JSON between words or fences whatever they are told.
    text = answer.text
    try:
        told = load_json(text[text.find("{") : text.rfind("}") + 1])
    except NotJson:
        return None
    if not isinstance(told, Mapping):
        return None
    snippet = cast("Mapping[str, object]", told).get("corrected_target_snippet")
    return snippet if isinstance(snippet, str) and snippet.strip() else None
