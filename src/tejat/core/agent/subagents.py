"""Definitions of sub-agents: agents that the model starts for a part of its task."""

from collections.abc import Mapping
from contextvars import ContextVar
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from tejat.core.frozen import Frozen
from tejat.core.messages.types import JsonObject
from tejat.core.provenance import Provenance
from tejat.core.text.str_enum import StrEnum

if TYPE_CHECKING:
    from tejat.core.tools.base import ToolContext, ToolResult


class CopyMode(StrEnum):
    """Whether a sub-agent works in a copy of the files, whose changes the user reviews at the end."""

    NEVER = "never"
    ASK = "ask"
    ALWAYS = "always"


class SubagentEnd(StrEnum):
    """Why the run of a sub-agent ended. The values are those that the model gets."""

    GOAL = "GOAL"
    MAX_TURNS = "MAX_TURNS"
    TIMEOUT = "TIMEOUT"
    NO_COMPLETE_TASK_CALL = "ERROR_NO_COMPLETE_TASK_CALL"
    ABORTED = "ABORTED"
    ERROR = "ERROR"
    BUDGET = "BUDGET"
    LOOP = "LOOP"


class SubagentOutput(Frozen):
    """The parameter of `complete_task` that takes the result, with its JSON Schema."""

    name: str = "result"
    schema: JsonObject = MappingProxyType({"type": "string", "description": "The complete result."})


DEFAULT_OUTPUT = SubagentOutput()


class SubagentDefinition(Frozen):
    """A sub-agent as its file, the program or the user's settings define it.

    `prompt` is its system prompt. `tools` are names and patterns of the tools it may use, None for all that its parent
    has; `excluded_tools` are taken from them. `servers` are MCP servers of its own, as in the settings. Without `model`
    it uses that of the session. With `plan_only` it always works in plan mode. `input_name` is the parameter that takes
    the task if the agent is called by its own name.
    """

    name: str
    description: str
    prompt: str
    provenance: Provenance
    display_name: str = ""
    tools: tuple[str, ...] | None = None
    excluded_tools: tuple[str, ...] = ()
    servers: Mapping[str, JsonObject] = MappingProxyType({})
    model: str | None = None
    temperature: float | None = None
    max_turns: int = 30
    timeout_minutes: float = 10.0
    max_tokens: int | None = None
    max_cost: float | None = None
    plan_only: bool = False
    copy_mode: CopyMode = CopyMode.NEVER
    input_name: str = "query"
    output: SubagentOutput = DEFAULT_OUTPUT

    @property
    def qualified_name(self) -> str:
        """The name that means this agent even where another one has its bare name."""
        return f"{self.provenance.prefix}:{self.name}"


class AgentRunId(Frozen):
    """The id of a run of a sub-agent, and the call of its parent that started it. Both are empty outside of agents."""

    agent_id: str = ""
    call_id: str = ""


NO_AGENT = AgentRunId()
_current_run: ContextVar[AgentRunId] = ContextVar("current_run", default=NO_AGENT)


def current_agent() -> str:
    """The id of the sub-agent whose work the calling task does, empty outside of sub-agents."""
    return _current_run.get().agent_id


def current_agent_run() -> AgentRunId:
    """The run of a sub-agent whose work the calling task does."""
    return _current_run.get()


def enter_agent(agent_id: str, call_id: str) -> None:
    """Mark the calling task, and those that it starts, as working for a sub-agent."""
    _current_run.set(AgentRunId(agent_id, call_id))


class SubagentLauncher(Protocol):
    """Finds and starts the sub-agents of a session."""

    def find(self, name: str) -> SubagentDefinition | None:
        """The agent that a bare or qualified name means, None if there is none or it is disabled."""
        ...

    def names(self) -> tuple[str, ...]:
        """The names of the agents that can be started."""
        ...

    def only_reads(self, definition: SubagentDefinition) -> bool:
        """Whether none of the tools of an agent changes anything."""
        ...

    async def run(self, definition: SubagentDefinition, prompt: str, context: "ToolContext") -> "ToolResult":
        """Run an agent until its end. Raises ToolFailure if it cannot be started."""
        ...


def agent_lane(agent_id: str) -> str:
    """The lane of the requests of one run of a sub-agent."""
    return f"agent:{agent_id}"
