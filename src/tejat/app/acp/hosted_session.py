"""A session that a client program drives."""

from collections.abc import Sequence
from contextlib import AsyncExitStack

from tejat.app.commands.model import ModelCommand
from tejat.app.onboarding.trust import StartupExit, review_instructions, setup_trust
from tejat.app.run_config import UserConfig, load_agent_config, load_startup_config
from tejat.app.session.interactive import InteractiveSession
from tejat.app.session.lifespan import open_session_manager
from tejat.app.session.manager import SessionManager
from tejat.app.session.replay import describe_call
from tejat.app.startup import load_project
from tejat.core.agent.options import AgentOptions
from tejat.core.approval.modes import ApprovalMode
from tejat.core.frozen import replace
from tejat.core.i18n import lazy, translate
from tejat.core.messages.types import FunctionCall
from tejat.core.tools.call_details import CallDetails
from tejat.core.ui.client_session import ContextUsage, ModelOption, ModeOption
from tejat.core.ui.prompter import Choice, UserPrompter
from tejat.core.ui.report import Report


async def open_hosted_session(options: AgentOptions, config: UserConfig) -> "HostedSession":
    """Open a session with the user's configuration. Raises UsageError, and ModelFailure without a key."""
    async with AsyncExitStack() as stack:
        run_config = load_agent_config(options, config)
        opening = open_session_manager(options, interactive=True, run_config=run_config)
        manager = await stack.enter_async_context(opening)
        return HostedSession(manager, stack.pop_all())


class HostedSession(InteractiveSession):
    """Implements `ui.acp.contract.AcpSession`. `services` is closed with it."""

    def __init__(self, manager: SessionManager, services: AsyncExitStack) -> None:
        super().__init__(manager)
        self._services = services

    @property
    def session_id(self) -> str:
        return self._manager.session.session_id

    @property
    def model_name(self) -> str:
        return self._manager.session.conversation.model.name

    @property
    def context_usage(self) -> ContextUsage:
        conversation, status = self._manager.session.conversation, self.status
        window = conversation.context_window
        return ContextUsage(round((status.context_used or 0.0) * window), window, conversation.budget.cost)

    def call_details(self, call: FunctionCall) -> CallDetails:
        """Describe a call of the model, also one of an unknown tool or with wrong arguments."""
        return describe_call(self._manager.toolset.registry, call)

    def modes(self) -> list[ModeOption]:
        """The approval modes that may be chosen here."""
        return [
            ModeOption(mode.value, translate(_NAMES[mode]), translate(_DESCRIPTIONS[mode]))
            for mode in self._modes.permitted_modes()
        ]

    def set_mode(self, mode: str) -> None:
        """Switch the approval mode. Raises UsageError for one that may not be chosen."""
        self._modes.set_mode(mode)

    def models(self) -> list[ModelOption]:
        """The models that may be chosen, the current one among them. No service is asked."""
        known = ModelCommand(self.command_context).known_models()
        return [ModelOption(name, details) for name, details in known.items()]

    async def set_model(self, name: str, user: UserPrompter) -> None:
        """Change the model. Raises UsageError and ModelFailure, and keeps it, if the other one cannot be used."""
        await ModelCommand(self.command_context).change_model(name, user)

    async def prepare(self, user: UserPrompter) -> "HostedSession | None":
        """Ask about trust, new instructions and unknown prices, and open the session again if that matters.

        None if the user quits. Raises as `open_hosted_session` does.
        """
        options, asked = self._manager.options, _AskedPrompter(user)
        config = await setup_trust(load_startup_config(options), asked)
        if isinstance(config, StartupExit) or await review_instructions(config, asked) is not None:
            return None
        if asked.was_asked or self._manager.run_config.extension_effects.unreviewed:
            await load_project(options, config, asked)
        session = self
        if asked.was_asked:
            if self.resumable_id is not None:
                options = replace(options, resume=self.session_id, session_id=None)
            await self.close()
            session = await open_hosted_session(options, config)
        return session if await session.check_cost_limit(user) else None

    async def close(self) -> None:
        """Stop what runs in the background, and close the session and its services."""
        try:
            await super().close()
        finally:
            await self._services.aclose()


_NAMES = {
    ApprovalMode.DEFAULT: lazy("Default"),
    ApprovalMode.AUTO_EDIT: lazy("Auto-edit"),
    ApprovalMode.PLAN: lazy("Plan"),
    ApprovalMode.YOLO: lazy("YOLO"),
}
_DESCRIPTIONS = {
    ApprovalMode.DEFAULT: lazy("Asks before edits and commands"),
    ApprovalMode.AUTO_EDIT: lazy("Edits run without asking, commands still ask"),
    ApprovalMode.PLAN: lazy("Read-only: nothing is changed"),
    ApprovalMode.YOLO: lazy("Everything runs without asking"),
}


class _AskedPrompter:
    """A `UserPrompter` that remembers whether anything was asked."""

    def __init__(self, user: UserPrompter) -> None:
        self._user = user
        self.was_asked = False

    def show(self, report: Report) -> None:
        self._user.show(report)

    async def page(self, reports: Sequence[Report]) -> bool:
        return await self._user.page(reports)

    async def choose(self, choice: Choice) -> int | None:
        self.was_asked = True
        return await self._user.choose(choice)

    async def enter(self, label: str, *, initial: str = "", is_secret: bool = False) -> str | None:
        return await self._user.enter(label, initial=initial, is_secret=is_secret)

    async def edit(self, text: str, *, suffix: str = ".md") -> str | None:
        return await self._user.edit(text, suffix=suffix)

    async def copy(self, text: str) -> str:
        return await self._user.copy(text)
