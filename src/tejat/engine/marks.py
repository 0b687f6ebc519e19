"""The places in a conversation that a person can go back to: before each of their prompts."""

from collections.abc import Iterable, Iterator, Sequence

from tejat.core.history import Message
from tejat.core.value import identity


@identity
class Mark:
    """Where a conversation stood before a prompt: so many messages, the last of them this one.

    `shown` is what the person wrote then, `at` is when, in seconds since 1970.
    """

    shown: str
    at: float
    length: int
    last: Message | None


class Marks:
    """One for each prompt that is still in the conversation, the oldest first."""

    def __init__(self, marks: Iterable[Mark] = ()) -> None:
        self._marks = list(marks)

    def __iter__(self) -> Iterator[Mark]:
        return iter(self._marks)

    def __len__(self) -> int:
        return len(self._marks)

    def add(self, shown: str, at: float, messages: Sequence[Message]) -> None:
        """A prompt comes behind these messages."""
        self._marks.append(Mark(shown, at, len(messages), messages[-1] if messages else None))

    def prompt_withdrawn(self, messages: Sequence[Message]) -> None:
        """The last prompt was taken back, if these messages are those from before it."""
        last = self._marks[-1] if self._marks else None
        if last is not None and last.length == len(messages) and (not messages or messages[-1] is last.last):
            self._marks.pop()

    def clear(self) -> None:
        """The messages are others now."""
        self._marks = []

    def go_back(self, number: int | None, length: int, messages: Sequence[Message]) -> list[Message]:
        """The messages before the prompt of this number, counted from 0; else the first so many. Later marks go.

        The number counts only if it means a place with so many messages.
        """
        mark = self._marks[number] if number is not None and 0 <= number < len(self._marks) else None
        if number is not None and mark is not None and mark.length == length:
            self._marks = self._marks[:number]
            return [*messages[: length - 1], mark.last] if mark.last is not None else []
        self._marks = [mark for mark in self._marks if mark.length < length]
        return list(messages[:length])
