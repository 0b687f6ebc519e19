"""Values about MCP servers and their features."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from tejat.core.frozen import Frozen, field
from tejat.core.messages.types import JsonObject
from tejat.core.text.str_enum import StrEnum


class ToolAnnotations(Frozen):
    """A server's claims about its tool. Unverified: they relax no decision unless the user trusts the server."""

    title: str | None = None
    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None


class ServerTool(Frozen):
    """`input_schema` is None if the server sent none or no object."""

    name: str
    description: str = ""
    title: str | None = None
    input_schema: JsonObject | None = None
    output_schema: JsonObject | None = None
    annotations: ToolAnnotations = ToolAnnotations()


class PromptArgument(Frozen):
    name: str
    description: str = ""
    is_required: bool = False


class ServerPrompt(Frozen):
    name: str
    description: str = ""
    title: str | None = None
    arguments: tuple[PromptArgument, ...] = ()


class ServerResource(Frozen):
    uri: str
    name: str = ""
    description: str = ""
    title: str | None = None
    mime_type: str | None = None


class ServerInfo(Frozen):
    """The server's identity, revision and capabilities."""

    name: str
    version: str
    revision: str
    capabilities: JsonObject
    instructions: str | None = None


class ServerFeatures(Frozen):
    """Everything that a server offers. `problems` says what was left out, and why."""

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
    """Failed or ended. The status has the reason."""
    NEEDS_LOGIN = "needs login"
    BLOCKED = "blocked"
    """The settings or missing trust in the folder prevent it from starting."""
    DISABLED = "disabled"
    """Switched off by the user."""


class ConnectionStep(StrEnum):
    """The current step of connecting, or the one that failed."""

    START = "start"
    HANDSHAKE = "handshake"
    LIST = "list"
    CALL = "call"


class ServerStatus(Frozen):
    """The status of a server. `location` is its command without arguments, or its URL without secrets."""

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
    """Time until it was connected or had failed."""


class McpProgress(Frozen):
    """Progress of a call. `total` is None if unknown."""

    done: float
    total: float | None = None
    message: str = ""


class ClientSession(Protocol):
    """One server, as its users see it. Methods wait for a starting server, and raise McpFailure."""

    @property
    def alias(self) -> str: ...

    async def call_tool(
        self, name: str, arguments: JsonObject, *, on_progress: Callable[[McpProgress], None] | None = None
    ) -> JsonObject:
        """Return the result as the server gave it: `content`, `structuredContent`, `isError`.

        Cancelling the task cancels the call.
        """
        ...

    async def get_prompt(self, name: str, arguments: JsonObject) -> JsonObject: ...

    async def read_resource(self, uri: str) -> JsonObject: ...


class McpRoot(Frozen):
    """A directory that a server may know about."""

    uri: str
    name: str


class ClientCallbacks(Frozen):
    """Callbacks for requests of servers. They get the server's alias first; params and results are those of the wire.

    `elicit` asks the user, `sample` the model of the session; None: unsupported, and not declared to the server.
    """

    roots: Callable[[], Sequence[McpRoot]] = field(default=lambda: ())
    elicit: Callable[[str, JsonObject], Awaitable[JsonObject]] | None = None
    sample: Callable[[str, JsonObject], Awaitable[JsonObject]] | None = None
