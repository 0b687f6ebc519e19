"""Slash commands in a real session: home, project, tools, rules and a scripted model."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from support.approver import FakeApprover
from support.program import ProgramEnv
from support.prompter import FakePrompter
from tejat.app.commands.base import CommandContext
from tejat.app.commands.registry import CommandRegistry
from tejat.app.preferences import preferences_from_settings
from tejat.app.session.manager import open_session_manager
from tejat.core.agent.events import AgentEvent, RunEnded
from tejat.core.agent.options import AgentOptions
from tejat.core.approval.confirmation import Approver
from tejat.core.frozen import replace
from tejat.core.ui.commands import CommandAction
from tejat.engine.sessions.statistics import Statistics

_Result = TypeVar("_Result")
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

    def emit(self, event: AgentEvent) -> None:
        self.parts.statistics.record(event)
        self.events.append(event)


class CommandEnv(ProgramEnv):
    """A home and a project, trusted by default."""

    def run_with(
        self,
        work: Callable[[CommandRunner], Awaitable[_Result]],
        *,
        prompter: FakePrompter | None = None,
        approver: Approver | None = None,
        script: str = HELLO,
        **more: Any,
    ) -> _Result:
        """Run `work` with a runner."""

        async def main() -> _Result:
            async with self.open_runner(prompter, approver, script=script, **more) as runner:
                return await work(runner)

        return asyncio.run(asyncio.wait_for(main(), SECONDS))

    def output_of(self, *lines: str, **more: Any) -> str:
        """The output of the last of these lines."""

        async def work(runner: CommandRunner) -> str:
            for line in lines[:-1]:
                await runner.run(line)
            return await runner.output_of(lines[-1])

        return self.run_with(work, **more)

    @asynccontextmanager
    async def open_runner(
        self,
        prompter: FakePrompter | None = None,
        approver: Approver | None = None,
        *,
        script: str = HELLO,
        **more: Any,
    ) -> AsyncGenerator[CommandRunner]:
        usual = AgentOptions(
            directories=(str(self.project),),
            environment=self.environment,
            model=self.script(script),
            trusts_folder=True,
            sandbox="off",
            keeps_session=False,
        )
        async with open_session_manager(replace(usual, **more), approver or FakeApprover()) as manager:
            parts = CommandContext(manager, Statistics(round), preferences_from_settings(manager.run_config.settings))
            yield CommandRunner(parts, prompter or FakePrompter())


def texts(suggestions: Sequence[Any]) -> list[str]:
    return [suggestion.text for suggestion in suggestions]
