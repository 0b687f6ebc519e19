"""`/restore`: undo file changes and rewind the conversation to before a call."""

from collections.abc import Sequence

from tejat.app.commands.base import SlashCommand, complete_from
from tejat.app.commands.undo import list_report
from tejat.app.session.undo.service import UndoService, entry_title, undo_plan
from tejat.core.errors import UsageError
from tejat.core.i18n import _
from tejat.core.ui.commands import CommandAction, CompletionItem, NoAction, SubmitPromptAction
from tejat.core.ui.prompter import Choice, Option, UserPrompter
from tejat.core.ui.report import Paragraph, Report, ReportBlock, SourceListing, Tone, text_report
from tejat.core.undo import UndoEntry
from tejat.engine.loop.transcript import render_transcript, truncate_middle

_MAX_CALL_LENGTH = 2_000


class RestoreCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter) -> CommandAction:
        self.context.require_idle()
        undo_service = UndoService(self.context.manager)
        folder = self.context.run_config.roots[0]
        history = self.context.conversation.history
        restorable = await undo_service.entries_for_messages(history.messages)
        if not arguments:
            user.show(list_report(restorable, folder, _("Calls you can restore to"), command="restore"))
            return NoAction()
        entry = next((entry for entry in restorable if entry.id == arguments), None)
        if entry is None:
            raise UsageError(
                _("File not found: {name}.json\n/restore lists the calls you can restore to.", name=arguments)
            )
        position = next(
            index
            for index, message in enumerate(history.messages)
            if any(call.id == entry.call for call in message.calls)
        )
        call = SourceListing(truncate_middle(render_transcript([history.messages[position]]), _MAX_CALL_LENGTH))
        entries = await undo_service.entries_for_messages(history.messages[position:])
        index = await user.choose(_restore_choice(entries, folder, call))
        if index not in (0, 1):
            user.show(text_report(_("Nothing was changed.")))
            return NoAction()
        done = await undo_service.undo(entries)
        if not done.is_complete:
            undo_service.notify_model(done.paths)
            stays = Paragraph(_("The conversation was not changed."), Tone.WARNING)
            user.show(Report(blocks=(*done.blocks, stays)))
            return NoAction()
        self.context.conversation.rewind(position)
        user.show(Report(blocks=(*done.blocks, Paragraph(_("Restored the conversation to before this call.")))))
        if index == 1:
            return NoAction()
        return SubmitPromptAction(
            "The files are as they were before your last calls, and these calls are forgotten. Go on from here.",
            f"/restore {arguments}",
        )

    async def suggestions(self, typed: str) -> Sequence[CompletionItem]:
        messages = self.context.conversation.history.messages
        restorable = await UndoService(self.context.manager).entries_for_messages(messages)
        folder = self.context.run_config.roots[0]
        return complete_from(typed, [(entry.id, entry_title(entry, folder)) for entry in restorable])


def _restore_choice(entries: Sequence[UndoEntry], folder: str, call: SourceListing) -> Choice:
    plan = undo_plan(entries, folder)
    blocks: tuple[ReportBlock, ...] = (*plan.blocks, Paragraph(_("The model had requested:")), call)
    return Choice(
        _("Restore these files and the conversation?"),
        (Option(_("Yes, and let the model continue")), Option(_("Yes, and wait for my prompt")), Option(_("No"))),
        initial=2,
        report=Report(plan.title, blocks),
        is_critical=True,
    )
