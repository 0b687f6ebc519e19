"""The points of a conversation that can be rewound to, one before each prompt."""

from collections.abc import Iterable, Iterator, Sequence

from tejat.core.frozen import Frozen
from tejat.core.messages.history import Message, Role


class RewindPoint(Frozen, eq=False):
    """The state of a conversation before a prompt: its number of messages and the last of them.

    `display_text` is the text of the prompt, `created_at` its time in seconds since 1970.
    """

    display_text: str
    created_at: float
    length: int
    last_message: Message | None

    @property
    def prompt_index(self) -> int:
        """The index of the prompt: after the messages before it, or in the last one if that was the user's too."""
        is_merged = self.last_message is not None and self.last_message.role is Role.USER
        return self.length - 1 if is_merged else self.length


class RewindPoints:
    """The points of all prompts in the conversation, oldest first."""

    def __init__(self, points: Iterable[RewindPoint] = ()) -> None:
        self._points = list(points)

    def __iter__(self) -> Iterator[RewindPoint]:
        return iter(self._points)

    def __len__(self) -> int:
        return len(self._points)

    def add(self, display_text: str, at: float, messages: Sequence[Message]) -> None:
        """Add a point for a prompt that follows these messages."""
        self._points.append(RewindPoint(display_text, at, len(messages), messages[-1] if messages else None))

    def withdraw_last(self, messages: Sequence[Message]) -> None:
        """Remove the point of the last prompt if these are the messages before it."""
        last = self._points[-1] if self._points else None
        if last is not None and last.length == len(messages) and (not messages or messages[-1] is last.last_message):
            self._points.pop()

    def clear(self) -> None:
        """Remove all points, after the messages were replaced."""
        self._points = []

    def rewind(self, number: int | None, length: int, messages: Sequence[Message]) -> list[Message]:
        """Return the messages before the prompt with this number, or the first `length`; drop later points.

        The number, which starts at 0, is used only if its point has this length.
        """
        point = self._points[number] if number is not None and 0 <= number < len(self._points) else None
        if number is not None and point is not None and point.length == length:
            self._points = self._points[:number]
            return [*messages[: length - 1], point.last_message] if point.last_message is not None else []
        self._points = [point for point in self._points if point.length < length]
        return list(messages[:length])
