"""`/clear` and `/compress`: a new conversation, or a shorter one."""

from typing import assert_never

from tejat.app.commands.base import SlashCommand
from tejat.app.session.session_switch import start_new_session
from tejat.core.agent.events import AgentEvent, Compressed, CompressionStatus, EventSink
from tejat.core.errors import UsageError
from tejat.core.i18n import _
from tejat.core.ui.commands import ClearScreenAction, CommandAction, NoAction
from tejat.core.ui.prompter import UserPrompter
from tejat.core.ui.report import Report, Tone, text_report


class ClearCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter, emit: EventSink) -> CommandAction:
        del arguments, user, emit
        await start_new_session(self.context.manager)
        return ClearScreenAction()


class CompressCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter, emit: EventSink) -> CommandAction:
        del arguments

        def on_event(event: AgentEvent) -> None:
            self.context.statistics.record(event)
            emit(event)

        session = self.context.session
        if session.is_busy:
            raise UsageError(_("The model is still at work. Stop it first, or wait until it is done."))
        user.show(_compression_report(await session.compress(on_event)))
        return NoAction()


def _compression_report(outcome: Compressed) -> Report:
    match outcome.status:
        case CompressionStatus.COMPRESSED:
            message = _(
                "Chat history compressed from {before} to {after} tokens.", before=outcome.before, after=outcome.after
            )
            return text_report(message, Tone.GOOD)
        case CompressionStatus.NOT_NEEDED:
            return text_report(_("Nothing to compress."))
        case CompressionStatus.INFLATED:
            return text_report(_("Compression was not beneficial for this history size."))
        case CompressionStatus.FAILED:
            return text_report(_("Could not compress chat history: {why}", why=outcome.detail), Tone.BAD)
        case _:
            assert_never(outcome.status)
