"""Changes to the history of a conversation, for the journal."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from tejat.core.frozen import Frozen
from tejat.core.messages.history import Message
from tejat.core.messages.types import JsonValue, Part
from tejat.core.model import Usage


class PromptAdded(Frozen):
    """A message of the user. `display_text` is what the user typed; a `permanent` message cannot be withdrawn."""

    message: Message
    display_text: str
    permanent: bool = False


class ResponseAdded(Frozen):
    """An answer of the model, emitted before any of its calls runs. `seconds` is the time of the request."""

    message: Message
    usage: Usage
    model: str
    seconds: float | None = None


class CallResponsesAdded(Frozen):
    """Responses to calls of the last answer, each with the index of its call."""

    responses: Sequence[tuple[int, Sequence[Part]]]


class PromptWithdrawn(Frozen):
    """The last prompt was taken back, see `History.drop_unanswered_prompt`."""


class HistoryReplaced(Frozen):
    """These messages are the whole conversation now. The last `kept` of them were there before."""

    messages: Sequence[Message]
    kept: int = 0


class HistoryRewound(Frozen):
    """The conversation was cut to `length` messages, before the prompt with this number if there is one."""

    length: int
    prompt: int | None


class RunFinished(Frozen):
    """A run is over, for this reason of `EndReason`."""

    reason: str


class StateRecorded(Frozen):
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
