"""`/undo`: undo file changes of tool calls."""

from collections.abc import Sequence

from tejat.app.commands.base import SlashCommand, complete_from
from tejat.app.commands.diff import diff_blocks
from tejat.app.commands.ways_back import ways_back
from tejat.app.session.undo.service import UndoService, entry_title, undo_list, undo_plan
from tejat.app.session.undo.text import latest_entries
from tejat.core.errors import UsageError
from tejat.core.frozen import replace
from tejat.core.i18n import _
from tejat.core.ui.commands import CompletionItem
from tejat.core.ui.prompter import Choice, Option, UserPrompter
from tejat.core.ui.report import Paragraph, Report, Tone, text_report
from tejat.core.undo import RestoreScope, UndoEntry, find_entry

_MAX_LISTED = 50
_MAX_PREVIEWED, _PREVIEW_ROWS = 5, 12
"""Files whose changes are shown before they are undone, and rows of each."""


class UndoCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter) -> None:
        undo_service = UndoService(self.context.manager)
        folder = self.context.run_config.roots[0]
        undoable = await undo_service.undoable_entries()
        if arguments.lower() == "list":
            user.show(list_report(undoable, folder, _("Calls that can be undone"), command="undo"))
            return
        entries = _find_entries(arguments, undoable, self.context.manager.session.session_id)
        if not entries:
            user.show(_empty_report(_("Nothing to undo: no tool call has changed files here.")))
            return
        plan = undo_plan(entries, folder, self.context.manager.session.session_id)
        pieces = (await undo_service.diff(entries))[:_MAX_PREVIEWED]
        preview = diff_blocks(pieces, folder, max_rows=_PREVIEW_ROWS)
        choice = _undo_choice(entries, replace(plan, blocks=(*plan.blocks, *preview)))
        index = await user.choose(choice)
        if index is None or index >= len(choice.options) - 1:
            user.show(text_report(_("Nothing was changed.")))
            return
        done = await undo_service.undo(entries, RestoreScope(foreign=index == 1))
        undo_service.notify_model(done.paths)
        user.show(Report(blocks=done.blocks))

    async def suggestions(self, typed: str) -> Sequence[CompletionItem]:
        undoable = await UndoService(self.context.manager).undoable_entries()
        options = [
            ("list", _("calls that can be undone")),
            *((entry.id, entry_title(entry, self.context.run_config.roots[0])) for entry in undoable[:_MAX_LISTED]),
        ]
        return complete_from(typed, options)


def _undo_choice(entries: Sequence[UndoEntry], plan: Report) -> Choice:
    """The question; the last option changes nothing."""
    options = [Option(_("Yes")), Option(_("No"))]
    if any(entry.foreign for entry in entries):
        careful = Option(_("Yes, except what other programs may have changed"))
        options = [careful, Option(_("Yes, everything")), Option(_("No"))]
    return Choice(_("Undo these changes?"), tuple(options), report=plan, is_critical=True)


def _find_entries(word: str, undoable: Sequence[UndoEntry], session_id: str) -> Sequence[UndoEntry]:
    """The last call that matters, the last N, or the entry with this id. Raises UsageError.

    The id may also be that of a call of this session, as the model gave it, which front ends know.
    """
    if not word:
        return latest_entries(undoable, 1)
    if of_call := [each for each in undoable if (each.session, each.call) == (session_id, word) and not each.undone_by]:
        return of_call
    if (by_id := find_entry(undoable, word)) is not None and by_id.undone_by is None:
        return [by_id]
    if word.isdecimal() and len(word) < len("123456"):
        if int(word) < 1:
            raise UsageError(_("Usage: {usage}", usage="/undo [N | list | ID]"))
        return latest_entries(undoable, int(word))
    raise UsageError(_("No call {id} to undo. /undo list shows the calls.", id=word))


def list_report(entries: Sequence[UndoEntry], folder: str, heading: str, *, command: str) -> Report:
    """List entries for `/undo` or `/restore`; an empty list names the other ways back."""
    if not entries:
        return _empty_report(_("No restorable tool calls found."), command)
    listed = undo_list(entries[:_MAX_LISTED], folder, heading)
    hint = _("/undo ID reverts one call, /undo N the last N calls.")
    if command == "restore":
        hint = _("/restore ID returns files and conversation to before that call.")
    return replace(listed, blocks=(*listed.blocks, Paragraph(hint, Tone.QUIET)))


def _empty_report(text: str, command: str = "undo") -> Report:
    return Report(blocks=(Paragraph(text), Paragraph(ways_back(besides=command), Tone.QUIET)))
