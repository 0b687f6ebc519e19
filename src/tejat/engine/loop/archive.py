"""The messages of a conversation that a summary has replaced, with the numbers that all messages have."""

from collections.abc import Iterable, Iterator, Sequence

from tejat.core.frozen import Frozen
from tejat.core.messages.history import Message, Role
from tejat.core.messages.types import FunctionCall, FunctionResponse, InlineData, MessagePart, Text

MAX_CHARACTERS = 32 * 2**20
"""What is kept in memory of the replaced messages, about."""


class NumberedMessage(Frozen):
    """A message with its number and that of its turn, both from 1. Turn 0 comes before the first prompt."""

    number: int
    turn: int
    message: Message


class ConversationArchive:
    """The replaced messages of a conversation, oldest first.

    Messages are numbered from 1 without those that were not said by anybody: the preamble and the summaries, which are
    the first `head_length` messages of the history. Media are kept by name only. The oldest messages are forgotten
    when all of them together become too long; `forgotten` counts those.
    """

    def __init__(self, replaced: Iterable[Message] = (), *, head_length: int = 0, limit: int = MAX_CHARACTERS) -> None:
        self.head_length = head_length
        self.forgotten = 0
        self._forgotten_turns = 0
        self._limit = limit
        self._length = 0
        self._messages: list[Message] = []
        self._add(replaced)

    @property
    def is_empty(self) -> bool:
        """Whether no message was replaced."""
        return not self._messages and not self.forgotten

    def replace(self, before: Sequence[Message], after: Sequence[Message]) -> int:
        """Keep the messages that a summary replaced, and return how many of the last messages it left alone."""
        kept = common_tail(before, after)
        self._add(before[self.head_length : len(before) - kept])
        self.head_length = len(after) - kept
        return kept

    def rewind(self, length: int) -> None:
        """Note that the history was cut to this length."""
        self.head_length = min(self.head_length, length)

    def number_of(self, index: int) -> int:
        """The number of a message by its index in the history."""
        return self.forgotten + len(self._messages) + index - self.head_length + 1

    def numbered(self, history: Sequence[Message]) -> Iterator[NumberedMessage]:
        """Number all messages, those of the present history at the end."""
        turn = self._forgotten_turns
        messages = (*self._messages, *history[self.head_length :])
        for number, message in enumerate(messages, self.forgotten + 1):
            turn += _begins_turn(message)
            yield NumberedMessage(number, turn, message)

    def _add(self, messages: Iterable[Message]) -> None:
        for message in messages:
            slim = _without_media(message)
            self._messages.append(slim)
            self._length += _length(slim)
        excess = 0
        while self._length > self._limit and excess < len(self._messages):
            oldest = self._messages[excess]
            self._length -= _length(oldest)
            self._forgotten_turns += _begins_turn(oldest)
            excess += 1
        self.forgotten += excess
        del self._messages[:excess]


def common_tail(before: Sequence[Message], after: Sequence[Message]) -> int:
    """Count the last messages that are the same in both, by identity or by content."""
    count = 0
    for old, new in zip(reversed(before), reversed(after), strict=False):
        if old is not new and (old.role, old.parts) != (new.role, new.parts):
            break
        count += 1
    return count


def _begins_turn(message: Message) -> bool:
    return message.role is Role.USER and not message.responses


def _without_media(message: Message) -> Message:
    if not any(isinstance(part, InlineData) for part in message.parts):
        return message
    parts = (Text(part.label) if isinstance(part, InlineData) else part for part in message.parts)
    return Message(message.role, tuple(parts))


def _length(message: Message) -> int:
    return sum(map(_part_length, message.parts))


def _part_length(part: MessagePart) -> int:
    if isinstance(part, Text):
        return len(part.text)
    if isinstance(part, FunctionCall):
        return len(str(part.args))
    return len(str(part.response)) if isinstance(part, FunctionResponse) else 0
