"""The session as interactive front ends use it."""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from tejat.app.commands.base import CommandContext
from tejat.app.commands.registry import CommandRegistry
from tejat.app.onboarding.cost_limit import ask_about_unknown_price
from tejat.app.onboarding.system_prompt_file import offer_system_prompt
from tejat.app.run_config import RunConfig
from tejat.app.session.approval_mode import ModeSwitcher
from tejat.app.session.definitions import load_definitions, preload_definitions
from tejat.app.session.lifespan import open_session_manager
from tejat.app.session.manager import SessionManager
from tejat.app.session.preferences import preferences_from_settings
from tejat.app.session.status import StatusSource
from tejat.core.agent.events import AgentEvent, EventSink, RunEnded
from tejat.core.agent.options import AgentOptions
from tejat.core.agent.questions import PendingQuestion
from tejat.core.approval.confirmation import ApprovalReply, Approver
from tejat.core.i18n import _
from tejat.core.messages.prompt import Prompt
from tejat.core.ui.commands import AgentSummary
from tejat.core.ui.prompter import UserPrompter
from tejat.core.ui.report import Report
from tejat.core.ui.status import ModeChange, Preferences, Status
from tejat.engine.sessions.event_bus import EventBus
from tejat.engine.sessions.statistics import Statistics
from tejat.workspace.paths.file_index import FileIndex

_PROBE_DELAY_SECONDS = 0.5
"""The sandbox is probed after the first screen was drawn."""

if TYPE_CHECKING:
    from tejat.engine.prompt.shell_mode import ShellMode, ShellModeResult


@asynccontextmanager
async def open_interactive_session(
    options: AgentOptions, approver: Approver | None = None, *, run_config: RunConfig | None = None
) -> "AsyncGenerator[InteractiveSession]":
    """Open a session for a user at a front end. `run_config` is the configuration, if it was loaded already.

    Raises UsageError, and ModelFailure without a key for the model.
    """
    async with open_session_manager(options, approver, interactive=True, run_config=run_config) as manager:
        interactive = InteractiveSession(manager)
        try:
            yield interactive
        finally:
            await interactive.close()


