"""The places in a conversation that a person can go back to: before each of their prompts."""

from collections.abc import Iterable, Iterator, Sequence

from tejat.core.frozen import frozen_identity
from tejat.core.messages.history import Message


@frozen_identity
class RewindPoint:
    """Where a conversation stood before a prompt: so many messages, the last of them this one.

    `shown` is what the person wrote then, `at` is when, in seconds since 1970.
    """

    shown: str
    created_at: float
    length: int
    last_message: Message | None


class RewindPoints:
    """One for each prompt that is still in the conversation, the oldest first."""

    def __init__(self, points: Iterable[RewindPoint] = ()) -> None:
        self._points = list(points)

    def __iter__(self) -> Iterator[RewindPoint]:
        return iter(self._points)

    def __len__(self) -> int:
        return len(self._points)

    def add(self, shown: str, at: float, messages: Sequence[Message]) -> None:
        """A prompt comes behind these messages."""
        self._points.append(RewindPoint(shown, at, len(messages), messages[-1] if messages else None))

    def withdraw_last(self, messages: Sequence[Message]) -> None:
        """The last prompt was taken back, if these messages are those from before it."""
        last = self._points[-1] if self._points else None
        if last is not None and last.length == len(messages) and (not messages or messages[-1] is last.last_message):
            self._points.pop()

    def clear(self) -> None:
        """The messages are others now."""
        self._points = []

    def rewind(self, number: int | None, length: int, messages: Sequence[Message]) -> list[Message]:
        """The messages before the prompt of this number, counted from 0; else the first so many. Later marks go.

        The number counts only if it means a place with so many messages.
        """
        mark = self._points[number] if number is not None and 0 <= number < len(self._points) else None
        if number is not None and mark is not None and mark.length == length:
            self._points = self._points[:number]
            return [*messages[: length - 1], mark.last_message] if mark.last_message is not None else []
        self._points = [mark for mark in self._points if mark.length < length]
        return list(messages[:length])
