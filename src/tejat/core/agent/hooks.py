"""The hook contract: when hooks run, and what they may do to calls, prompts and requests."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from enum import StrEnum
from typing import Literal, Protocol, TypeAlias

from tejat.core.agent.events import SessionEnd, SessionSource
from tejat.core.approval.confirmation import ApprovalRequest
from tejat.core.frozen import Value, frozen
from tejat.core.messages.types import FunctionCall, JsonObject, Params
from tejat.core.model import ModelRequest, ModelResponse
from tejat.core.tools.base import BaseTool, ToolResult


class HookEvent(StrEnum):
    """When a hook runs. The values are the names in settings and in hook input."""

    BEFORE_TOOL = "BeforeTool"
    AFTER_TOOL = "AfterTool"
    BEFORE_AGENT = "BeforeAgent"
    AFTER_AGENT = "AfterAgent"
    BEFORE_MODEL = "BeforeModel"
    AFTER_MODEL = "AfterModel"
    BEFORE_TOOL_SELECTION = "BeforeToolSelection"
    SESSION_START = "SessionStart"
    SESSION_END = "SessionEnd"
    PRE_COMPRESS = "PreCompress"
    NOTIFICATION = "Notification"
    SUBAGENT_START = "SubagentStart"
    SUBAGENT_STOP = "SubagentStop"


GUARD_EVENTS = frozenset(
    {
        HookEvent.BEFORE_TOOL,
        HookEvent.BEFORE_AGENT,
        HookEvent.BEFORE_MODEL,
        HookEvent.BEFORE_TOOL_SELECTION,
        HookEvent.SUBAGENT_START,
    }
)
"""Events that wait for their hooks. If such a hook fails, the user decides, or nothing happens."""


@frozen
class HookReply(Value):
    """The answer of a Python hook. Without a decision, `allow` or a reply, there is no objection.

    `deny` blocks the action, `ask` asks the approver; `reason` says why. `stops` ends the run. `message` is shown to
    the user, `context` is added for the model. `tool_input` is merged into the arguments of the call, or replaces them
    if `replaces_input`. `tools` are the only tools that the next request offers, for `BeforeToolSelection`.
    """

    decision: Literal["allow", "ask", "deny"] | None = None
    reason: str = ""
    stops: bool = False
    message: str = ""
    context: str = ""
    tool_input: JsonObject | None = None
    replaces_input: bool = False
    tools: Sequence[str] | None = None


HookAnswer: TypeAlias = HookReply | JsonObject | None
"""What a Python hook returns: a reply, the JSON object that a command hook would print, or None for no objection."""
HookFunction: TypeAlias = Callable[[JsonObject], HookAnswer | Awaitable[HookAnswer]]
"""A Python hook. It gets the JSON object that a command hook gets, and may be `async`."""


@frozen
class Hook:
    """A Python function that runs on an event. `matcher` is that of command hooks; empty, it matches everything.

    A function that is not `async` is called in the event loop, which waits for it. What it raises ends the run and is
    raised to its caller.
    """

    function: HookFunction
    matcher: str = ""
    name: str = ""


HooksLike: TypeAlias = Mapping[str, HookFunction | Hook | Sequence[HookFunction | Hook]]
"""Python hooks by the name of their event."""


@frozen
class HookedCall:
    """A call after its hooks: its arguments, and an objection that requires approval whatever the rules say.

    `context` is added to the result for the model.
    """

    params: Params
    is_rewritten: bool = False
    objection: str = ""
    context: str = ""


class ToolHooks(Protocol):
    """Hooks around a tool call."""

    async def before_tool(self, call: FunctionCall, tool: BaseTool) -> HookedCall:
        """Run once, after the arguments were validated. Raises ToolFailure if the call must not run.

        Also raises CallbackFailure.
        """
        ...

    def notify_question(self, question: ApprovalRequest) -> None:
        """Notify hooks that the user is being asked. Returns at once."""
        ...

    def notify(self, message: str) -> None:
        """Tell the user about a problem of hooks."""
        ...

    async def after_tool(self, call: FunctionCall, tool: BaseTool, check: HookedCall, result: ToolResult) -> ToolResult:
        """Return the result as hooks changed it. Raises nothing but CancelledError and CallbackFailure."""
        ...


class AgentHooks(Protocol):
    """Hooks around a session, its prompts and its requests.

    They raise only StoppedByHook, which ends the run, and CallbackFailure for an exception in a Python function.
    """

    async def before_prompt(self, prompt: str, *, source: SessionSource) -> str:
        """Return context to add to the prompt. The first prompt starts the session. Raises StoppedByHook."""
        ...

    async def after_prompt(self, prompt: str, answer: str, *, is_repeated: bool) -> str:
        """Return a reason for the model to continue, or an empty string.

        `is_repeated`: the model already continued for this reason.
        """
        ...

    async def select_tools(self, request: ModelRequest, model: str) -> ModelRequest:
        """Return the request with the tools that hooks leave. They never add any. Raises StoppedByHook."""
        ...

    async def before_model(self, request: ModelRequest, model: str) -> None:
        """Raises StoppedByHook."""
        ...

    async def after_model(self, request: ModelRequest, model: str, answer: ModelResponse) -> None:
        """Raises StoppedByHook."""
        ...

    async def before_compress(self, *, by_user: bool = False) -> None: ...

    async def before_subagent(self, prompt: str) -> str:
        """Return context to add to the task of a sub-agent. Raises StoppedByHook if it must not start."""
        ...

    async def after_subagent(self, prompt: str, result: str, *, is_repeated: bool) -> str:
        """Return a reason for a sub-agent to continue, or an empty string.

        `is_repeated`: it already continued for this reason.
        """
        ...

    async def end(self, reason: SessionEnd) -> None:
        """End the session; another one may begin."""
        ...

    async def close(self) -> None:
        """End the last session."""
        ...
