"""Parts that a session is built from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from tejat.app.model_source import RunModel, own_prices
from tejat.app.run_config import RunConfig
from tejat.app.tools.skill_tools import offer_skills
from tejat.app.tools.toolset import Toolset
from tejat.config.settings.types import Settings
from tejat.core.agent.events import Noticed, SessionSource, Severity
from tejat.core.agent.history_events import HistoryEvent, HistoryReplaced
from tejat.core.agent.options import AgentOptions
from tejat.core.agent.session_state import PLAN_KEY, TODOS_KEY
from tejat.core.i18n import _
from tejat.core.messages.history import Message
from tejat.core.messages.tool_names import RECALL
from tejat.core.messages.types import FunctionResponse, Text
from tejat.engine.loop.budget import Budget, BudgetLimits
from tejat.engine.loop.context_window import is_lean_window
from tejat.engine.loop.conversation import Conversation
from tejat.engine.loop.tool_declarations import ToolIndexOptions, default_limit
from tejat.engine.sessions.event_bus import EventBus
from tejat.engine.sessions.journal import JournalMask, SessionJournal
from tejat.engine.sessions.session import Session
from tejat.models.catalogue.catalogue_file import load_catalogue
from tejat.models.catalogue.price_list import PriceList, day_of
from tejat.tools import find_tools_entry
from tejat.tools.registry import ToolRegistry

if TYPE_CHECKING:
    from tejat.app.tools.external_tools import ExternalTools
    from tejat.core.agent.events import AgentEvent, EventSink
    from tejat.core.tools.recall import RecalledPart, RecallQuery

_STARTUP_WAIT_SECONDS = 2.0
_LEAN_INSTRUCTIONS_SHARE = 0.05


def tool_index_options(settings: Settings, registry: ToolRegistry, window: Callable[[], int]) -> ToolIndexOptions:
    """When to declare only an index of the external tools instead of all of them."""
    threshold = settings.index_above_tokens

    def limit(external_tools: int) -> int | None:
        return default_limit(window(), external_tools) if threshold is None else threshold.value

    return ToolIndexOptions(limit, partial(find_tools_entry, registry))


def server_instructions(external: ExternalTools | None, window: Callable[[], int]) -> Callable[[], str] | None:
    """What MCP servers say about their tools, cut in a small context window."""
    if external is None:
        return None

    def instructions() -> str:
        from tejat.engine.loop.transcript import truncate_tokens

        text = "" if external.mcp_manager is None else external.mcp_manager.instructions()
        return truncate_tokens(text, int(window() * _LEAN_INSTRUCTIONS_SHARE)) if is_lean_window(window()) else text

    return instructions


class HistorySearch:
    """Finds texts in a conversation as the model gets it."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation

    @property
    def length(self) -> int:
        return len(self._conversation.history.messages)

    def contains(self, text: str) -> bool:
        """Whether a message or the result of a call contains a text."""
        return any(text in each for message in self._conversation.history.messages for each in _texts(message))


def _texts(message: Message) -> Iterator[str]:
    for part in message.parts:
        if isinstance(part, Text):
            yield part.text
        elif isinstance(part, FunctionResponse):
            yield from (value for value in part.response.values() if isinstance(value, str))


def reload_skills(toolset: Toolset, run_config: RunConfig) -> tuple[frozenset[str], frozenset[str]]:
    """Look for skills again, replace their tool, and return the names that came and those that went."""
    changes = toolset.services.skills.reload(run_config)
    offer_skills(toolset.services, toolset.registry)
    return changes


def join_sections(*sections: Callable[[], str] | None) -> Callable[[], str]:
    """What is told at the end of the system prompt, put together for each request."""
    given = [section for section in sections if section is not None]
    return lambda: "\n\n".join(filter(None, (section() for section in given)))


def skill_catalogue(toolset: Toolset, window: int) -> str:
    """The skills for the system prompt of a context window of this size."""
    services = toolset.services
    return services.skills.catalogue_text(window) if services.has_skills else ""


