"""Interactive sessions as the program opens them: home, project and a scripted model."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from support.approver import FakeApprover
from support.command_runner import HELLO, SECONDS
from support.program import ProgramEnv
from support.prompter import FakePrompter
from tejat.app.session.interactive import InteractiveSession, open_interactive_session
from tejat.core.agent.events import AgentEvent, RunEnded
from tejat.core.agent.options import AgentOptions
from tejat.core.approval.confirmation import Approver
from tejat.core.frozen import replace
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


class InteractiveEnv(ProgramEnv):
    """Opens sessions. The project is trusted by default."""

    def run_with(
        self,
        work: Callable[[InteractiveRunner], Awaitable[_Result]],
        *,
        script: str = HELLO,
        approver: Approver | None = None,
        **more: Any,
    ) -> _Result:
        async def main() -> _Result:
            async with self.open_runner(script=script, approver=approver, **more) as runner:
                return await work(runner)

        return asyncio.run(asyncio.wait_for(main(), SECONDS))

    @asynccontextmanager
    async def open_runner(
        self, *, script: str = HELLO, approver: Approver | None = None, **more: Any
    ) -> AsyncGenerator[InteractiveRunner]:
        usual = AgentOptions(
            directories=(str(self.project),),
            environment=self.environment,
            model=self.script(script),
            trusts_folder=True,
            sandbox="off",
        )
        async with open_interactive_session(replace(usual, **more), approver or FakeApprover()) as interactive:
            yield InteractiveRunner(interactive)

    def journal_paths(self) -> list[Path]:
        return sorted((self.home / ".local" / "state" / "tejat" / "sessions").rglob("*.jsonl"))
