"""Separation of `<think>` sections at the start of a response."""

from tejat.core.text.str_enum import StrEnum

_OPEN_TAG, _CLOSE_TAG = "<think>", "</think>"
_MAX_PENDING = 1000


class _State(StrEnum):
    START = "start"
    THINKING = "thinking"
    AFTER_THINKING = "after_thinking"
    TEXT = "text"


class ThinkTagParser:
    """Splits a streamed response into thoughts and text."""

    def __init__(self) -> None:
        self._state = _State.START
        self._pending: str = ""

    def feed(self, text: str) -> tuple[str, str]:
        """Return the thoughts and the text in a piece of the response."""
        thought = ""
        if self._state is _State.START:
            text = self._read_open_tag(text)
        if self._state is _State.THINKING:
            thought, text = self._read_thought(text)
        if self._state is _State.AFTER_THINKING:
            text = text.lstrip()
        if self._state in {_State.AFTER_THINKING, _State.TEXT} and text:
            self._state = _State.TEXT
        return thought, text

    def end(self) -> tuple[str, str]:
        """Return the pending rest. An unclosed thought is still a thought."""
        rest, self._pending = self._pending, ""
        return (rest, "") if self._state is _State.THINKING else ("", rest)

    def _read_open_tag(self, text: str) -> str:
        """Return the text after the opening tag, or all of it without a tag; empty until that is known."""
        text, self._pending = self._pending + text, ""
        begun = text.lstrip()
        if begun.startswith(_OPEN_TAG):
            self._state = _State.THINKING
            return begun.removeprefix(_OPEN_TAG)
        if _OPEN_TAG.startswith(begun) and len(text) < _MAX_PENDING:
            self._pending = text
            return ""
        self._state = _State.TEXT
        return text

    def _read_thought(self, text: str) -> tuple[str, str]:
        text, self._pending = self._pending + text, ""
        thought, closed, rest = text.partition(_CLOSE_TAG)
        if closed:
            self._state = _State.AFTER_THINKING
            return thought, rest
        # The start of a closing tag is held back.
        kept = next((size for size in range(len(_CLOSE_TAG) - 1, 0, -1) if text.endswith(_CLOSE_TAG[:size])), 0)
        self._pending = text[len(text) - kept :]
        return text[: len(text) - kept], ""
