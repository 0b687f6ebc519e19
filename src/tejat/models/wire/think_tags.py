"""Separation of `<think>` sections at the start of a response."""

from enum import Enum, auto

_OPEN_TAG, _CLOSE_TAG = "<think>", "</think>"
_MAX_PENDING = 1000


class _Stage(Enum):
    START = auto()
    THINKING = auto()
    AFTER_THINKING = auto()
    TEXT = auto()


class ThinkTagParser:
    """Splits a streamed response into thoughts and text."""

    def __init__(self) -> None:
        self._stage = _Stage.START
        self._pending: str = ""

    def feed(self, text: str) -> tuple[str, str]:
        """Return the thoughts and the text in a piece of the response."""
        thought = ""
        if self._stage is _Stage.START:
            text = self._read_open_tag(text)
        if self._stage is _Stage.THINKING:
            thought, text = self._read_thought(text)
        if self._stage is _Stage.AFTER_THINKING:
            text = text.lstrip()
        if self._stage in {_Stage.AFTER_THINKING, _Stage.TEXT} and text:
            self._stage = _Stage.TEXT
        return thought, text

    def end(self) -> tuple[str, str]:
        """Return the pending rest. An unclosed thought is still a thought."""
        rest, self._pending = self._pending, ""
        return (rest, "") if self._stage is _Stage.THINKING else ("", rest)

    def _read_open_tag(self, text: str) -> str:
        """Return the text after the opening tag, or all of it without a tag; empty until that is known."""
        text, self._pending = self._pending + text, ""
        begun = text.lstrip()
        if begun.startswith(_OPEN_TAG):
            self._stage = _Stage.THINKING
            return begun.removeprefix(_OPEN_TAG)
        if _OPEN_TAG.startswith(begun) and len(text) < _MAX_PENDING:
            self._pending = text
            return ""
        self._stage = _Stage.TEXT
        return text

    def _read_thought(self, text: str) -> tuple[str, str]:
        text, self._pending = self._pending + text, ""
        thought, closed, rest = text.partition(_CLOSE_TAG)
        if closed:
            self._stage = _Stage.AFTER_THINKING
            return thought, rest
        # The start of a closing tag is held back.
        kept = next((size for size in range(len(_CLOSE_TAG) - 1, 0, -1) if text.endswith(_CLOSE_TAG[:size])), 0)
        self._pending = text[len(text) - kept :]
        return text[: len(text) - kept], ""
