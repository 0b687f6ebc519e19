"""`/resume`: go on with an earlier session of this project."""

import time
from collections.abc import Sequence

from tejat.app.agent import sessions_of
from tejat.app.commands.command import Command, fitting
from tejat.app.exchanging import last_words, take_up
from tejat.core.agent_events import Tell
from tejat.core.commands import Done, Effect, Suggestion
from tejat.core.errors import UsageError
from tejat.core.person import Choice, Option, Person
from tejat.core.sheet import told
from tejat.core.words import say
from tejat.engine.session_files import LATEST, SessionEntry


class Resume(Command):
    async def run(self, arguments: str, person: Person, tell: Tell) -> Effect:
        del tell
        entry = self._meant(arguments) if arguments else await self._chosen(person)
        if entry is None:
            return Done()
        await take_up(self.parts.succession, entry)
        conversation = self.parts.session.conversation
        person.show(
            last_words(conversation.history.messages, opening=conversation.premises.opening, marks=conversation.marks)
        )
        return Done()

    async def suggestions(self, typed: str) -> Sequence[Suggestion]:
        others = self._others()
        options = [(entry.session_id, _title(entry)) for entry in reversed(others)]
        return fitting(typed, [(LATEST, _title(others[-1])), *options] if others else [])

    def _others(self) -> list[SessionEntry]:
        """All but the one that goes on here."""
        own = self.parts.session.journal_path
        return [entry for entry in sessions_of(self.parts.ground).found() if entry.path != own]

    def _meant(self, word: str) -> SessionEntry:
        """Raises UsageError."""
        if word == LATEST:
            others = self._others()
            if not others:
                raise UsageError(say("There is no other session of this project."))
            return others[-1]
        entry = sessions_of(self.parts.ground).find(word)
        if entry.path == self.parts.session.journal_path:
            raise UsageError(say("This is the session that you are in."))
        return entry

    async def _chosen(self, person: Person) -> SessionEntry | None:
        others = self._others()[::-1]
        if not others:
            person.show(told(say("There is no other session of this project.")))
            return None
        options = tuple(Option(_title(entry), _detail(entry)) for entry in others)
        taken = await person.choose(Choice(say("Which session do you want to go on with?"), options))
        return None if taken is None else others[taken]


def _title(entry: SessionEntry) -> str:
    return entry.title or say("(no prompt)")


def _detail(entry: SessionEntry) -> str:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.changed))
    return say("{when}, {model}, number {number}", when=when, model=entry.model, number=entry.number)
