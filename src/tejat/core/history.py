"""The messages of a conversation, and what makes a sequence of them legal.

Legal means: it begins with a user message; the roles alternate; every function call of a model message is answered by
exactly one function response in the user message that follows, in the order asked; no response stands anywhere else;
no message is empty. Every service accepts such a sequence.
"""

from dataclasses import dataclass
from enum import StrEnum

from tejat.core.types import FunctionCall, FunctionResponse, MessagePart, Text

OWN_ID = "tejat-"
"""How an id begins that we gave to a call because the model gave none, or one that was taken."""

INTERRUPTED = "[Operation Cancelled] Reason: The session was interrupted before this call had a result."


class Role(StrEnum):
    USER = "user"
    MODEL = "model"


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Message:
    """Compared by identity: a message is made once, and whoever encodes it does so once."""

    role: Role
    parts: tuple[MessagePart, ...]

    @property
    def calls(self) -> tuple[FunctionCall, ...]:
        return tuple(part for part in self.parts if isinstance(part, FunctionCall))

    @property
    def responses(self) -> tuple[FunctionResponse, ...]:
        return tuple(part for part in self.parts if isinstance(part, FunctionResponse))

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, Text))


def user_message(*parts: MessagePart | str) -> Message:
    return Message(Role.USER, tuple(Text(part) if isinstance(part, str) else part for part in parts))


def model_message(*parts: MessagePart | str) -> Message:
    return Message(Role.MODEL, tuple(Text(part) if isinstance(part, str) else part for part in parts))
