"""Changes to the history of a conversation, for the journal."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from tejat.core.frozen import frozen
from tejat.core.messages.history import Message
from tejat.core.messages.types import JsonValue, Part
from tejat.core.model import Usage


@frozen
class PromptAdded:
    """A message of the user. `display_text` is what the user typed; a `permanent` message cannot be withdrawn."""

    message: Message
    display_text: str
    permanent: bool = False


@frozen
class ResponseAdded:
    """An answer of the model, emitted before any of its calls runs. `seconds` is the time of the request."""

    message: Message
    usage: Usage
    model: str
    seconds: float | None = None


@frozen
class CallResponsesAdded:
    """Responses to calls of the last answer, each with the index of its call."""

    responses: Sequence[tuple[int, Sequence[Part]]]


@frozen
class PromptWithdrawn:
    """The last prompt was taken back, see `History.drop_unanswered_prompt`."""


@frozen
class HistoryReplaced:
    """These messages are the whole conversation now. The last `kept` of them were there before."""

    messages: Sequence[Message]
    kept: int = 0


@frozen
class HistoryRewound:
    """The conversation was cut to `length` messages, before the prompt with this number if there is one."""

    length: int
    prompt: int | None


@frozen
class RunFinished:
    """A run is over, for this reason of `EndReason`."""

    reason: str


@frozen
class StateRecorded:
    """A value of the session's state has changed; None means that it was removed."""

    key: str
    value: JsonValue


HistoryEvent: TypeAlias = (
    PromptAdded
    | ResponseAdded
    | CallResponsesAdded
    | PromptWithdrawn
    | HistoryReplaced
    | HistoryRewound
    | RunFinished
    | StateRecorded
)
HistoryEventSink: TypeAlias = Callable[[HistoryEvent], None]