class InteractiveSession:
    """Implements `ui.contract.UiSession`."""

    def __init__(self, manager: SessionManager) -> None:
        self._manager = manager
        self._statistics = Statistics(lambda seconds: round(seconds * 1000))
        manager.events.subscribe(self._statistics.record)
        self._status_source = StatusSource(manager, self._statistics)
        self.command_context = CommandContext(
            manager, self._statistics, preferences_from_settings(manager.run_config.settings)
        )
        self.commands = CommandRegistry(self.command_context)
        self.files = FileIndex(
            manager.toolset.services.workspace(), is_fuzzy=manager.run_config.settings.fuzzy_file_search.value
        )
        self._modes = ModeSwitcher(manager)
        self._sandbox_probe = asyncio.create_task(self._probe_sandbox())

    async def offer_system_prompt(self, user: UserPrompter) -> None:
        """Write the built-in system prompt to a file if the user wants that. Raises UsageError."""
        await offer_system_prompt(self._manager.run_config, self._builtin_system_prompt, user)

    def _builtin_system_prompt(self) -> str:
        load_definitions(self._manager)
        return self._manager.builtin_system_prompt()

    @property
    def agents(self) -> tuple[AgentSummary, ...]:
        """The sub-agents that can be mentioned with `@`."""
        load_definitions(self._manager)
        return tuple(AgentSummary(each.name, each.description) for each in self._manager.subagents.available())

    @property
    def status(self) -> Status:
        return self._status_source.status

    @property
    def preferences(self) -> Preferences:
        return self.command_context.preferences

    @property
    def resumable_id(self) -> str | None:
        """The id of the session, once something of it is saved."""
        session = self._manager.session
        return session.session_id if os.path.isfile(session.journal_path) else None

    @property
    def resume_hint(self) -> str:
        """How to resume the session, empty while nothing of it is saved."""
        session_id = self.resumable_id
        return "" if session_id is None else _("Resume this session with: {command}", command=f"tejat -r {session_id}")

    @property
    def title(self) -> str:
        """The first prompt as the user typed it, empty before it."""
        points = self._manager.session.conversation.rewind_points
        return next((point.display_text for point in points), "")

    @property
    def root(self) -> str:
        """The working directory."""
        return self._manager.run_config.roots[0]

    @property
    def survives_exit(self) -> bool:
        """False: the session ends with this process."""
        return False

    def leave(self) -> None:
        """See `UiSession`. What is cancelled ends here."""

    def replay(self) -> tuple[AgentEvent, ...]:
        """Return the conversation so far as events."""
        from tejat.app.session.replay import replay_events

        return tuple(replay_events(self._manager.session.conversation, self.root))

    def take_notes(self) -> tuple[str, ...]:
        """Return the warnings about the start of the session and of its MCP servers, each one once."""
        external = self._manager.toolset.external
        return (*self._manager.session.take_notes(), *(() if external is None else external.take_notices()))

    def load_definitions(self) -> None:
        """Read the skills and sub-agents now, with notes about them."""
        load_definitions(self._manager)

    async def preload_definitions(self) -> None:
        """Read them in the background. Whatever uses them meanwhile waits for that."""
        await preload_definitions(self._manager)

    async def wait_for_sandbox(self) -> None:
        """Wait until the sandbox was probed, so that the status has the result."""
        await asyncio.wait((self._sandbox_probe,))

    @property
    def resume_preview(self) -> Report | None:
        """The end of a resumed conversation."""
        conversation = self._manager.session.conversation
        if not conversation.rewind_points:
            return None
        from tejat.app.session.session_switch import session_tail

        return session_tail(conversation)

    async def check_cost_limit(self, user: UserPrompter) -> bool:
        """Ask about a cost limit if the price of the model is unknown. Returns whether the session may go on."""
        conversation = self._manager.session.conversation
        return await ask_about_unknown_price(conversation.budget, conversation.model.name, user)

    async def prompt(self, prompt: Prompt, listener: EventSink | None = None) -> RunEnded:
        """See `Session.prompt`."""
        return await self._manager.session.prompt(prompt, listener)

    def interrupt(self) -> bool:
        """See `Session.interrupt`."""
        return self._manager.session.interrupt()

    def answer(self, question_id: str, reply: ApprovalReply) -> bool:
        """See `Session.answer`."""
        return self._manager.session.answer(question_id, reply)

    def fail_question(self, question_id: str, error: Exception) -> bool:
        """See `Session.fail_question`."""
        return self._manager.session.fail_question(question_id, error)

    @property
    def events(self) -> EventBus[AgentEvent]:
        """The events of all sessions of this process."""
        return self._manager.events

    def subscribe(self, listener: EventSink) -> Callable[[], None]:
        """Deliver the events of all sessions to `listener`. Returns a function that ends the subscription."""
        return self._manager.events.subscribe(listener)

    @property
    def pending_questions(self) -> tuple[PendingQuestion, ...]:
        return self._manager.session.pending_questions

    async def run_shell(self, line: str, show: Callable[[str], None]) -> str:
        """Run a line typed after `!`. See `ShellMode.run`."""
        session = self._manager.session

        def done(ran: "ShellModeResult") -> None:
            session.add_note(ran.message, f"!{line}")

        return await self._shell_mode.run(line, show, done)

    def steer(self, text: str) -> bool:
        """Pass text to the model between two calls; False if no run goes on."""
        return self._manager.session.steer(text)

    async def next_mode(self, user: UserPrompter) -> ModeChange:
        """Switch to the next approval mode that is permitted here."""
        return await self._modes.next_mode(user)

    async def toggle_yolo(self, user: UserPrompter) -> ModeChange:
        """Turn YOLO mode on after a confirmation, or off."""
        return await self._modes.toggle_yolo(user)

    async def close(self) -> None:
        """Stop what runs in the background and close the shell mode."""
        self._sandbox_probe.cancel()
        await self.wait_for_sandbox()
        await self.files.close()
        if "_shell_mode" in self.__dict__:
            self._shell_mode.close()

    async def _probe_sandbox(self) -> None:
        """Probe the sandbox before the first command is approved or runs."""
        await asyncio.sleep(_PROBE_DELAY_SECONDS)
        await self._manager.toolset.services.sandbox.probe()

    @cached_property
    def _shell_mode(self) -> "ShellMode":
        from tejat.app.session.shell_mode import open_shell_mode

        return open_shell_mode(self._manager)
