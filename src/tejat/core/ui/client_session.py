"""Values of sessions that a client program opens and drives."""

from collections.abc import Mapping

from tejat.core.agent.editor import EditorBuffers, EditorTerminals
from tejat.core.frozen import Frozen, field
from tejat.core.messages.types import JsonObject


class SessionRequest(Frozen):
    """A session to open: a new one with this id, or the stored one that has it.

    The directories are absolute paths. `mcp_servers` are more MCP servers, in the format of the settings.
    """

    session_id: str
    directory: str
    is_stored: bool = False
    additional_directories: tuple[str, ...] = ()
    mcp_servers: Mapping[str, JsonObject] = field(default_factory=dict[str, JsonObject])
    buffers: EditorBuffers | None = None
    terminals: EditorTerminals | None = None


class AuthenticationMethod(Frozen):
    """A way to get a key for a service, which is read from the environment variable `variable`."""

    method_id: str
    name: str
    description: str
    provider: str
    variable: str


class ModeOption(Frozen):
    mode: str
    name: str
    description: str


class ModelOption(Frozen):
    name: str
    description: str = ""


class ContextUsage(Frozen):
    """The tokens in the context and the size of the window, 0 if unknown, and the cost in dollars, None if unknown."""

    used: int
    size: int
    cost: float | None
