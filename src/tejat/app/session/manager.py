"""The sessions of an agent: builds one session after the other on the same services."""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING

from tejat.app.model_source import RunModel, conversation_models, requested_model
from tejat.app.run_config import RunConfig
from tejat.app.session.definitions import prepare_prompt, read_definitions
from tejat.app.session.initial_state import InitialState, initial_state
from tejat.app.session.prompt.context import builtin_system_prompt, load_context_files, session_system_prompt
from tejat.app.session.prompt.expansion import PromptExpander
from tejat.app.session.session_parts import (
    attach_recall,
    carry_state,
    join_sections,
    make_budget,
    server_instructions,
    session_problems,
    skill_catalogue,
    tool_index_options,
)
from tejat.app.subagents.definitions import load_subagents
from tejat.app.tools.tool_services import ModelAccess
from tejat.app.tools.toolset import Toolset
from tejat.config.context.discovery import ContextFiles
from tejat.core.agent.events import SessionSource
from tejat.core.agent.options import AgentOptions
from tejat.core.agent.session_state import SessionState
from tejat.core.agent.subagents import current_agent
from tejat.core.approval.modes import ApprovalMode
from tejat.core.errors import UsageError
from tejat.core.i18n import _
from tejat.core.messages.history import History
from tejat.core.messages.tool_names import PLAN_WRITERS
from tejat.core.model import Capability, ModelClient, ModelRequest, ModelResponse
from tejat.engine.loop.compressor import Compressor
from tejat.engine.loop.context_window import is_lean_window
from tejat.engine.loop.conversation import Conversation, Safeguards
from tejat.engine.loop.loop_detector import LoopDetector
from tejat.engine.loop.request_builder import RequestTemplate
from tejat.engine.loop.tool_declarations import ToolDeclarations
from tejat.engine.models.conversation_models import ConversationModels
from tejat.engine.sessions.event_bus import EventBus
from tejat.engine.sessions.session import Session, SessionInfo
from tejat.tools.agent_offer import offer_agents

if TYPE_CHECKING:
    from tejat.app.subagents.session_host import SubagentService
    from tejat.core.agent.events import AgentEvent, SessionEnd
    from tejat.core.approval.confirmation import Approver
    from tejat.engine.plans.mode import SessionPlanMode
    from tejat.engine.sessions.questions import QuestionQueue

_SEARCH_TOOL = "google_web_search"


