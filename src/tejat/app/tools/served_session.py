"""The session of an MCP client: its todos, its mode and its plans while it is connected."""

from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

from tejat.app.model_source import new_session_id
from tejat.app.run_config import RunConfig
from tejat.app.tools.toolset import Toolset
from tejat.core.agent.events import AgentEvent, Noticed, Severity
from tejat.core.agent.session_state import SessionState
from tejat.core.approval.confirmation import Approver
from tejat.core.approval.modes import TOOL_MODES, ApprovalMode
from tejat.core.approval.plans import AskAboutPlan, PlanDecision
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.i18n import lazy
from tejat.core.messages.tool_names import ENTER_PLAN_MODE
from tejat.engine.calls.scheduler import Scheduler

if TYPE_CHECKING:
    from tejat.engine.plans.locations import PlanLocation
    from tejat.engine.plans.mode import SessionPlanMode

OpenToolset = Callable[[Approver | None, Sequence[str]], AbstractContextManager[Toolset]]


class ServedSession:
    """Opens the tools for a client. Its todos, mode and plan stay when they are opened again in other directories.

    Without `has_plans` there is no plan mode: for clients that cannot be told apart. `warn` gets messages for the user.
    """

    def __init__(
        self, run_config: RunConfig, open_tools: OpenToolset, warn: Callable[[str], None], *, has_plans: bool
    ) -> None:
        self.run_config = run_config
        self.session_id = new_session_id()
        self.state = SessionState()
        self.mode: ApprovalMode | None = None
        """The mode that the client has switched to, None for that of the server."""
        self._open_tools = open_tools
        self._warn = warn
        self._has_plans = has_plans and run_config.settings.plan_enabled.value

    @contextmanager
    def open(self, approver: Approver | None, within: Sequence[str]) -> "Generator[ServedTools]":
        """Open the tools in these directories, or in all roots if none are given. Raises UsageError."""
        with self._open_tools(approver, within) as toolset:
            toolset.services.state = self.state
            served = ServedTools(toolset, self)
            if self._has_plans and served.start_mode in TOOL_MODES[ENTER_PLAN_MODE]:
                toolset.services.plan_mode = lambda: served.plan_mode
            yield served

    def notify(self, event: AgentEvent) -> None:
        """Warn the user of what plan mode reports."""
        if isinstance(event, Noticed) and event.severity is not Severity.NOTE:
            self._warn(event.message)


class ServedTools:
    """The tools of a client, opened for some directories."""

    def __init__(self, toolset: Toolset, session: ServedSession) -> None:
        self._scheduler = toolset.start_scheduler()
        self._toolset = toolset
        self._session = session
        self._policy = self._scheduler.permission.policy
        self._plan_mode: ClientPlanMode | None = None

    @property
    def start_mode(self) -> ApprovalMode:
        """The mode of the server, which no plan can loosen."""
        return self._policy.mode

    @property
    def scheduler(self) -> Scheduler:
        """The scheduler for the next call, in the mode of the session."""
        mode, permission = self._session.mode, self._scheduler.permission
        if mode is not None and permission.policy.mode is not mode:
            permission.policy = permission.policy.with_mode(mode, source=lazy("the client"))
        if mode is ApprovalMode.PLAN:
            self.plan_mode.inner.open()
        return self._scheduler

    @property
    def plan_mode(self) -> "ClientPlanMode":
        if self._plan_mode is None:
            inner = _open_plan_mode(self._toolset, self._session, self.start_mode)
            self._plan_mode = ClientPlanMode(inner, self._session)
        return self._plan_mode

    def offers(self, name: str) -> bool:
        """Whether there is such a tool that no rule forbids entirely. The mode of the session does not matter."""
        return name in self._scheduler.registry and not self._policy.hides(name)


class ClientPlanMode:
    """Plan mode of a client. Implements `core.approval.plans.PlanMode`, and keeps the mode in the session."""

    def __init__(self, inner: "SessionPlanMode", session: ServedSession) -> None:
        self.inner = inner
        self._session = session

    @property
    def is_on(self) -> bool:
        return self.inner.is_on

    def enter(self) -> str:
        """Switch to plan mode and return its instructions. Raises ToolFailure if no plan could be written."""
        if self.inner.open() is None:
            raise ToolFailure(lazy("There is no directory for plans."), ErrorType.EXECUTION_FAILED)
        self.inner.enter()
        self._session.mode = ApprovalMode.PLAN
        return self.inner.section()

    async def review(self, file_name: str, ask: AskAboutPlan | None) -> PlanDecision:
        decision = await self.inner.review(file_name, ask)
        if decision.mode is not None:
            self._session.mode = decision.mode
        return decision


def _open_plan_mode(toolset: Toolset, session: ServedSession, start_mode: ApprovalMode) -> "SessionPlanMode":
    """Open plan mode in which a plan is never approved for more than the mode of the server permits."""
    from tejat.engine.plans.locations import plan_location
    from tejat.engine.plans.mode import PlanOptions, PlanSession, SessionPlanMode

    run_config = session.run_config

    def locate(session_id: str) -> "PlanLocation":
        settings, paths, root = run_config.settings, run_config.paths, run_config.roots[0]
        return plan_location(settings, paths, root, session_id=session_id, extensions=run_config.extensions)

    def refusal_of(mode: ApprovalMode) -> str | None:
        is_permitted = mode in (ApprovalMode.DEFAULT, start_mode)
        return None if is_permitted else lazy("The server was started in mode {mode}.", mode=start_mode.value)

    return SessionPlanMode(
        toolset.roots,
        lambda: toolset.start_scheduler().permission,
        lambda: PlanSession(session.session_id, session.state),
        locate,
        session.notify,
        PlanOptions(refusal_of=refusal_of, is_attended=False),
    )
