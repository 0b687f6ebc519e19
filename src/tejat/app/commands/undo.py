"""`/undo` and `/restore`: put back what calls changed in files, and go back to before a call."""

from collections.abc import Sequence

from tejat.app.commands.base import SlashCommand, complete_from
from tejat.app.session.undo_service import UndoService, entry_title, undo_list, undo_plan
from tejat.core.agent.events import EventSink
from tejat.core.errors import UsageError
from tejat.core.i18n import _
from tejat.core.ui.commands import CommandAction, CompletionItem, NoAction, SubmitPromptAction
from tejat.core.ui.prompter import Choice, Option, UserPrompter
from tejat.core.ui.report import Paragraph, Report, ReportBlock, SourceListing, Tone, text_report
from tejat.core.undo import UndoEntry
from tejat.engine.loop.transcript import render_transcript, truncate_middle

_MAX_LISTED = 50
_MAX_CALL_LENGTH = 2_000


class UndoCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter, emit: EventSink) -> CommandAction:
        del emit
        undo_service = UndoService(self.context.manager)
        undoable = await undo_service.undoable_entries()
        if arguments.lower() == "list":
            user.show(_list_report(undoable, _("What can be undone")))
            return NoAction()
        entries = _find_entries(arguments, undoable)
        if not entries:
            user.show(text_report(_("Nothing to undo.")))
            return NoAction()
        options = (Option(_("No")), Option(_("Yes")))
        question = Choice(_("Put this back?"), options, report=undo_plan(entries), is_critical=True)
        if await user.choose(question) != 1:
            user.show(text_report(_("Nothing was touched.")))
            return NoAction()
        done = await undo_service.undo(entries)
        undo_service.notify_model(done.paths)
        user.show(Report(blocks=done.blocks))
        return NoAction()

    async def suggestions(self, typed: str) -> Sequence[CompletionItem]:
        undoable = await UndoService(self.context.manager).undoable_entries()
        options = [
            ("list", _("what can be undone")),
            *((entry.id, entry_title(entry)) for entry in undoable[:_MAX_LISTED]),
        ]
        return complete_from(typed, options)


class RestoreCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter, emit: EventSink) -> CommandAction:
        del emit
        if self.context.session.is_busy:
            raise UsageError(_("The model is still at work. Stop it first, or wait until it is done."))
        undo_service = UndoService(self.context.manager)
        history = self.context.session.conversation.history
        restorable = await undo_service.entries_for_messages(history.messages)
        if not arguments:
            user.show(_list_report(restorable, _("Calls that can be gone back to")))
            return NoAction()
        entry = next((entry for entry in restorable if entry.id == arguments), None)
        if entry is None:
            raise UsageError(_("File not found: {name}.json", name=arguments))
        place = next(
            index
            for index, message in enumerate(history.messages)
            if any(call.id == entry.call for call in message.calls)
        )
        call = SourceListing(truncate_middle(render_transcript([history.messages[place]]), _MAX_CALL_LENGTH))
        entries = await undo_service.entries_for_messages(history.messages[place:])
        taken = await user.choose(_restore_choice(entries, call))
        if taken not in (0, 1):
            user.show(text_report(_("Nothing was touched.")))
            return NoAction()
        done = await undo_service.undo(entries)
        if not done.is_complete:
            undo_service.notify_model(done.paths)
            stays = Paragraph(_("The conversation stays as it is."), Tone.WARNING)
            user.show(Report(blocks=(*done.blocks, stays)))
            return NoAction()
        self.context.session.conversation.rewind(place)
        user.show(Report(blocks=(*done.blocks, Paragraph(_("The conversation is where it was before this call.")))))
        if taken == 1:
            return NoAction()
        return SubmitPromptAction(
            "The files are as they were before your last calls, and these calls are forgotten. Go on from here.",
            f"/restore {arguments}",
        )

    async def suggestions(self, typed: str) -> Sequence[CompletionItem]:
        messages = self.context.session.conversation.history.messages
        restorable = await UndoService(self.context.manager).entries_for_messages(messages)
        return complete_from(typed, [(entry.id, entry_title(entry)) for entry in restorable])


def _restore_choice(entries: Sequence[UndoEntry], call: SourceListing) -> Choice:
    plan = undo_plan(entries)
    blocks: tuple[ReportBlock, ...] = (*plan.blocks, Paragraph(_("The model had asked for:")), call)
    return Choice(
        _("Put these files back, and go back in the conversation?"),
        (
            Option(_("Yes, and let the model go on from there")),
            Option(_("Yes, and wait for me")),
            Option(_("No")),
        ),
        initial=2,
        report=Report(plan.title, blocks),
        is_critical=True,
    )


def _find_entries(word: str, undoable: Sequence[UndoEntry]) -> Sequence[UndoEntry]:
    """The last call, the last so many, or the one of this id. Raises UsageError."""
    if not word:
        return undoable[:1]
    by_id = [entry for entry in undoable if entry.id == word]
    if by_id:
        return by_id
    if word.isdecimal() and len(word) < len("123456"):
        if int(word) < 1:
            raise UsageError(_("Usage: {usage}", usage="/undo [N | list | ID]"))
        return undoable[: int(word)]
    raise UsageError(_("There is no call {id} that could be undone. /undo list shows them.", id=word))


def _list_report(entries: Sequence[UndoEntry], heading: str) -> Report:
    if not entries:
        return text_report(_("No restorable tool calls found."))
    return undo_list(entries[:_MAX_LISTED], heading)
