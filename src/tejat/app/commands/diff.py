"""`/diff`: show the file changes of this session."""

from collections.abc import Sequence

from tejat.app.commands.base import SlashCommand, complete_from
from tejat.app.session.undo.service import UndoService, entry_title
from tejat.core.errors import UsageError
from tejat.core.i18n import _, ngettext
from tejat.core.ui.commands import CompletionItem
from tejat.core.ui.prompter import UserPrompter
from tejat.core.ui.report import DiffBlock, Paragraph, Report, ReportBlock, Tone
from tejat.core.undo import UndoEntry

_USAGE = "/diff [last | N | ID]"
_MAX_LISTED = 50
_MAX_LINES = 400
_MIN_ROWS = 10
_MAX_FILES = 40


class DiffCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter) -> None:
        service = UndoService(self.context.manager)
        title, entries = await self._select(arguments, service)
        user.show(_diff_report(title, await service.diff(entries), self.context.run_config.roots[0]))

    async def suggestions(self, typed: str) -> Sequence[CompletionItem]:
        entries = await UndoService(self.context.manager).session_entries()
        options = [
            ("last", _("changes since your last prompt")),
            *((entry.id, entry_title(entry, self.context.run_config.roots[0])) for entry in entries[:_MAX_LISTED]),
        ]
        return complete_from(typed, options)

    async def _select(self, word: str, service: UndoService) -> tuple[str, Sequence[UndoEntry]]:
        """The entries to show, newest first, under a title. Raises UsageError."""
        entries = await service.session_entries()
        if not word:
            return _("Changes in this session"), entries
        if word.casefold() == "last":
            conversation = self.context.conversation
            points = list(conversation.rewind_points)
            messages = conversation.history.messages[points[-1].length if points else 0 :]
            return _("Changes since your last prompt"), await service.entries_for_messages(messages)
        for entry in entries:
            if entry.id == word:
                return entry_title(entry, self.context.run_config.roots[0]), (entry,)
        if word.isascii() and word.isdigit() and int(word[:9]) > 0:
            chosen = entries[: int(word[:9])]
            title = ngettext("Changes made by the last call", "Changes made by the last {count} calls", len(chosen))
            return title, chosen
        raise UsageError(
            _("No call {id} in this session. /undo list shows the calls.\nUsage: {usage}", id=word, usage=_USAGE)
        )


def diff_blocks(pieces: Sequence[str], root: str, *, max_rows: int | None = None) -> tuple[ReportBlock, ...]:
    """Each patch as a diff of at most `max_rows` rows, and other changes in a line. Paths are relative to `root`."""
    short = (_with_short_path(piece, root) for piece in pieces)
    return tuple(DiffBlock(piece, max_rows) if "\n@@ " in piece else Paragraph(piece.rstrip("\n")) for piece in short)


def _diff_report(title: str, pieces: Sequence[str], root: str) -> Report:
    """All changes; if they are too many to read, the beginning and the end of each file."""
    if not pieces:
        note = _("Only changes by tool calls are shown; for everything else run !git diff.")
        return Report(blocks=(Paragraph(_("No file changes.")), Paragraph(note, Tone.QUIET)))
    is_long = sum(piece.count("\n") for piece in pieces) > _MAX_LINES
    max_rows = max(_MAX_LINES // len(pieces), _MIN_ROWS) if is_long else None
    blocks = diff_blocks(pieces[:_MAX_FILES], root, max_rows=max_rows)
    if hidden := len(pieces[_MAX_FILES:]):
        more = ngettext("{count} more file is not shown.", "{count} more files are not shown.", hidden)
        blocks = (*blocks, Paragraph(more, Tone.WARNING))
    if is_long:
        blocks = (*blocks, Paragraph(_("/diff ID shows one call, !git diff shows everything."), Tone.QUIET))
    return Report(title, blocks)


def _with_short_path(piece: str, root: str) -> str:
    """A patch or a line whose path is relative to the project."""
    head, separator, hunks = piece.partition("\n@@ ")
    return f"{head.replace(f'{root}/', '')}{separator}{hunks}"