async def await_external_tools(external: ExternalTools, emit: EventSink, *, is_headless: bool) -> None:
    """Wait for external tools: as long as it takes in a headless run, else only briefly and only once."""
    external.request_gate.open()
    is_first, external.was_awaited = not external.was_awaited, True
    late = await external.wait_ready(_STARTUP_WAIT_SECONDS if is_first else 0.0)
    if late and is_headless:
        message = _("Waiting for {names}, which takes a while to start.", names=", ".join(late))
        emit(Noticed(message, Severity.NOTE))
        late = await external.wait_ready()
    for message in external.take_notices():
        emit(Noticed(message))
    if late and is_first:
        message = _("Still starting: {names}. The tools will be available later.", names=", ".join(late))
        emit(Noticed(message, Severity.NOTE))


def attach_recall(toolset: Toolset, session: Session, secrets: Sequence[str]) -> None:
    """Let tools recall earlier parts of this session, and declare the tool for it once there are any."""
    conversation = session.conversation

    def recall(query: RecallQuery) -> RecalledPart:
        # Imported late: most sessions are never summarized.
        from tejat.engine.sessions.recall import ConversationRecall

        return ConversationRecall(conversation, JournalMask(secrets).mask, is_saved=session.is_recorded)(query)

    def can_recall() -> bool:
        return toolset.registry.entry(RECALL) is not None and not toolset.is_forbidden(RECALL)

    earlier = toolset.services.earlier
    earlier.fetch = recall
    earlier.exist = lambda: session.info.source is SessionSource.RESUME or not conversation.archive.is_empty
    conversation.can_recall = can_recall


def carry_state(toolset: Toolset, session: Session) -> None:
    """Let the todos, the approved plan and the active skills of this session outlive its summaries."""
    services, conversation, state = toolset.services, session.conversation, session.state
    services.history = HistorySearch(conversation)

    def after_summary(event: HistoryEvent) -> None:
        if isinstance(event, HistoryReplaced) and services.has_skills:
            services.skills.drop_uncarried()

    def todos() -> str:
        from tejat.core.tools.todos import render_todos

        return render_todos(state.get(TODOS_KEY))

    def plan() -> str:
        from tejat.engine.plans.approved import render_plan

        return render_plan(state.get(PLAN_KEY))

    conversation.carried |= {
        TODOS_KEY: todos,
        PLAN_KEY: plan,
        "skills": lambda: services.skills.carried_text() if services.has_skills else "",
    }
    conversation.history_events.subscribe(after_summary)


def session_problems(journal: SessionJournal | None, run_model: RunModel, toolset: Toolset) -> list[str]:
    """What could not be recorded, and news about external tools and skills."""
    external, services = toolset.external, toolset.services
    found = (None if journal is None else journal.failure, run_model.recording_problem())
    notices = () if external is None else external.take_notices()
    return [*filter(None, found), *notices, *(services.skills.take_notices() if services.has_skills else ())]


def make_budget(
    options: AgentOptions, run_config: RunConfig, run_model: RunModel, events: EventBus[AgentEvent]
) -> Budget:
    """The budget of a run. A replay costs what the recorded run cost on its day."""
    limits = BudgetLimits(
        turns=options.max_turns or run_config.settings.max_session_turns.value,
        tokens=options.max_tokens,
        cost=options.max_cost,
        seconds=options.timeout,
        arguments=_limit_arguments(options),
    )
    prices = PriceList(
        partial(load_catalogue, run_config.paths.catalogue),
        {**run_model.prices, **own_prices(run_config)},
        partial(day_of, run_model.recorded_at),
    )
    return Budget(limits, prices, on_estimate=lambda message: events.emit(Noticed(message)))


def _limit_arguments(options: AgentOptions) -> frozenset[str]:
    """The limits that are arguments of `Agent`."""
    if not options.names_arguments:
        return frozenset()
    return frozenset(
        name for name in ("max_turns", "max_tokens", "max_cost", "timeout") if getattr(options, name) is not None
    )
