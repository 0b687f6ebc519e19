"""What the engine asks of a model and what comes back, whoever serves it."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from enum import StrEnum
from typing import Protocol, TypeAlias

from tejat.core.errors import TejatError
from tejat.core.frozen import field, frozen
from tejat.core.messages.history import Message
from tejat.core.messages.types import FunctionCall, JsonObject, Text, Thought
from tejat.core.tools.base import FunctionDeclaration

CONVERSATION = "conversation"
"""The purpose of a request that is none of the others."""


class Capability(StrEnum):
    """What some services do on their own side while they answer."""

    GOOGLE_SEARCH = "google_search"
    URL_CONTEXT = "url_context"


@frozen
class ModelRequest:
    """One question to a model.

    `messages` is a legal history (`core/messages/history.py`); messages already sent are the same objects, so a client
    need not encode them again. `answer_schema` asks for an answer in JSON. `purpose` is for whoever counts.
    """

    messages: Sequence[Message]
    system: str = ""
    tools: tuple[FunctionDeclaration, ...] = ()
    response_schema: JsonObject | None = None
    capabilities: frozenset[Capability] = frozenset()
    max_output_tokens: int | None = None
    temperature: float | None = None
    purpose: str = CONVERSATION


@frozen
class Usage:
    """Tokens. `prompt` is everything that was sent, `cached` the part of it that came from a cache.

    `output` is what was answered, `thoughts` what was thought besides, `tool` what the service's own tools read.
    """

    prompt: int = 0
    cached: int = 0
    output: int = 0
    thoughts: int = 0
    tool: int = 0

    @property
    def total(self) -> int:
        return self.prompt + self.output + self.thoughts + self.tool

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.prompt + other.prompt,
            self.cached + other.cached,
            self.output + other.output,
            self.thoughts + other.thoughts,
            self.tool + other.tool,
        )


NO_USAGE = Usage()


class FinishReason(StrEnum):
    """Why an answer ended."""

    STOP = "stop"
    MAX_TOKENS = "max_tokens"
    BLOCKED = "blocked"
    MALFORMED_CALL = "malformed_call"
    OTHER = "other"


@frozen
class GroundingSource:
    title: str | None
    uri: str | None


@frozen
class Citation:
    """The sources (by their index) of the text that ends at this UTF-8 byte offset of the answer."""

    end: int
    sources: tuple[int, ...]


@frozen
class Grounding:
    """Where an answer came from, as the service tells. `fetched` maps an address to what became of it."""

    sources: tuple[GroundingSource, ...] = ()
    citations: tuple[Citation, ...] = ()
    fetched_urls: Mapping[str, str] = field(default_factory=dict[str, str])


@frozen
class TextDelta:
    text: str


@frozen
class ThoughtDelta:
    text: str


@frozen
class Retry:
    """An attempt failed and another follows after `wait` seconds. What was streamed of this answer so far is void.

    `attempt` of `most` is the one that failed, counted from 1.
    """

    kind: "FailureKind"
    reason: str
    attempt: int
    max_attempts: int
    wait: float


@frozen
class ModelResponse:
    """The whole answer: the last chunk of every stream that ends well.

    `detail` says more about a reason that is not STOP. `model` is who answered, as the service calls it.
    """

    message: Message
    reason: FinishReason = FinishReason.STOP
    usage: Usage = NO_USAGE
    detail: str = ""
    model: str = ""
    grounding: Grounding | None = None

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.message.parts if isinstance(part, Text))

    @property
    def thoughts(self) -> str:
        return "".join(part.text for part in self.message.parts if isinstance(part, Thought))

    @property
    def calls(self) -> tuple[FunctionCall, ...]:
        return self.message.calls

    @property
    def is_empty(self) -> bool:
        return not self.calls and not self.text.strip()


Chunk: TypeAlias = TextDelta | ThoughtDelta | Retry | ModelResponse


AskModel: TypeAlias = Callable[[ModelRequest], Awaitable[ModelResponse]]
"""How a tool or a part of the engine asks a model something on the side. Raises ModelFailure."""


class FailureKind(StrEnum):
    """What went wrong between us and a model."""

    NO_KEY = "no_key"
    AUTHENTICATION = "authentication"
    BAD_REQUEST = "bad_request"
    CONTEXT_FULL = "context_full"
    OVER_BUDGET = "over_budget"
    RATE_LIMITED = "rate_limited"
    UNAVAILABLE = "unavailable"
    NETWORK = "network"
    TIMED_OUT = "timed_out"
    STREAM_CUT = "stream_cut"
    BLOCKED = "blocked"
    EMPTY = "empty"
    MALFORMED_CALL = "malformed_call"
    PROTOCOL = "protocol"
    SCRIPT = "script"


class ModelFailure(TejatError):
    """A model did not answer. The message says what happened and what to do; no secret is ever in it.

    `retry_after` is how many seconds the service asked us to wait. `can_retry` says whether the very same request
    might succeed later.
    """

    def __init__(
        self,
        message: str,
        kind: FailureKind,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        can_retry: bool = False,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.kind = kind
        self.status = status
        self.retry_after = retry_after
        self.can_retry = can_retry


class ModelClient(Protocol):
    """One model at one service. Safe for several streams at once."""

    @property
    def name(self) -> str:
        """The model as the person named it."""
        ...

    @property
    def context_window(self) -> int:
        """How many tokens a request may have."""
        ...

    @property
    def capabilities(self) -> frozenset[Capability]: ...

    def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        """The answer as it comes, the last chunk being an `Answer`. Raises ModelFailure.

        Whoever stops reading closes the generator, which ends the request.
        """
        ...

    async def count_tokens(self, request: ModelRequest) -> int:
        """How many tokens the request has, by the service's own count or an estimate that is not too low."""
        ...

    async def close(self) -> None: ...
