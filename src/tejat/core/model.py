"""The model contract: requests, streamed responses, failures."""

from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Protocol, TypeAlias, runtime_checkable

from tejat.core.errors import TejatError, require_type
from tejat.core.frozen import Frozen, Value, field
from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.history import Message
from tejat.core.messages.types import FunctionCall, JsonObject, Text, Thought
from tejat.core.sanitize import is_blank
from tejat.core.text.str_enum import StrEnum

CONVERSATION = "conversation"
"""The purpose of the requests of the conversation itself."""
MAIN_LANE = "main"
"""The lane of the requests of the session's own conversation."""


class Capability(StrEnum):
    """A feature that a service performs on its own side."""

    GOOGLE_SEARCH = "google_search"
    URL_CONTEXT = "url_context"


class ModelRequest(Value):
    """A request to a model.

    `messages` is a legal history (`core/messages/history.py`); messages already sent are the same objects, so a client
    need not encode them again. `response_schema` asks for a JSON response. `purpose` is for statistics. With
    `allows_silence` an empty response is valid: a model may have nothing to add to the results of its calls.
    `generation` are values of the user's settings in the names of the Gemini API (`generateContentConfig`); they take
    precedence over `temperature`. `is_retry`: the last answer to this request was unusable. `lane` is the conversation
    that the request belongs to: the session's own, or that of a sub-agent.
    """

    messages: Sequence[Message]
    system: str = ""
    tools: tuple[FunctionDeclaration, ...] = ()
    response_schema: JsonObject | None = None
    capabilities: frozenset[Capability] = frozenset()
    max_output_tokens: int | None = None
    temperature: float | None = None
    purpose: str = CONVERSATION
    allows_silence: bool = False
    generation: JsonObject = MappingProxyType({})
    is_retry: bool = False
    lane: str = MAIN_LANE


class Usage(Value):
    """Token counts. `prompt` is everything sent, `cached` the part of it that came from a cache.

    `output` is the response, `thoughts` the thoughts besides, `tool` what the tools of the service read. `cache_write`
    is the part of `prompt` that was written to a cache, where the service charges for it.
    """

    prompt: int = 0
    cached: int = 0
    output: int = 0
    thoughts: int = 0
    tool: int = 0
    cache_write: int = 0

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
            self.cache_write + other.cache_write,
        )


NO_USAGE = Usage()


class FinishReason(StrEnum):
    """Why a response ended."""

    STOP = "stop"
    MAX_TOKENS = "max_tokens"
    BLOCKED = "blocked"
    MALFORMED_CALL = "malformed_call"
    OTHER = "other"


class GroundingSource(Value):
    title: str | None
    uri: str | None


class Citation(Value):
    """The sources, by index, of the text that ends at this UTF-8 byte offset of the response."""

    end: int
    sources: tuple[int, ...]


class Grounding(Value):
    """The sources of a response. `fetched_urls` maps URLs to the status of fetching them."""

    sources: tuple[GroundingSource, ...] = ()
    citations: tuple[Citation, ...] = ()
    fetched_urls: Mapping[str, str] = field(default_factory=dict[str, str])


class TextDelta(Value):
    """A piece of the text of a response."""

    text: str


class ThoughtDelta(Value):
    """A piece of a thought of the model."""

    text: str


class Retry(Frozen):
    """A failed attempt; the next one begins after `wait` seconds. Text streamed for this response is void.

    `attempt` of `max_attempts` is the one that failed, counted from 1.
    """

    kind: "FailureKind"
    reason: str
    attempt: int
    max_attempts: int
    wait: float


class Delayed(Frozen):
    """The request is not sent yet: `reason` says why. The wait takes about `wait` seconds, or several times that."""

    reason: str
    wait: float


class ModelResponse(Value):
    """The complete response: the last chunk of every successful stream.

    `detail` explains a reason other than STOP. `model` is the name that the service reports.
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
        return not self.calls and is_blank(self.text)


Chunk: TypeAlias = TextDelta | ThoughtDelta | Retry | Delayed | ModelResponse


AskModel: TypeAlias = Callable[[ModelRequest], Awaitable[ModelResponse]]
"""A side request of a tool or the engine to a model. Raises ModelFailure."""


class FailureKind(StrEnum):
    """The kind of a model failure."""

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


class ContextOverflow(Value):
    """The size of a request that is too long and the context window of the model, 0 if the service did not say."""

    tokens: int = 0
    window: int = 0


_UNKNOWN_OVERFLOW = ContextOverflow()


class ModelFailure(TejatError):
    """A failed model request. The message says what happened and what to do, and never contains a secret.

    `retry_after` is the delay in seconds that the service asked for. `can_retry` says whether the same request might
    succeed later. `overflow` has the figures of a CONTEXT_FULL.
    """

    def __init__(
        self,
        message: str,
        kind: FailureKind,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        can_retry: bool = False,
        overflow: ContextOverflow = _UNKNOWN_OVERFLOW,
    ) -> None:
        super().__init__(message)
        require_type("message", message, str, "a string")
        require_type("kind", kind, FailureKind, "a FailureKind member")
        require_type("status", status, int | None, "a whole number or None")
        require_type("retry_after", retry_after, int | float | None, "seconds or None")
        require_type("can_retry", can_retry, bool, "True or False")
        require_type("overflow", overflow, ContextOverflow, "a ContextOverflow")
        self.message = message
        self.kind = kind
        self.status = status
        self.retry_after = retry_after
        self.can_retry = can_retry
        self.overflow = overflow

    @property
    def is_unknown_model(self) -> bool:
        """Whether the service has no model of this name."""
        return self.kind is FailureKind.BAD_REQUEST and self.status == 404


class ModelClient(Protocol):
    """A model at a service. Safe for concurrent streams."""

    @property
    def name(self) -> str:
        """The model as the user named it."""
        ...

    @property
    def context_window(self) -> int:
        """The maximum number of tokens of a request."""
        ...

    @property
    def capabilities(self) -> frozenset[Capability]: ...

    async def prepare(self) -> Sequence[str]:
        """Find out what the server of the model can do, above all its context window. Returns notices for the user.

        Takes a few seconds at most, and no time when it is known. Raises only CancelledError.
        """
        ...

    def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        """Stream a response. The last chunk is a `ModelResponse`. Raises ModelFailure.

        Closing the generator ends the request.
        """
        ...

    async def count_tokens(self, request: ModelRequest) -> int:
        """Count the tokens of a request, by the service or by estimate."""
        ...

    async def close(self) -> None: ...


ModelOutput: TypeAlias = str | TextDelta | ThoughtDelta | Text | Thought | FunctionCall | Usage | ModelResponse
"""What a `Model` yields: pieces of its text and its thoughts, function calls, token counts, or a complete response."""


@runtime_checkable
class Model(Protocol):
    """A model of the program's own, for `Agent(model=...)`.

    `stream` yields the response piece by piece. A string is a piece of text. A `ModelResponse` is the complete
    response and the last piece; without one, the response consists of what was yielded, and token counts that were not
    yielded are estimated. A failure that the agent should handle is a ModelFailure; with `can_retry` the request is
    sent again. Any other exception ends the run and is raised to its caller.

    Further members are used if they exist: `name`, `context_window` (tokens), `capabilities`, `price` (a `Price`), and
    the coroutine function `count_tokens(request)`. The agent never closes the model.
    """

    def stream(self, request: ModelRequest, /) -> AsyncIterable[ModelOutput]:
        """Yield the response piece by piece. Raises ModelFailure."""
        ...
