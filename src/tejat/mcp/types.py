"""What a server tells of itself, and what is known of it."""

from collections.abc import Awaitable, Callable, Sequence
from enum import StrEnum
from typing import Protocol

from tejat.core.frozen import field, frozen
from tejat.core.messages.types import JsonObject


@frozen
class ToolAnnotations:
    """What a server says about a tool of its own. Nobody has checked it: it never makes a decision milder."""

    title: str | None = None
    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None


@frozen
class ServerTool:
    """`input_schema` is None where the server gave none, or none that is an object."""

    name: str
    description: str = ""
    title: str | None = None
    input_schema: JsonObject | None = None
    output_schema: JsonObject | None = None
    annotations: ToolAnnotations = ToolAnnotations()


@frozen
class PromptArgument:
    name: str
    description: str = ""
    is_required: bool = False


@frozen
class ServerPrompt:
    name: str
    description: str = ""
    title: str | None = None
    arguments: tuple[PromptArgument, ...] = ()


@frozen
class ServerResource:
    uri: str
    name: str = ""
    description: str = ""
    title: str | None = None
    mime_type: str | None = None


@frozen
class ServerInfo:
    """Who answered, in which revision, and what it can do."""

    name: str
    version: str
    revision: str
    capabilities: JsonObject
    instructions: str | None = None


@frozen
class ServerFeatures:
    """Everything that a server offers. `problems` names what of it could not be taken, and why."""

    tools: tuple[ServerTool, ...] = ()
    prompts: tuple[ServerPrompt, ...] = ()
    resources: tuple[ServerResource, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not (self.tools or self.prompts or self.resources)


class ServerState(StrEnum):
    CONNECTING = "connecting"
    CONNECTED = "connected"
    DISCONNECTED = "disconnected"
    """It failed, or ended. The reason is in the status."""
    NEEDS_LOGIN = "needs login"
    BLOCKED = "blocked"
    """The settings or the trust in the folder keep it from being started."""
    DISABLED = "disabled"
    """The person switched it off."""


class ConnectionStep(StrEnum):
    """What a server is busy with while it is being connected, or was when it failed."""

    START = "start"
    HANDSHAKE = "handshake"
    LIST = "list"
    CALL = "call"


@frozen
class ServerStatus:
    """What is known of a server now. `where` is its command without arguments, or its address without secrets."""

    alias: str
    state: ServerState
    transport: str
    location: str
    step: ConnectionStep | None = None
    reason: str = ""
    recent_output: tuple[str, ...] = ()
    info: ServerInfo | None = None
    features: ServerFeatures = ServerFeatures()
    connect_seconds: float = 0.0
    """How long it took until it was connected, or had failed."""


@frozen
class McpProgress:
    """How far a call is. `total` is None where nobody knows."""

    done: float
    total: float | None = None
    message: str = ""


class ClientSession(Protocol):
    """One server, as its users see it. Every method waits for a server that is starting, and raises McpFailure."""

    @property
    def alias(self) -> str: ...

    async def call_tool(
        self, name: str, arguments: JsonObject, *, on_progress: Callable[[McpProgress], None] | None = None
    ) -> JsonObject:
        """The result as the server gave it: `content`, `structuredContent`, `isError`.

        When the task is cancelled the server is told.
        """
        ...

    async def get_prompt(self, name: str, arguments: JsonObject) -> JsonObject: ...

    async def read_resource(self, uri: str) -> JsonObject: ...


@frozen
class McpRoot:
    """A directory that a server may know about."""

    uri: str
    name: str


@frozen
class ClientCallbacks:
    """What a server may ask of us. Functions are given the server's alias first; params and results are the wire's.

    `elicit` asks the person, `sample` asks the model of the session; None: nobody can be asked, and the server is told
    beforehand that we cannot do that.
    """

    roots: Callable[[], Sequence[McpRoot]] = field(default=lambda: ())
    elicit: Callable[[str, JsonObject], Awaitable[JsonObject]] | None = None
    sample: Callable[[str, JsonObject], Awaitable[JsonObject]] | None = None
