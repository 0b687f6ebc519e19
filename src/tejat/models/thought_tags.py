"""Thoughts that a model writes into its answer, between tags at its very beginning."""

from enum import Enum, auto

_OPENING, _CLOSING = "<think>", "</think>"
_MOST_WAITING = 1000


class _Stage(Enum):
    BEGINNING = auto()
    THINKING = auto()
    BETWEEN = auto()
    TALKING = auto()


class ThoughtTags:
    """Takes an answer apart as it comes in."""

    def __init__(self) -> None:
        self._stage = _Stage.BEGINNING
        self._waiting: str = ""

    def feed(self, text: str) -> tuple[str, str]:
        """What of the text is thought, and what is said."""
        thought = ""
        if self._stage is _Stage.BEGINNING:
            text = self._begin(text)
        if self._stage is _Stage.THINKING:
            thought, text = self._think(text)
        if self._stage is _Stage.BETWEEN:
            text = text.lstrip()
        if self._stage in {_Stage.BETWEEN, _Stage.TALKING} and text:
            self._stage = _Stage.TALKING
        return thought, text

    def end(self) -> tuple[str, str]:
        """What was still waiting for more. A thought that was never closed was one all the same."""
        rest, self._waiting = self._waiting, ""
        return (rest, "") if self._stage is _Stage.THINKING else ("", rest)

    def _begin(self, text: str) -> str:
        """What follows the opening tag, or everything if there is none; nothing while that is open."""
        text, self._waiting = self._waiting + text, ""
        begun = text.lstrip()
        if begun.startswith(_OPENING):
            self._stage = _Stage.THINKING
            return begun.removeprefix(_OPENING)
        if _OPENING.startswith(begun) and len(text) < _MOST_WAITING:
            self._waiting = text
            return ""
        self._stage = _Stage.TALKING
        return text

    def _think(self, text: str) -> tuple[str, str]:
        text, self._waiting = self._waiting + text, ""
        thought, closed, rest = text.partition(_CLOSING)
        if closed:
            self._stage = _Stage.BETWEEN
            return thought, rest
        # What may be the first half of the closing tag waits for the other.
        kept = next((size for size in range(len(_CLOSING) - 1, 0, -1) if text.endswith(_CLOSING[:size])), 0)
        self._waiting = text[len(text) - kept :]
        return text[: len(text) - kept], ""
