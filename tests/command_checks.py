"""Slash commands at a real desk: a home, a project, real tools and rules, a model that follows a script."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from persons import Answering
from program_checks import Machine
from tejat.app.agent import open_succession
from tejat.app.commands.book import CommandBook
from tejat.app.commands.premises import DeskParts
from tejat.app.preferences import preferences_of
from tejat.core.agent_events import AgentEvent, RunEnded
from tejat.core.agent_options import AgentOptions
from tejat.core.commands import Effect
from tejat.core.confirm import Answer, Approver, Outcome, Question, Scope
from tejat.core.value import replace
from tejat.engine.statistics import Statistics

_Result = TypeVar("_Result")
SECONDS = 60
HELLO = '[[answer]]\nsay = "Hello there."\nusage = { prompt = 10, output = 5 }\n'


@dataclass
class Seat:
    """A desk with somebody who types lines. `approver` answers for calls."""

    parts: DeskParts
    person: Answering
    events: list[AgentEvent] = field(default_factory=list[AgentEvent])

    def __post_init__(self) -> None:
        self.book = CommandBook(self.parts)

    async def type(self, line: str) -> Effect:
        return await self.book.run(line, self.person, self.tell)

    async def shown_by(self, line: str) -> str:
        """What one line shows."""
        before = len(self.person.sheets)
        await self.type(line)
        self.person.sheets[:before] = []
        return self.person.shown

    async def ask(self, prompt: str) -> RunEnded:
        return await self.parts.session.run(prompt, self.tell)

    def tell(self, event: AgentEvent) -> None:
        self.parts.statistics.count(event)
        self.events.append(event)


class Desks(Machine):
    """Where desks stand: a home and a project, which is trusted if nothing else is said."""

    def person_sets(self, **settings: object) -> Path:
        return write_settings(self.home, settings)

    def project_sets(self, **settings: object) -> Path:
        return write_settings(self.project, settings)

    def at_desk(
        self,
        work: Callable[[Seat], Awaitable[_Result]],
        *,
        person: Answering | None = None,
        approver: Approver | None = None,
        script: str = HELLO,
        **more: Any,
    ) -> _Result:
        """Do the work at a desk, and clear it."""

        async def main() -> _Result:
            async with self.seat(person, approver, script=script, **more) as seat:
                return await work(seat)

        return asyncio.run(asyncio.wait_for(main(), SECONDS))

    def shown(self, *lines: str, **more: Any) -> str:
        """What the last of these lines shows."""

        async def work(seat: Seat) -> str:
            for line in lines[:-1]:
                await seat.type(line)
            return await seat.shown_by(lines[-1])

        return self.at_desk(work, **more)

    @asynccontextmanager
    async def seat(
        self, person: Answering | None = None, approver: Approver | None = None, *, script: str = HELLO, **more: Any
    ) -> AsyncGenerator[Seat]:
        usual = AgentOptions(
            directories=(str(self.project),),
            environment=self.environment,
            model=self.script(script),
            trusts_folder=True,
            sandbox="off",
            keeps_session=False,
        )
        async with open_succession(replace(usual, **more), approver or Always()) as succession:
            parts = DeskParts(succession, Statistics(round), preferences_of(succession.ground.settings))
            yield Seat(parts, person or Answering())


@dataclass
class Always:
    """Somebody who gives every question the same answer, and remembers what was asked."""

    outcome: Outcome = Outcome.PROCEED_ONCE
    scope: Scope | None = None
    questions: list[Question] = field(default_factory=list[Question])

    async def ask(self, question: Question) -> Answer:
        self.questions.append(question)
        return Answer(self.outcome, scope=self.scope)


def write_settings(folder: Path, settings: object) -> Path:
    path = folder / ".gemini" / "settings.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(settings))
    return path


def texts(suggestions: Sequence[Any]) -> list[str]:
    return [suggestion.text for suggestion in suggestions]
