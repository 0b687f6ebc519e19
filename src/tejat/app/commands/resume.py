"""`/resume`: resume an earlier session of this project."""

from collections.abc import Sequence

from tejat.app.commands.base import SlashCommand, complete_from
from tejat.app.session.initial_state import open_session_store
from tejat.app.session.session_switch import resume_session, session_tail
from tejat.core.errors import UsageError
from tejat.core.i18n import _
from tejat.core.text.time_format import format_time
from tejat.core.ui.commands import CompletionItem
from tejat.core.ui.prompter import Choice, Option, UserPrompter
from tejat.core.ui.report import text_report
from tejat.engine.sessions.session_store import LATEST, SessionSummary


class ResumeCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter) -> None:
        entry = self._find(arguments) if arguments else await self._choose(user)
        if entry is None:
            return
        await resume_session(self.context.manager, entry)
        user.show(session_tail(self.context.conversation))

    async def suggestions(self, typed: str) -> Sequence[CompletionItem]:
        others = self._other_sessions()
        options = [(entry.session_id, _title(entry)) for entry in reversed(others)]
        return complete_from(typed, [(LATEST, _title(others[-1])), *options] if others else [])

    def _other_sessions(self) -> list[SessionSummary]:
        """All sessions except the current one."""
        own = self.context.session.journal_path
        return [entry for entry in open_session_store(self.context.run_config).list_sessions() if entry.path != own]

    def _find(self, word: str) -> SessionSummary:
        """Raises UsageError."""
        if word == LATEST:
            others = self._other_sessions()
            if not others:
                raise UsageError(_("No other sessions in this project."))
            return others[-1]
        entry = open_session_store(self.context.run_config).find(word)
        if entry.path == self.context.session.journal_path:
            raise UsageError(_("This is the current session."))
        return entry

    async def _choose(self, user: UserPrompter) -> SessionSummary | None:
        others = self._other_sessions()[::-1]
        if not others:
            user.show(text_report(_("No other sessions in this project.")))
            return None
        index = await user.choose(Choice(_("Choose a session to resume"), tuple(map(_option, others))))
        return None if index is None else others[index]


def _title(entry: SessionSummary) -> str:
    return entry.title or _("(no prompt)")


def _option(entry: SessionSummary) -> Option:
    when, model, number = format_time(entry.modified), entry.model, entry.number
    return Option(_title(entry), _("{when}, {model}, #{number}", when=when, model=model, number=number))