class SessionManager:
    """Builds sessions on the same tools, servers, model, events and budget.

    `session` is the current one.
    """

    def __init__(
        self,
        options: AgentOptions,
        run_config: RunConfig,
        toolset: Toolset,
        run_model: RunModel,
        events: EventBus[AgentEvent],
        questions: QuestionQueue | None,
        *,
        is_interactive: bool = False,
    ) -> None:
        """If it `is_interactive`, skills and agents are read when they are first used: a screen need not wait for them.

        Raises UsageError if the session to be resumed cannot be loaded.
        """
        self.options = options
        self.run_config = run_config
        self.toolset = toolset
        self.run_model = run_model
        self.events = events
        self.questions = questions
        self.session_disabled_extensions: set[str] = set()
        """Names, in lower case, of the extensions that the user turned off for this session."""
        self.has_definitions = False
        """Whether the skills and agents have been read, see `load_definitions`."""
        self.is_headless = questions is None
        self._search_entry = toolset.registry.entry(_SEARCH_TOOL)
        toolset.initial_mode = options.mode or run_config.settings.approval_mode.value
        toolset.has_plans = run_config.settings.plan_enabled.value
        if toolset.has_plans:
            toolset.services.plan_mode = lambda: self.plan_mode
        self._budget = make_budget(options, run_config, run_model, events)
        own_name = None if options.client is None else run_model.model.name
        self.requested_model = requested_model(options, run_config) if own_name is None else own_name
        self._models = self.open_conversation_models(self.requested_model, questions)
        self.update_search_tool(run_model.model)
        self.subagents = load_subagents(run_config, toolset.registry, max_turns=options.max_turns)
        self._subagent_service: SubagentService | None = None
        toolset.services.launcher = lambda: self.subagent_service
        toolset.notes += () if is_interactive else read_definitions(self)
        notes = (*toolset.notes, *run_model.notes, *(() if toolset.hooks is None else toolset.hooks.warnings))
        state, warnings = initial_state(options, run_config, run_model), run_config.extension_effects.warnings
        self.session = self._build_session(state, run_model.model, notes, warnings)
        self._announce_session()
        toolset.services.attach_model(ModelAccess(self.ask, lambda: self.session.conversation.model.capabilities))

    @cached_property
    def plan_mode(self) -> SessionPlanMode:
        """Plan mode of the current session."""
        from tejat.app.session.approval_mode import open_plan_mode

        return open_plan_mode(self, is_attended=not self.is_headless)

    def _plan_section(self) -> str:
        """What the model is told about plans."""
        if not self.toolset.has_plans:
            return ""
        has_plan = self.toolset.services.state.get("plan") is not None
        return self.plan_mode.section() if self.toolset.is_planning or has_plan else ""

    async def ask(self, request: ModelRequest) -> ModelResponse:
        """Send a side request to the model of the session, or of the sub-agent that makes it. Raises ModelFailure."""
        run = None if self._subagent_service is None else self._subagent_service.running.get(current_agent())
        return await (self.session if run is None else run).query(request)

    @property
    def subagent_service(self) -> SubagentService:
        """The sub-agents of the current session: their runs, and a stop for each."""
        if self._subagent_service is None:
            from tejat.app.subagents.session_host import SubagentService

            self._subagent_service = SubagentService(self)
        return self._subagent_service

    def offer_subagents(self) -> None:
        """Declare the agents that can be started now."""
        agents = [(agent.name, agent.input_name) for agent in self.subagents.available()]
        offer_agents(self.toolset.registry, self.toolset.services.subagents, agents)

    async def switch_to(self, state: InitialState, reason: SessionEnd) -> None:
        """Switch to another session. Raises UsageError, and keeps the current one, while it is busy."""
        before = self.session
        if before.is_busy:
            if state.journal is not None:
                state.journal.close()
            raise UsageError(_("A turn is still running. Stop it first, or wait until it ends."))
        after = self._build_session(state, before.conversation.model, ())
        try:
            await before.end(reason)
        finally:
            self.session = after
            self._announce_session()

    def update_search_tool(self, model: ModelClient) -> None:
        """Register the web search tool only if the model or a search service can search."""
        registry = self.toolset.registry
        if self.run_config.settings.search_url is not None or Capability.GOOGLE_SEARCH in model.capabilities:
            if self._search_entry is not None and _SEARCH_TOOL not in registry:
                registry.register_entry(self._search_entry)
        else:
            registry.unregister(_SEARCH_TOOL)

    async def close(self) -> None:
        await self.session.close()
        await self._models.close()

    def _build_session(
        self, state: InitialState, model: ModelClient, notes: tuple[str, ...], warnings: tuple[str, ...] = ()
    ) -> Session:
        toolset, external = self.toolset, self.toolset.external
        context = load_context_files(self.run_config)
        self.prompt_expander = PromptExpander(self.run_config, toolset, find_agent=self.subagents.callable_name)
        toolset.services.state = SessionState(state.values)
        return Session(
            self._build_conversation(state, model, context),
            SessionInfo(
                state.session_id,
                source=state.source,
                is_resumed=state.source is SessionSource.RESUME,
                repairs=state.repairs,
                notes=(*notes, *context.warnings, *state.problems),
                warnings=warnings,
                recorded_at=self.run_model.recorded_at,
            ),
            expand=self.prompt_expander.expand,
            journal=state.journal,
            state=toolset.services.state,
            problems=partial(session_problems, state.journal, self.run_model, toolset),
            prepare=partial(prepare_prompt, self),
            conclude=None if external is None else external.request_gate.close,
            hooks=toolset.hooks,
            questions=self.questions,
        )

    def _build_conversation(self, state: InitialState, model: ModelClient, context: ContextFiles) -> Conversation:
        run_config, toolset, options = self.run_config, self.toolset, self.options
        conversation: Conversation | None = None

        def window() -> int:
            return model.context_window if conversation is None else conversation.context_window

        declared = ToolDeclarations(
            toolset.registry,
            toolset.is_forbidden,
            tool_index_options(toolset.settings, toolset.registry, window),
            is_lean=lambda: is_lean_window(window()),
            plans_only=lambda name: toolset.is_planning and name in PLAN_WRITERS,
        )
        describe_sandbox = toolset.services.sandbox.describe
        self.builtin_system_prompt = partial(
            builtin_system_prompt, declared, describe_sandbox=describe_sandbox, is_headless=self.is_headless
        )
        system = partial(
            session_system_prompt,
            *(options, run_config, declared),
            describe_sandbox=describe_sandbox,
            is_headless=self.is_headless,
            window=window,
            subagents=self.subagents,
            skills=partial(skill_catalogue, toolset),
        )
        conversation = Conversation(
            model,
            toolset.start_scheduler,
            History(state.messages),
            RequestTemplate(
                *(system(context), declared, state.opening),
                join_sections(self._plan_section, server_instructions(toolset.external, window)),
                context,
                system,
            ),
            Safeguards(
                self._budget,
                LoopDetector(enabled=run_config.settings.loop_detection.value),
                Compressor(threshold=run_config.settings.compression_threshold.value),
            ),
            self.events,
            models=self._models,
            hooks=toolset.hooks,
            rewind_points=state.rewind_points,
            archive=state.archive,
        )
        return conversation

    def follow_model(self, name: str) -> None:
        """Use the fallback chain and the light model that belong to a model which the user chose."""
        self.requested_model = name
        self._models = self.open_conversation_models(name, self.questions)
        self.session.conversation.models = self._models

    def open_conversation_models(self, requested: str, approver: Approver | None) -> ConversationModels:
        """The models that may answer for a name. A replay and a model of the program ask no other one."""
        is_own = self.options.client is not None and requested == self.run_model.model.name
        if self.run_model.recorded_at is not None or is_own:
            return ConversationModels()
        is_recorded = self.options.record is not None
        return conversation_models(
            requested,
            self.run_config,
            approver,
            is_recorded=is_recorded,
            is_planning=lambda: self.toolset.start_scheduler().permission.policy.mode is ApprovalMode.PLAN,
        )

    def _announce_session(self) -> None:
        """Tell services and hooks which session is the current one."""
        session = self.session
        self.toolset.services.session_id = session.session_id
        self.toolset.services.state = session.state
        attach_recall(self.toolset, session, self.run_config.secrets)
        carry_state(self.toolset, session)
        if self.toolset.hooks is not None:
            plans = self.plan_mode.location.path if self.toolset.has_plans else ""
            self.toolset.hooks.bind_session(session.session_id, session.journal_path, session.notify, plans)
