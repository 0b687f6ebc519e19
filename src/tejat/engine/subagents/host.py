"""What the runs of sub-agents get of their session."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Protocol

from tejat.core.agent.events import AgentEvent
from tejat.core.agent.history_events import HistoryEvent
from tejat.core.agent.session_state import SessionState
from tejat.core.agent.subagent_events import AgentEnded, AgentStarted
from tejat.core.agent.subagents import SubagentDefinition
from tejat.core.approval.confirmation import Approver
from tejat.core.approval.modes import ApprovalMode
from tejat.core.frozen import Frozen
from tejat.core.messages.types import FunctionCall
from tejat.core.model import ModelClient
from tejat.engine.calls.scheduler import Scheduler
from tejat.engine.loop.budget import Budget
from tejat.engine.loop.compressor import Compressor
from tejat.engine.loop.conversation import Conversation
from tejat.engine.loop.loop_detector import LoopDetector
from tejat.engine.loop.tool_declarations import ToolDeclarations
from tejat.engine.models.conversation_models import ConversationModels
from tejat.engine.sessions.event_bus import EventBus
from tejat.engine.subagents.copies import AgentCopy
from tejat.engine.subagents.rights import AgentIdentity
from tejat.tools.registry import ToolRegistry

if TYPE_CHECKING:
    from tejat.engine.hooks.session_hooks import SessionHooks


class AgentModels(Frozen):
    """The model that a run asks, and which others may answer instead. Both are closed at its end."""

    model: ModelClient
    others: ConversationModels


class SubagentHost(Protocol):
    """The session of sub-agents: its tools, rules, budget, model and journal."""

    @property
    def scheduler(self) -> Scheduler:
        """The scheduler of the session, whose tools and permissions bound those of every agent."""
        ...

    @property
    def budget(self) -> Budget: ...

    @property
    def events(self) -> EventBus[AgentEvent]: ...

    @property
    def state(self) -> SessionState:
        """Values that outlive a resume."""
        ...

    @property
    def approver(self) -> Approver | None: ...

    @property
    def hooks(self) -> "SessionHooks | None": ...

    def open_calls(self) -> Sequence[FunctionCall]:
        """The calls of the session's last answer, which run now."""
        ...

    def record(self, agent_id: str, event: HistoryEvent | AgentStarted | AgentEnded) -> None:
        """Record what happens in a run, apart from the session's own history."""
        ...

    def open_models(self, definition: SubagentDefinition, approver: Approver | None) -> AgentModels:
        """Open the model of an agent, or the session's model if it has none or its own cannot be had."""
        ...

    def open_servers(self, definition: SubagentDefinition, registry: ToolRegistry) -> AbstractAsyncContextManager[None]:
        """Run the agent's own MCP servers, whose tools are added to its registry."""
        ...

    def open_copy(
        self, definition: SubagentDefinition, identity: AgentIdentity, approver: Approver | None
    ) -> AbstractAsyncContextManager[AgentCopy | None]:
        """Open the copy of the files that an agent works in, None if it works on the files themselves.

        Raises CopyUnavailable if it must not start without a copy.
        """
        ...

    def declare(
        self, registry: ToolRegistry, is_forbidden: Callable[[str, str | None], bool], window: Callable[[], int]
    ) -> ToolDeclarations:
        """The declarations of an agent's tools for a context window of this size."""
        ...

    def system_prompt(
        self, definition: SubagentDefinition, prompt: str, *, model: str, tools: Sequence[str], mode: ApprovalMode
    ) -> str:
        """The system prompt of an agent that has these tools, and does the task of this prompt."""
        ...

    def carry_state(self, agent_id: str, conversation: Conversation) -> None:
        """Let the todos and the active skills of a run outlive the summaries of its conversation."""
        ...

    def safeguards(self) -> tuple[LoopDetector, Compressor]:
        """New safeguards with the session's settings."""
        ...

    def count_changed_files(self, agent_id: str) -> int:
        """How many files the calls of a run changed."""
        ...

    def undo_id(self, agent_id: str) -> str:
        """The id by which all changes of a run are undone."""
        ...

    def interrupt(self) -> bool:
        """End the present turn of the session. False if there is none."""
        ...
