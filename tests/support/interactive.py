"""Interactive sessions as the program opens them: home, project and a scripted model."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from support.approver import FakeApprover
from support.command_runner import HELLO, SECONDS, RunnerEnv
from support.prompter import FakePrompter
from tejat.app.session.interactive import InteractiveSession, open_interactive_session
from tejat.core.agent.events import AgentEvent, RunEnded
from tejat.core.approval.confirmation import Approver
from tejat.core.messages.history import Message, history_problem
from tejat.core.ui.commands import CommandAction
from tejat.engine.sessions.session import Session

_Result = TypeVar("_Result")


@dataclass
class InteractiveRunner:
    """One session, with its events and output."""

    interactive: InteractiveSession
    events: list[AgentEvent] = field(default_factory=list[AgentEvent])

    def __post_init__(self) -> None:
        self.interactive.subscribe(self.events.append)

    @property
    def session(self) -> Session:
        return self.interactive.command_context.session

    @property
    def messages(self) -> list[Message]:
        """The conversation without its preamble."""
        conversation = self.session.conversation
        assert history_problem(conversation.history.messages) is None
        return list(conversation.history.messages[conversation.template.preamble_length :])

    @property
    def texts(self) -> list[str]:
        return [message.text for message in self.messages]

    async def prompt(self, prompt: str) -> RunEnded:
        return await self.interactive.prompt(prompt)

    async def run_command(self, line: str, **answers: Any) -> tuple[CommandAction, str]:
        """Return the action of a command, and its output."""
        person = FakePrompter(**answers)
        return await self.interactive.commands.run(line, person), person.output

    async def command_output(self, line: str, **answers: Any) -> str:
        return (await self.run_command(line, **answers))[1]

    def events_of(self, kind: type[_Result]) -> list[_Result]:
        return [event for event in self.events if isinstance(event, kind)]

    async def wait_for_events(self, kind: type[AgentEvent], count: int = 1) -> None:
        """Wait for `count` events of a kind."""
        async with asyncio.timeout(SECONDS):
            while len(self.events_of(kind)) < count:  # noqa: ASYNC110 -- events come by a call
                await asyncio.sleep(0.002)


class InteractiveEnv(RunnerEnv[InteractiveRunner]):
    """Opens interactive sessions."""

    @asynccontextmanager
    async def open_runner(
        self, *, script: str = HELLO, approver: Approver | None = None, **more: Any
    ) -> AsyncGenerator[InteractiveRunner]:
        options = self.agent_options(script, **more)
        async with open_interactive_session(options, approver or FakeApprover()) as interactive:
            yield InteractiveRunner(interactive)

    def journal_paths(self) -> list[Path]:
        return sorted((self.home / ".local" / "state" / "tejat" / "sessions").rglob("*.jsonl"))
