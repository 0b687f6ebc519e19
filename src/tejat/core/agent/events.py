"""Events of a session, besides those of its tool calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from tejat.core.agent.subagent_events import AgentActivity, AgentEnded, AgentStarted
from tejat.core.errors import RunFailed
from tejat.core.frozen import Value
from tejat.core.messages.history import Message
from tejat.core.model import CONVERSATION, NO_USAGE, FailureKind, ModelResponse, Usage
from tejat.core.text.str_enum import StrEnum
from tejat.core.tools.call_events import Event
from tejat.core.ui.rich_value import RichValue

if TYPE_CHECKING:
    from tejat.core.agent.questions import PendingQuestion
    from tejat.core.approval.confirmation import ApprovalReply


class SessionSource(StrEnum):
    """How a session began. The values are those that hooks get."""

    STARTUP = "startup"
    RESUME = "resume"
    CLEAR = "clear"


class SessionEnd(StrEnum):
    """Why a session ended. The values are those that hooks get."""

    EXIT = "exit"
    CLEAR = "clear"
    OTHER = "other"


class SessionStarted(Value):
    """The first event of a run. `session_id` is the id for `resume`."""

    session_id: str
    model: str
    is_resumed: bool = False


class Prompted(Value):
    """The prompt as the model gets it. `display_text` is what the user typed."""

    message: Message
    display_text: str


class Steered(Value):
    """Text that the user sent during the run. The model gets it with its next request."""

    text: str


class TextStreamed(Value):
    """A piece of the model's answer."""

    text: str


class ThoughtStreamed(Value):
    """A piece of a thought of the model."""

    text: str


class Answered(Value):
    """The model has finished one response. Its calls, if any, run next.

    A `purpose` other than the conversation marks a side request of a tool or the engine, which is not streamed.
    """

    answer: ModelResponse
    seconds: float
    purpose: str = CONVERSATION


class Retrying(Value):
    """A failed attempt. Discard the text streamed for this response; the next attempt begins after `wait` seconds."""

    kind: FailureKind
    reason: str
    attempt: int
    max_attempts: int
    wait: float
    purpose: str = CONVERSATION


class AwaitingModel(Value):
    """The model has sent nothing yet, `seconds` after a request of about `tokens` tokens."""

    seconds: float
    tokens: int
    purpose: str = CONVERSATION


class RequestFailed(Value):
    """A model request that failed after all its attempts."""

    kind: FailureKind
    message: str
    seconds: float
    purpose: str = CONVERSATION


class ModelChanged(Value):
    """Another model answers from now on."""

    before: str
    after: str
    reason: str


class HistoryRepaired(Value):
    """Repairs that made a resumed conversation valid."""

    repairs: tuple[str, ...]


class CompressionStatus(StrEnum):
    """The outcome of compressing the history."""

    COMPRESSED = "compressed"
    INFLATED = "inflated"
    FAILED = "failed"
    NOT_NEEDED = "not_needed"


class CompressionStarted(Value):
    """The model is asked to summarize the history. `Compressed` follows."""


class Compressed(Value):
    """The outcome of compressing the history, in tokens. `by_user`: the user asked for it."""

    before: int
    after: int
    status: CompressionStatus
    detail: str = ""
    by_user: bool = False


class LoopDetected(Value):
    """The model repeats itself. It is warned the first time; the run ends the second time."""

    detail: str
    ends_run: bool


class Severity(StrEnum):
    """How important a notice is."""

    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"


class Noticed(Value):
    """A message for the user that needs no answer."""

    message: str
    severity: Severity = Severity.WARNING


class PlanPresented(RichValue):
    """The model presented a plan. `mode` is the one it was approved for, empty if it was not approved."""

    path: str
    text: str
    mode: str = ""

    @property
    def is_approved(self) -> bool:
        return bool(self.mode)


class QuestionAsked(Value):
    """The run waits for an answer from the user."""

    question: PendingQuestion


class QuestionAnswered(Value):
    """A question is settled. The reply is None if the question was withdrawn because the run ended."""

    question_id: str
    reply: ApprovalReply | None


class EndReason(StrEnum):
    """Why a run ended."""

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
    UNANSWERED = "unanswered"
    FAILED = "failed"


class RunEnded(RichValue):
    """The last event of every run.

    `text` is what the model said in this run; the figures are those of the session so far. `message` says why the run
    ended, empty if it finished normally. `failure` is the kind of a model failure. `undelivered` is text that the user
    sent during the run and that did not reach the model.
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

    def raise_for_failure(self) -> RunEnded:
        """Return the event itself. Raises RunFailed if the run did not finish."""
        if self.reason is not EndReason.FINISHED:
            raise RunFailed(self)
        return self


AgentEvent: TypeAlias = (
    Event
    | SessionStarted
    | Prompted
    | Steered
    | TextStreamed
    | ThoughtStreamed
    | Answered
    | Retrying
    | AwaitingModel
    | RequestFailed
    | ModelChanged
    | HistoryRepaired
    | CompressionStarted
    | Compressed
    | LoopDetected
    | Noticed
    | PlanPresented
    | QuestionAsked
    | QuestionAnswered
    | AgentStarted
    | AgentActivity
    | AgentEnded
    | RunEnded
)
EventSink: TypeAlias = Callable[[AgentEvent], None]
