"""What a front end can see of a conversation, besides the calls in it."""

from collections.abc import Callable
from enum import StrEnum
from typing import TypeAlias

from tejat.core.agent.questions import PendingQuestion
from tejat.core.approval.confirmation import ApprovalReply
from tejat.core.frozen import frozen
from tejat.core.messages.history import Message
from tejat.core.model import CONVERSATION, NO_USAGE, FailureKind, ModelResponse, Usage
from tejat.core.tools.call_events import Event


class SessionSource(StrEnum):
    """How a session came to begin, in the words that hooks are told."""

    STARTUP = "startup"
    RESUME = "resume"
    CLEAR = "clear"


class SessionEnd(StrEnum):
    """Why a session ends, in the words that hooks are told."""

    EXIT = "exit"
    CLEAR = "clear"
    OTHER = "other"


@frozen
class SessionStarted:
    """The first event of a run. `session_id` is how the session is found again."""

    session_id: str
    model: str
    is_resumed: bool = False


@frozen
class Prompted:
    """What was asked, as the model gets it; `shown` is what the person wrote."""

    message: Message
    display_text: str


@frozen
class Steered:
    """What the person said while the run went on, and the model gets with its next request."""

    text: str


@frozen
class TextStreamed:
    text: str


@frozen
class ThoughtStreamed:
    text: str


@frozen
class Answered:
    """The model has finished one answer. Its calls, if it has any, run next.

    A purpose other than the conversation: a tool or the engine asked something on the side, and nothing was streamed.
    """

    answer: ModelResponse
    seconds: float
    purpose: str = CONVERSATION


@frozen
class Retrying:
    """An attempt failed. What was streamed of this answer is void; the next attempt begins after `wait` seconds."""

    kind: FailureKind
    reason: str
    attempt: int
    max_attempts: int
    wait: float
    purpose: str = CONVERSATION


@frozen
class RequestFailed:
    """A request to a model came to nothing, after all its attempts."""

    kind: FailureKind
    message: str
    seconds: float
    purpose: str = CONVERSATION


@frozen
class ModelChanged:
    before: str
    after: str
    reason: str


@frozen
class HistoryRepaired:
    """What had to be put right in the conversation before it could go on."""

    repairs: tuple[str, ...]


class CompressionStatus(StrEnum):
    COMPRESSED = "compressed"
    INFLATED = "inflated"
    FAILED = "failed"
    NOT_NEEDED = "not_needed"


@frozen
class Compressed:
    """The history was summarised, or not, and why. Counted in tokens."""

    before: int
    after: int
    status: CompressionStatus
    detail: str = ""


@frozen
class LoopDetected:
    """The model seems to turn in circles. The first time it is told so, the second time the run ends."""

    detail: str
    ends_run: bool


class Severity(StrEnum):
    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"


@frozen
class Noticed:
    """Something that the person should know and nobody has to act on."""

    message: str
    severity: Severity = Severity.WARNING


@frozen
class QuestionAsked:
    """The run waits for an answer of the user. See `Session.answer`."""

    question: PendingQuestion


@frozen
class QuestionAnswered:
    """A question is settled. The reply is None if the question was withdrawn because the run ended."""

    question_id: str
    reply: ApprovalReply | None


class EndReason(StrEnum):
    """Why a run is over."""

    FINISHED = "finished"
    BAD_PROMPT = "bad_prompt"
    NOT_TRUSTED = "not_trusted"
    NOT_ALLOWED = "not_allowed"
    INTERRUPTED = "interrupted"
    TURN_LIMIT = "turn_limit"
    TOKEN_LIMIT = "token_limit"
    COST_LIMIT = "cost_limit"
    TIME_LIMIT = "time_limit"
    LOOP = "loop"
    TRUNCATED = "truncated"
    BLOCKED = "blocked"
    EMPTY = "empty"
    MALFORMED_CALL = "malformed_call"
    CONTEXT_FULL = "context_full"
    MODEL_FAILED = "model_failed"
    TOOL_STOPPED = "tool_stopped"
    FAILED = "failed"


@frozen
class RunEnded:
    """The last event of a run, always. `text` is what the model said in it; the numbers are the session's so far.

    `message` says in a sentence why it ended, and is empty for a run that finished well. `failure` tells what kind of
    model failure it was. `undelivered` is what the person said meanwhile and the model never got.
    """

    reason: EndReason
    text: str = ""
    message: str = ""
    usage: Usage = NO_USAGE
    cost: float | None = None
    turns: int = 0
    seconds: float = 0.0
    failure: FailureKind | None = None
    undelivered: tuple[str, ...] = ()


AgentEvent: TypeAlias = (
    Event
    | SessionStarted
    | Prompted
    | Steered
    | TextStreamed
    | ThoughtStreamed
    | Answered
    | Retrying
    | RequestFailed
    | ModelChanged
    | HistoryRepaired
    | Compressed
    | LoopDetected
    | Noticed
    | QuestionAsked
    | QuestionAnswered
    | RunEnded
)
EventSink: TypeAlias = Callable[[AgentEvent], None]
