"""What hooks are to the engine: when they run, and what they may do to a call, a prompt and a request."""

from enum import StrEnum
from typing import Protocol

from tejat.core.agent.events import SessionEnd, SessionSource
from tejat.core.approval.confirmation import ApprovalRequest
from tejat.core.frozen import frozen
from tejat.core.messages.types import FunctionCall, Params
from tejat.core.model import ModelRequest, ModelResponse
from tejat.core.tools.base import BaseTool, ToolResult


class HookEvent(StrEnum):
    """When a hook runs. The values are the names in settings and in what hooks are told."""

    BEFORE_TOOL = "BeforeTool"
    AFTER_TOOL = "AfterTool"
    BEFORE_AGENT = "BeforeAgent"
    AFTER_AGENT = "AfterAgent"
    BEFORE_MODEL = "BeforeModel"
    AFTER_MODEL = "AfterModel"
    SESSION_START = "SessionStart"
    SESSION_END = "SessionEnd"
    PRE_COMPRESS = "PreCompress"
    NOTIFICATION = "Notification"


GUARD_EVENTS = frozenset({HookEvent.BEFORE_TOOL, HookEvent.BEFORE_AGENT, HookEvent.BEFORE_MODEL})
"""What is about to happen waits for these hooks. Where one of them fails, a person decides, or nothing happens."""


@frozen
class HookedCall:
    """What hooks left of a call: its arguments, and why a person has to be asked whatever the rules say.

    `context` is for the model, together with the result.
    """

    params: Params
    is_rewritten: bool = False
    objection: str = ""
    context: str = ""


class ToolHooks(Protocol):
    """The hooks around a call."""

    async def before_tool(self, call: FunctionCall, tool: BaseTool) -> HookedCall:
        """To be asked once, when the arguments were found valid. Raises ToolFailure where the call must not run."""
        ...

    def notify_question(self, question: ApprovalRequest) -> None:
        """The person is being asked. Returns at once."""
        ...

    def notify(self, message: str) -> None:
        """Tell the user about a problem of hooks."""
        ...

    async def after_tool(
        self, call: FunctionCall, tool: BaseTool, checked: HookedCall, result: ToolResult
    ) -> ToolResult:
        """The result as the hooks leave it. Raises nothing but the cancellation of its task."""
        ...


class AgentHooks(Protocol):
    """The hooks around a session, its prompts and its requests. StoppedByHook ends a run; nothing else is raised."""

    async def before_prompt(self, prompt: str, *, source: SessionSource) -> str:
        """What the model is told besides the prompt. The first prompt begins the session. Raises StoppedByHook."""
        ...

    async def after_prompt(self, prompt: str, answer: str, *, is_repeated: bool) -> str:
        """What the model has to go on with, empty if it may end. `is_repeated`: it went on for this reason before."""
        ...

    async def before_model(self, request: ModelRequest, model: str) -> None:
        """Raises StoppedByHook."""
        ...

    async def after_model(self, request: ModelRequest, model: str, answer: ModelResponse) -> None:
        """Raises StoppedByHook."""
        ...

    async def before_compress(self, *, by_user: bool = False) -> None: ...

    async def end(self, reason: SessionEnd) -> None:
        """The session ends, and another one may begin."""
        ...

    async def close(self) -> None:
        """The last session ends."""
        ...
