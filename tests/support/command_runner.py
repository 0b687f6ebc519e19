"""Slash commands in a real session: home, project, tools, rules and a scripted model."""

import asyncio
import platform
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from support.approver import FakeApprover
from support.program import ProgramEnv
from support.prompter import FakePrompter
from tejat import __version__
from tejat.app.commands.base import CommandContext
from tejat.app.commands.registry import CommandRegistry
from tejat.app.session.lifespan import open_session_manager
from tejat.app.session.preferences import preferences_from_settings
from tejat.core.agent.events import AgentEvent, RunEnded
from tejat.core.agent.options import AgentOptions
from tejat.core.approval.confirmation import Approver
from tejat.core.frozen import replace
from tejat.core.ui.commands import CommandAction
from tejat.core.ui.status import Preferences
from tejat.engine.sessions.statistics import Statistics

_Result = TypeVar("_Result")
_Runner = TypeVar("_Runner")
SECONDS = 60
HELLO = '[[answer]]\nsay = "Hello there."\nusage = { prompt = 10, output = 5 }\n'


@dataclass
class CommandRunner:
    """Runs command lines with a fake prompter."""

    parts: CommandContext
    prompter: FakePrompter
    events: list[AgentEvent] = field(default_factory=list[AgentEvent])

    def __post_init__(self) -> None:
        self.registry = CommandRegistry(self.parts)
        self.parts.manager.events.subscribe(self.emit)

    async def run(self, line: str) -> CommandAction:
        return await self.registry.run(line, self.prompter)

    async def output_of(self, line: str) -> str:
        """The output of one line."""
        before = len(self.prompter.reports)
        await self.run(line)
        self.prompter.reports[:before] = []
        return self.prompter.output

    async def prompt(self, prompt: str) -> RunEnded:
        return await self.parts.session.prompt(prompt)

    def about_facts(self) -> list[str]:
        """What `/about` and `/bug` tell, each as a format string for the separator."""
        return [
            f"Tejat{{}}{__version__}",
            f"Python{{}}{platform.python_version()}",
            f"System{{}}{platform.system()} {platform.release()} {platform.machine()}",
            f"Model{{}}{self.parts.session.conversation.model.name}",
            "Mode{}default",
            "Sandbox{}off",
            f"Session{{}}{self.parts.session.session_id}",
        ]

    def emit(self, event: AgentEvent) -> None:
        self.parts.statistics.record(event)
        self.events.append(event)


class RunnerEnv(ProgramEnv, Generic[_Runner]):
    """A home and a project, trusted by default, in which a runner is opened."""

    def open_runner(self, **more: Any) -> AbstractAsyncContextManager[_Runner]:
        """Open a runner with a `script` for the model, an `approver`, and other agent options."""
        raise NotImplementedError

    def run_with(self, work: Callable[[_Runner], Awaitable[_Result]], **more: Any) -> _Result:
        """Run `work` with a runner, opened with these options."""

        async def main() -> _Result:
            async with self.open_runner(**more) as runner:
                return await work(runner)

        return asyncio.run(asyncio.wait_for(main(), SECONDS))

    def agent_options(self, script: str, **more: Any) -> AgentOptions:
        usual = AgentOptions(
            directories=(str(self.project),),
            environment=self.environment,
            model=self.script(script),
            trusts_folder=True,
            sandbox="off",
        )
        return replace(usual, **more)


class CommandEnv(RunnerEnv[CommandRunner]):
    """Opens runners of slash commands."""

    def output_of(self, *lines: str, **more: Any) -> str:
        """The output of the last of these lines."""

        async def work(runner: CommandRunner) -> str:
            for line in lines[:-1]:
                await runner.run(line)
            return await runner.output_of(lines[-1])

        return self.run_with(work, **more)

    def preferences_after(self, *lines: str, prompter: FakePrompter | None = None) -> tuple[str, Preferences]:
        """The output of these lines, and the preferences after them."""

        async def work(runner: CommandRunner) -> tuple[str, Preferences]:
            for line in lines:
                await runner.run(line)
            return runner.prompter.output, runner.parts.preferences

        return self.run_with(work, prompter=prompter)

    @asynccontextmanager
    async def open_runner(
        self,
        prompter: FakePrompter | None = None,
        approver: Approver | None = None,
        *,
        script: str = HELLO,
        keeps_session: bool = False,
        **more: Any,
    ) -> AsyncGenerator[CommandRunner]:
        options = self.agent_options(script, keeps_session=keeps_session, **more)
        async with open_session_manager(options, approver or FakeApprover()) as manager:
            parts = CommandContext(manager, Statistics(round), preferences_from_settings(manager.run_config.settings))
            yield CommandRunner(parts, prompter or FakePrompter())


def texts(suggestions: Sequence[Any]) -> list[str]:
    return [suggestion.text for suggestion in suggestions]
