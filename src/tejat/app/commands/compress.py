"""`/compress`: summarise the conversation to make room."""

from typing import assert_never

from tejat.app.commands.base import SlashCommand
from tejat.core.agent.events import Compressed, CompressionStatus
from tejat.core.i18n import _
from tejat.core.ui.prompter import UserPrompter
from tejat.core.ui.report import Report, Tone, text_report


class CompressCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter) -> None:
        del arguments
        self.context.require_idle()
        user.show(_compression_report(await self.context.session.compress()))


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
