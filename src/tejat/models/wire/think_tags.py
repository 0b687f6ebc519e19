"""Thoughts that a model writes into its answer, between tags at its very beginning."""

from enum import Enum, auto

_OPEN_TAG, _CLOSE_TAG = "<think>", "</think>"
_MAX_PENDING = 1000


class _Stage(Enum):
    START = auto()
    THINKING = auto()
    AFTER_THINKING = auto()
    TEXT = auto()


class ThinkTagParser:
    """Takes an answer apart as it comes in."""

    def __init__(self) -> None:
        self._stage = _Stage.START
        self._pending: str = ""

    def feed(self, text: str) -> tuple[str, str]:
        """What of the text is thought, and what is said."""
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
        """What was still waiting for more. A thought that was never closed was one all the same."""
        rest, self._pending = self._pending, ""
        return (rest, "") if self._stage is _Stage.THINKING else ("", rest)

    def _read_open_tag(self, text: str) -> str:
        """What follows the opening tag, or everything if there is none; nothing while that is open."""
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
        # What may be the first half of the closing tag waits for the other.
        kept = next((size for size in range(len(_CLOSE_TAG) - 1, 0, -1) if text.endswith(_CLOSE_TAG[:size])), 0)
        self._pending = text[len(text) - kept :]
        return text[: len(text) - kept], ""
