"""A desk as the program opens it: a home, a project, a model that follows a script, and somebody who types."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from command_checks import HELLO, SECONDS, Always, write_settings
from persons import Answering
from program_checks import Machine
from tejat.app.desk import Desk, open_desk
from tejat.core.agent_events import AgentEvent, RunEnded
from tejat.core.agent_options import AgentOptions
from tejat.core.commands import Effect
from tejat.core.confirm import Approver
from tejat.core.history import Message, problem_with
from tejat.core.value import replace
from tejat.engine.session import Session

_Result = TypeVar("_Result")


@dataclass
class Sitting:
    """One desk, and all that was heard and shown at it."""

    desk: Desk
    events: list[AgentEvent] = field(default_factory=list[AgentEvent])

    @property
    def session(self) -> Session:
        return self.desk.parts.session

    @property
    def messages(self) -> list[Message]:
        """The conversation, without what it opens with."""
        conversation = self.session.conversation
        assert problem_with(conversation.history.messages) is None
        return list(conversation.history.messages[conversation.premises.opening :])

    @property
    def said(self) -> list[str]:
        return [message.text for message in self.messages]

    async def ask(self, prompt: str) -> RunEnded:
        return await self.desk.run(prompt, self.events.append)

    async def obey(self, line: str, **answers: Any) -> tuple[Effect, str]:
        """What came of a command, and what it showed."""
        person = Answering(**answers)
        return await self.desk.commands.run(line, person, self.events.append), person.shown

    async def shown(self, line: str, **answers: Any) -> str:
        return (await self.obey(line, **answers))[1]

    def heard(self, kind: type[_Result]) -> list[_Result]:
        return [event for event in self.events if isinstance(event, kind)]

    async def until(self, kind: type[AgentEvent], count: int = 1) -> None:
        """Wait for so many events of a kind."""
        async with asyncio.timeout(SECONDS):
            while len(self.heard(kind)) < count:  # noqa: ASYNC110 -- events come by a call
                await asyncio.sleep(0.002)


class Room(Machine):
    """Where desks stand. The project is trusted if nothing else is said."""

    def person_sets(self, **settings: object) -> Path:
        return write_settings(self.home, settings)

    def sit(
        self,
        work: Callable[[Sitting], Awaitable[_Result]],
        *,
        script: str = HELLO,
        approver: Approver | None = None,
        **more: Any,
    ) -> _Result:
        async def main() -> _Result:
            async with self.sitting(script=script, approver=approver, **more) as sitting:
                return await work(sitting)

        return asyncio.run(asyncio.wait_for(main(), SECONDS))

    @asynccontextmanager
    async def sitting(
        self, *, script: str = HELLO, approver: Approver | None = None, **more: Any
    ) -> AsyncGenerator[Sitting]:
        usual = AgentOptions(
            directories=(str(self.project),),
            environment=self.environment,
            model=self.script(script),
            trusts_folder=True,
            sandbox="off",
        )
        async with open_desk(replace(usual, **more), approver or Always()) as desk:
            yield Sitting(desk)

    def journals(self) -> list[Path]:
        return sorted((self.home / ".local" / "state" / "tejat" / "sessions").rglob("*.jsonl"))
