"""A desk: all that a person has before them while they talk to a model, whatever front end shows it."""

import os
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from tejat.app.agent import Succession, open_succession
from tejat.app.commands.book import CommandBook
from tejat.app.commands.premises import DeskParts
from tejat.app.modes import next_mode
from tejat.app.preferences import preferences_of
from tejat.app.standing import Standing
from tejat.core.agent_events import AgentEvent, RunEnded, Tell
from tejat.core.agent_options import AgentOptions
from tejat.core.confirm import Approver
from tejat.core.sheet import Sheet
from tejat.core.status import Preferences, Status
from tejat.core.types import Part
from tejat.engine.statistics import Statistics
from tejat.workspace.file_names import FileNames

if TYPE_CHECKING:
    from tejat.engine.shell_mode import Ran, ShellMode


@asynccontextmanager
async def open_desk(options: AgentOptions, approver: Approver | None) -> "AsyncGenerator[Desk]":
    """A session with a person. Raises UsageError, and ModelFailure when there is no key for the model."""
    async with open_succession(options, approver) as succession:
        desk = Desk(succession)
        try:
            yield desk
        finally:
            await desk.close()


class Desk:
    """Implements what front ends need of a session."""

    def __init__(self, succession: Succession) -> None:
        self._succession = succession
        self._statistics = Statistics(_milliseconds)
        self._standing = Standing(succession)
        self.parts = DeskParts(succession, self._statistics, preferences_of(succession.ground.settings))
        self.commands = CommandBook(self.parts)
        self.files = FileNames(succession.workshop.house.workspace())

    @property
    def status(self) -> Status:
        return self._standing.status

    @property
    def preferences(self) -> Preferences:
        return self.parts.preferences

    @property
    def way_back(self) -> str | None:
        """The id of the session, once something of it is kept."""
        session = self._succession.session
        return session.session_id if os.path.isfile(session.journal_path) else None

    @property
    def left_off(self) -> Sheet | None:
        """The end of a conversation that was begun before."""
        conversation = self._succession.session.conversation
        if not conversation.marks:
            return None
        from tejat.app.exchanging import last_words

        messages, opening = conversation.history.messages, conversation.premises.opening
        return last_words(messages, opening=opening, marks=conversation.marks)

    async def run(self, prompt: str | Sequence[Part], tell: Tell) -> RunEnded:
        """See `Session.run`."""

        def heard(event: AgentEvent) -> None:
            self._statistics.count(event)
            tell(event)

        return await self._succession.session.run(prompt, heard)

    async def run_shell(self, line: str, show: Callable[[str], None]) -> str:
        """Run a line that the person typed after `!`. See `ShellMode.run`."""
        session = self._succession.session

        def done(ran: "Ran") -> None:
            session.note(ran.message, f"!{line}")

        return await self._shell_mode.run(line, show, done)

    def steer(self, text: str) -> bool:
        """Hand the model a word between two calls; False where nothing goes on."""
        return self._succession.session.steer(text)

    def next_mode(self) -> str:
        """Go on to the next approval mode, and tell which that is."""
        return next_mode(self._succession)

    async def close(self) -> None:
        """Stop looking for files, and let go of what shell lines left behind."""
        await self.files.close()
        if "_shell_mode" in self.__dict__:
            self._shell_mode.close()

    @cached_property
    def _shell_mode(self) -> "ShellMode":
        from tejat.app.shell_lines import open_shell_mode

        return open_shell_mode(self._succession)


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)
