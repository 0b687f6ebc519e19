"""The hook contract: when hooks run, and what they may do to calls, prompts and requests."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from math import inf
from typing import Any, Literal, Protocol, TypeAlias, cast

from tejat.core.agent.events import SessionEnd, SessionSource
from tejat.core.approval.confirmation import ApprovalRequest
from tejat.core.frozen import Frozen, Value
from tejat.core.messages.types import FunctionCall, JsonObject, Params
from tejat.core.model import ModelRequest, ModelResponse
from tejat.core.text.one_or_many import keep_as_tuple
from tejat.core.text.str_enum import StrEnum
from tejat.core.tools.base import BaseTool, ToolResult

DEFAULT_TIMEOUT = 60.0
"""Seconds that a hook may take unless it says otherwise."""


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


class HookReply(Value):
    """The answer of a Python hook. `allow` and no decision both mean "no objection".

    `deny` blocks the action, `ask` asks the approver; `reason` says why. `stops` ends the run. `message` is shown to
    the user, `context` is added for the model. `tool_input` is merged into the arguments of the call, or replaces them
    if `replaces_input`. `tools` are the only tools that the next request offers, for `BeforeToolSelection`.

    Raises TypeError for a field of a wrong type, and ValueError for an unknown decision.
    """

    decision: Literal["allow", "ask", "deny"] | None = None
    reason: str = ""
    stops: bool = False
    message: str = ""
    context: str = ""
    tool_input: JsonObject | None = None
    replaces_input: bool = False
    tools: Sequence[str] | None = None

    def __post_init__(self) -> None:
        """Raises TypeError and ValueError."""
        keep_as_tuple(self, "tools")
        if self.decision not in (None, "allow", "ask", "deny"):
            raise ValueError(f"The decision of a hook must be allow, ask or deny, not {self.decision!r}.")
        texts: dict[str, object] = {"reason": self.reason, "message": self.message, "context": self.context}
        for name, text in texts.items():
            if not isinstance(text, str):
                raise TypeError(f"The {name} of a HookReply must be a string, not {text!r}.")
        switches: dict[str, object] = {"stops": self.stops, "replaces_input": self.replaces_input}
        for name, switch in switches.items():
            if not isinstance(switch, bool):
                raise TypeError(f"The {name} of a HookReply must be True or False, not {switch!r}.")
        objects: dict[str, object] = {"tool_input": self.tool_input}
        for name, given in objects.items():
            if given is not None and not isinstance(given, Mapping):
                raise TypeError(f"The {name} of a HookReply must be a mapping, not {given!r}.")
        tools: Any = self.tools
        if tools is not None and not (isinstance(tools, list | tuple) and all(map(_is_text, cast("Any", tools)))):
            raise TypeError(f"The tools of a HookReply must be a list of names, not {self.tools!r}.")


def _is_text(given: object) -> bool:
    return isinstance(given, str)


HookAnswer: TypeAlias = HookReply | JsonObject | None
"""What a Python hook returns: a reply, the JSON object that a command hook would print, or None for no objection."""
HookFunction: TypeAlias = Callable[[dict[str, Any]], HookAnswer | Awaitable[HookAnswer]]
"""A Python hook. It gets the JSON object that a command hook gets, and may be `async`."""


class Hook(Frozen):
    """A Python function that runs on an event, as an entry of `Agent(hooks=...)`. `@hook` makes one of a function.

    `matcher` is that of command hooks; an empty one matches everything. `name` is used in messages; the default is the
    name of the function. `event` is required unless the hook is listed under its event.

    If the function takes longer than `timeout` seconds, the hook has failed: before a tool call, a prompt or a request
    the approver decides, and without an approver the action is refused. An `async` function is cancelled. Any other
    function runs in a thread of its own, which is left behind. What the function raises ends the run and is raised to
    the caller.

    Raises TypeError for a field of a wrong type, and ValueError for an unknown event or an invalid timeout.
    """

    function: HookFunction
    matcher: str = ""
    name: str = ""
    timeout: float = DEFAULT_TIMEOUT
    event: str = ""

    def __post_init__(self) -> None:
        function: object = self.function
        if not callable(function) or isinstance(function, type):
            raise TypeError(f"A hook must be a function that takes the event, not {function!r}.")
        texts: dict[str, object] = {"matcher": self.matcher, "name": self.name, "event": self.event}
        for field, value in texts.items():
            if not isinstance(value, str):
                raise TypeError(f"The {field} of a hook must be a string, not {value!r}.")
        if not _is_number(self.timeout):
            raise TypeError(f"The timeout of a hook must be a number of seconds, not {self.timeout!r}.")
        if not 0 < self.timeout < inf:
            raise ValueError(f"The timeout of a hook must be more than 0 seconds, not {self.timeout!r}.")
        if self.event and self.event not in list(HookEvent):
            raise ValueError(f"Unknown hook event {self.event!r}. Use one of {', '.join(HookEvent)}.")

    def __call__(self, event: dict[str, Any]) -> HookAnswer | Awaitable[HookAnswer]:
        """Call the function."""
        return self.function(event)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


HooksLike: TypeAlias = Mapping[str, HookFunction | Hook | Sequence[HookFunction | Hook]] | Hook | Sequence[Hook]
"""Python hooks: a mapping from events to functions or `Hook` objects, or a list of hooks that name their event."""


class HookedCall(Frozen):
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
