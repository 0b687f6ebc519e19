"""Keeps the secrets that the program itself was given out of what a model reads and a person is shown."""

from collections.abc import Mapping, Sequence
from functools import partial

from tejat.core.display import Display
from tejat.core.tool import ToolResult
from tejat.core.types import FunctionResponse, JsonValue, Part, PartListUnion, Text
from tejat.core.value import replace
from tejat.core.words import changed

_SHORTEST = 16


class SecretMask:
    """Puts the name of a secret in the place of its value, wherever a tool comes across it.

    `secrets` maps names to values. What is short or is a path is left alone: it may be in any text by chance.
    """

    def __init__(self, secrets: Mapping[str, str]) -> None:
        kept = {value: name for name, value in secrets.items() if _is_masked(value)}
        self._tags = {value: f"[the secret {kept[value]}]" for value in sorted(kept, key=len, reverse=True)}

    def result(self, result: ToolResult) -> ToolResult:
        """The same result without secrets; the very same where there are none. Contents of files on disk stay."""
        if not self._tags:
            return result
        content, display = self._content(result.llm_content), self._display(result.return_display)
        error = result.error
        if error is not None and (message := self.text(error.message)) is not error.message:
            error = replace(error, message=message)
        if content is result.llm_content and display is result.return_display and error is result.error:
            return result
        return replace(result, llm_content=content, return_display=display, error=error)

    def text(self, text: str) -> str:
        for value, tag in self._tags.items():
            if value in text:
                text = changed(text, partial(_replaced, value, tag))
        return text

    def _display(self, display: Display) -> Display:
        return self.text(display) if isinstance(display, str) else display

    def _content(self, content: PartListUnion) -> PartListUnion:
        if isinstance(content, str):
            return self.text(content)
        if not isinstance(content, Sequence):
            return self._part(content)
        masked = [self.text(item) if isinstance(item, str) else self._part(item) for item in content]
        return content if all(new is old for new, old in zip(masked, content, strict=True)) else masked

    def _part(self, part: Part) -> Part:
        match part:
            case Text(text) if (masked := self.text(text)) is not text:
                return replace(part, text=masked)
            case FunctionResponse(response=response) if (masked := self._json(response)) != response:
                return replace(part, response=masked)
            case _:
                return part

    def _json(self, value: JsonValue) -> JsonValue:
        match value:
            case str():
                return self.text(value)
            case Mapping():
                return {key: self._json(inner) for key, inner in value.items()}
            case Sequence():
                return [self._json(inner) for inner in value]
            case _:
                return value


def _replaced(old: str, new: str, text: str) -> str:
    return text.replace(old, new)


def _is_masked(value: str) -> bool:
    # A slash somewhere within says nothing: it is a sign of base64.
    return len(value) >= _SHORTEST and not value.startswith(("/", "./", "../", "~/"))
