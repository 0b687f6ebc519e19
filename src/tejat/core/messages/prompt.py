"""Prompts of words and attachments."""

from collections.abc import Sequence
from typing import TypeAlias

from tejat.core.frozen import Frozen
from tejat.core.messages.types import Part


class Attachment(Frozen):
    """Content that the user adds to a prompt. `label` stands for it where the prompt is shown."""

    label: str
    parts: tuple[Part, ...]


Prompt: TypeAlias = str | Sequence[str | Part | Attachment]
"""What a user sends. Texts are their own words, in which mentions are expanded; the model gets the rest as it is."""


def prompt_text(prompt: Prompt) -> str:
    """The prompt as the user sees it; empty for one of parts only, which no user has typed."""
    if isinstance(prompt, str):
        return prompt
    text = ""
    for piece in prompt:
        words = piece.label if isinstance(piece, Attachment) else piece if isinstance(piece, str) else ""
        is_glued = text and words and not text[-1].isspace() and not words[0].isspace()
        text += f" {words}" if is_glued else words
    return text
