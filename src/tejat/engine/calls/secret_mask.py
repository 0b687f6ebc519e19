"""Masking of the user's secrets in tool results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tejat.core.frozen import replace
from tejat.core.messages.types import FunctionResponse, JsonValue, Part, PartListUnion, Text
from tejat.core.text.secret_mask import TextMask

if TYPE_CHECKING:
    from tejat.core.tools.base import ToolResult

_MIN_SECRET_LENGTH = 16


class SecretMask(TextMask):
    """Replaces the values of secrets by their names.

    `secrets` maps names to values. Short values and paths are not masked: they may occur by chance.
    """

    def __init__(self, secrets: Mapping[str, str]) -> None:
        super().__init__({value: f"[the secret {name}]" for name, value in secrets.items() if _is_maskable(value)})

    def mask_result(self, result: ToolResult) -> ToolResult:
        """Return the result without secrets; the same object if there are none."""
        if not self.secrets:
            return result
        content, display, error = self._mask_content(result.llm_content), result.return_display, result.error
        if isinstance(display, str):
            display = self.mask_text(display)
        if error is not None:
            message, traceback = self.mask_text(error.message), self.mask_text(error.traceback)
            if message is not error.message or traceback is not error.traceback:
                error = replace(error, message=message, traceback=traceback)
        if content is result.llm_content and display is result.return_display and error is result.error:
            return result
        return replace(result, llm_content=content, return_display=display, error=error)

    def _mask_content(self, content: PartListUnion) -> PartListUnion:
        if isinstance(content, str):
            return self.mask_text(content)
        if not isinstance(content, Sequence):
            return self._mask_part(content)
        masked = [self.mask_text(item) if isinstance(item, str) else self._mask_part(item) for item in content]
        return content if all(new is old for new, old in zip(masked, content, strict=True)) else masked

    def _mask_part(self, part: Part) -> Part:
        match part:
            case Text(text) if (masked := self.mask_text(text)) is not text:
                return replace(part, text=masked)
            case FunctionResponse(response=response) if (masked := self._mask_json(response)) != response:
                return replace(part, response=masked)
            case _:
                return part

    def _mask_json(self, value: JsonValue) -> JsonValue:
        match value:
            case str():
                return self.mask_text(value)
            case Mapping():
                return {key: self._mask_json(inner) for key, inner in value.items()}
            case Sequence():
                return [self._mask_json(inner) for inner in value]
            case _:
                return value


def _is_maskable(value: str) -> bool:
    # A slash inside is a character of base64, not a sign of a path.
    return len(value) >= _MIN_SECRET_LENGTH and not value.startswith(("/", "./", "../", "~/"))
