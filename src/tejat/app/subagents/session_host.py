"""What sub-agents get of their session: its tools, rules, budget, models and journal."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from typing import TYPE_CHECKING

from tejat import __version__
from tejat.app.model_source import current_date, open_named_model
from tejat.app.session.session_parts import skill_catalogue, tool_index_options
from tejat.core.agent.events import AgentEvent, Noticed
from tejat.core.agent.history_events import HistoryEvent
from tejat.core.agent.session_state import TODOS_KEY, SessionState
from tejat.core.agent.subagent_events import AgentEnded, AgentStarted
from tejat.core.agent.subagents import CopyMode, SubagentDefinition
from tejat.core.approval.confirmation import ApprovalRequest, Approver, InfoConfirmation, Outcome
from tejat.core.approval.modes import ApprovalMode
from tejat.core.errors import UsageError
from tejat.core.i18n import _
from tejat.core.messages.tool_names import INVOKE_AGENT
from tejat.core.messages.types import FunctionCall
from tejat.core.model import ModelFailure
from tejat.core.tools.base import ToolContext, ToolResult
from tejat.core.tools.todos import render_todos
from tejat.core.undo import net_changes, unit_entry_id
from tejat.engine.calls.scheduler import Scheduler
from tejat.engine.hooks.session_hooks import SessionHooks
from tejat.engine.loop.budget import Budget
from tejat.engine.loop.compressor import Compressor
from tejat.engine.loop.context_window import is_lean_window
from tejat.engine.loop.conversation import Conversation
from tejat.engine.loop.loop_detector import LoopDetector
from tejat.engine.loop.tool_declarations import ToolDeclarations
from tejat.engine.sessions.agent_records import agent_event_records
from tejat.engine.sessions.event_bus import EventBus
from tejat.engine.subagents.copies import AgentCopy, CopyUnavailable
from tejat.engine.subagents.host import AgentModels
from tejat.engine.subagents.models import OwnModelFallback, SessionModel
from tejat.engine.subagents.prompt import PromptParts, build_agent_prompt
from tejat.engine.subagents.rights import AgentIdentity
from tejat.engine.subagents.run import SubagentRun
from tejat.engine.subagents.runner import SubagentRunner
from tejat.engine.subagents.tool_view import only_reads
from tejat.tools.registry import ACTIVATE_SKILL, ToolRegistry

if TYPE_CHECKING:
    from tejat.app.session.manager import SessionManager
    from tejat.engine.sessions.session import Session


class SubagentService:
    """Starts the sub-agents of the current session of a `SessionManager`, and stops them."""

    def __init__(self, manager: "SessionManager") -> None:
        settings = manager.run_config.settings
        self._agents = manager.subagents
        self._runner = SubagentRunner(
            SessionHost(manager),
            manager.subagents,
            max_parallel=settings.agents_max_parallel.value,
            max_runs=settings.agents_max_runs.value,
        )

    @property
    def running(self) -> Mapping[str, SubagentRun]:
        """The runs in progress, by their ids."""
        return self._runner.running

    def find(self, name: str) -> SubagentDefinition | None:
        return self._agents.find(name)

    def names(self) -> tuple[str, ...]:
        return tuple(agent.name for agent in self._agents.available())

    def only_reads(self, definition: SubagentDefinition) -> bool:
        return self._runner.only_reads(definition)

    async def run(self, definition: SubagentDefinition, prompt: str, context: ToolContext) -> ToolResult:
        """Raises ToolFailure."""
        return await self._runner.run(definition, prompt, context)

    def stop(self, agent_id: str) -> bool:
        """Stop one run. False if there is none with this id."""
        return self._runner.stop(agent_id)


class SessionHost:
    """Implements `engine.subagents.host.SubagentHost` for the current session."""

    def __init__(self, manager: "SessionManager") -> None:
        self._manager = manager
        self._notified: set[str] = set()

    @property
    def _session(self) -> "Session":
        return self._manager.session

    @property
    def scheduler(self) -> Scheduler:
        return self._manager.toolset.start_scheduler()

    @property
    def budget(self) -> Budget:
        return self._session.conversation.budget

    @property
    def events(self) -> EventBus[AgentEvent]:
        return self._manager.events

    @property
    def state(self) -> SessionState:
        return self._session.state

    @property
    def approver(self) -> Approver | None:
        return self._manager.questions

    @property
    def hooks(self) -> SessionHooks | None:
        return self._manager.toolset.hooks

    def open_calls(self) -> Sequence[FunctionCall]:
        return self._session.conversation.history.open_calls

    def record(self, agent_id: str, event: HistoryEvent | AgentStarted | AgentEnded) -> None:
        self._session.record_agent(agent_id, agent_event_records(event))

    def open_models(self, definition: SubagentDefinition, approver: Approver | None) -> AgentModels:
        manager = self._manager
        model = SessionModel(lambda: self._session.conversation.model)
        name = definition.model
        if name is not None and manager.options.record is not None:
            self._notify_once(_("While a run is recorded, all agents use the model of the session."))
        if name is None or manager.options.record is not None or manager.run_model.recorded_at is not None:
            return AgentModels(model, manager.open_conversation_models(manager.requested_model, approver))

        def report(why: str) -> None:
            self._notify_once(
                _(
                    "The model {model} of the agent {agent} is not available, so it uses that of the session. {why}",
                    model=name,
                    agent=definition.name,
                    why=why,
                )
            )

        try:
            own = open_named_model(name, manager.run_config)
            others = manager.open_conversation_models(name, approver)
        except (UsageError, ModelFailure) as error:
            report(str(error))
            return AgentModels(model, manager.open_conversation_models(manager.requested_model, approver))
        others.fallback = OwnModelFallback(model, others.fallback, report)
        return AgentModels(own, others)

    def open_servers(self, definition: SubagentDefinition, registry: ToolRegistry) -> AbstractAsyncContextManager[None]:
        if not definition.servers:
            return nullcontext()
        # Imported late: most agents have none.
        from tejat.app.mcp.agent_servers import open_agent_servers

        manager, approver = self._manager, self.approver
        return open_agent_servers(
            definition,
            manager.run_config,
            manager.toolset.services,
            registry,
            None if approver is None else approver.ask,
            self._notify_once,
        )

    def open_copy(
        self, definition: SubagentDefinition, identity: AgentIdentity, approver: Approver | None
    ) -> AbstractAsyncContextManager[AgentCopy | None]:
        if approver is None and self._manager.options.agents_in_copies and not self._only_reads(definition):
            return self._open_copy(identity, approver)
        match definition.copy_mode:
            case CopyMode.NEVER:
                return nullcontext()
            case CopyMode.ALWAYS:
                if approver is None:
                    in_program = self._manager.options.names_arguments
                    option = "agents_in_copies=True" if in_program else "--agents-in-copies"
                    raise CopyUnavailable(
                        _(
                            "This agent only works in a copy of the files. Without a terminal, use {option}.",
                            option=option,
                        )
                    )
                return self._open_copy(identity, approver)
            case CopyMode.ASK:
                return nullcontext() if approver is None else self._offer_copy(identity, approver)

    @asynccontextmanager
    async def _offer_copy(self, identity: AgentIdentity, approver: Approver) -> AsyncGenerator[AgentCopy | None]:
        """Ask whether the agent should work in a copy. Raises CopyUnavailable if it should not start."""
        prompt = _(
            "Let {agent} work in a copy of the files? It is not asked about each change; you review all changes at "
            "the end. With a no it works on the files themselves and asks as usual.",
            agent=identity.agent_id,
        )
        confirmation = InfoConfirmation(_("Work in a copy"), prompt)
        reply = await approver.ask(ApprovalRequest(confirmation, INVOKE_AGENT))
        if reply.outcome in (Outcome.STOP, Outcome.STOP_AGENT):
            raise CopyUnavailable(_("The user did not start the agent."))
        if reply.outcome is not Outcome.PROCEED_ONCE:
            yield None
            return
        async with self._open_copy(identity, approver) as copy:
            yield copy

    def _open_copy(self, identity: AgentIdentity, approver: Approver | None) -> AbstractAsyncContextManager[AgentCopy]:
        from tejat.app.subagents.working_copy import CopyContext, open_agent_copy

        manager = self._manager
        run_config = manager.run_config
        context = CopyContext(
            manager.toolset.services, run_config.ignore_options, run_config.paths.outputs, approver, self._notify_once
        )
        return open_agent_copy(context, identity)

    def _only_reads(self, definition: SubagentDefinition) -> bool:
        return only_reads(self.scheduler, definition)

    def undo_id(self, agent_id: str) -> str:
        return unit_entry_id(self._session.session_id, agent_id)

    def declare(
        self, registry: ToolRegistry, is_forbidden: Callable[[str, str | None], bool], window: Callable[[], int]
    ) -> ToolDeclarations:
        options = tool_index_options(self._manager.toolset.settings, registry, window)
        return ToolDeclarations(registry, is_forbidden, options, is_lean=lambda: is_lean_window(window()))

    def system_prompt(
        self, definition: SubagentDefinition, prompt: str, *, model: str, tools: Sequence[str], mode: ApprovalMode
    ) -> str:
        conversation = self._session.conversation
        opening = conversation.history.messages[: conversation.template.preamble_length]
        has_skills = ACTIVATE_SKILL in tools
        parts = PromptParts(
            skills=skill_catalogue(self._manager.toolset, conversation.context_window) if has_skills else "",
            context=conversation.template.context.to_prompt(self._manager.run_config.roots[0]),
            environment=opening[0].text if opening else "",
        )
        variables = {"query": prompt, "cliVersion": __version__, "activeModel": model, "today": current_date()}
        return build_agent_prompt(definition.prompt, parts, mode, variables)

    def carry_state(self, agent_id: str, conversation: Conversation) -> None:
        services, state = self._manager.toolset.services, self.state.of_agent(agent_id)
        conversation.carried |= {
            TODOS_KEY: lambda: render_todos(state.get(TODOS_KEY)),
            "skills": lambda: services.skills.carried_text() if services.has_skills else "",
        }

    def safeguards(self) -> tuple[LoopDetector, Compressor]:
        settings = self._manager.run_config.settings
        return (
            LoopDetector(enabled=settings.loop_detection.value),
            Compressor(threshold=settings.compression_threshold.value),
        )

    def count_changed_files(self, agent_id: str) -> int:
        session_id = self._session.session_id
        try:
            entries = self._manager.toolset.services.undo.entries()
        except OSError:
            return 0  # what could not be recorded is reported by its call
        return len(net_changes([entry for entry in entries if (entry.session, entry.unit) == (session_id, agent_id)]))

    def interrupt(self) -> bool:
        return self._session.interrupt()

    def _notify_once(self, message: str) -> None:
        if message not in self._notified:
            self._notified.add(message)
            self.events.emit(Noticed(message))
