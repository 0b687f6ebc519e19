"""`/rewind`: go back to before an earlier prompt, optionally undoing file changes."""

from collections.abc import Sequence

from tejat.app.commands.base import SlashCommand, complete_from
from tejat.app.commands.ways_back import ways_back
from tejat.app.session.undo.service import UndoService, undo_plan
from tejat.core.errors import UsageError
from tejat.core.i18n import _
from tejat.core.text.time_format import format_time
from tejat.core.ui.commands import CommandAction, CompletionItem, NoAction, SetInputAction
from tejat.core.ui.prompter import Choice, Option, UserPrompter
from tejat.core.ui.report import Paragraph, Report, ReportBlock, Tone, text_report
from tejat.core.undo import UndoEntry
from tejat.engine.sessions.rewind_points import RewindPoint

_MAX_LABEL_LENGTH = 100


class RewindCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter) -> CommandAction:
        conversation = self.context.conversation
        self.context.require_idle()
        points = list(conversation.rewind_points)
        if not points:
            text = Paragraph(_("No prompt to rewind to in this conversation."))
            user.show(Report(blocks=(text, Paragraph(ways_back(besides="rewind"), Tone.QUIET))))
            return NoAction()
        number = _parse_number(arguments, len(points)) if arguments else await _choose_point(points, user)
        if number is None:
            return NoAction()
        point = points[number]
        undo_service = UndoService(self.context.manager)
        entries = await undo_service.entries_for_messages(conversation.history.messages[point.length :])
        index = await user.choose(_files_choice(entries, self.context.run_config.roots[0])) if entries else 0
        if index not in (0, 1):
            user.show(text_report(_("Nothing was changed.")))
            return NoAction()
        blocks: tuple[ReportBlock, ...] = (await undo_service.undo(entries)).blocks if index == 1 else ()
        conversation.rewind(point.length, number)
        back = Paragraph(_("Rewound the conversation to before this prompt."))
        user.show(Report(blocks=(*blocks, back)))
        return SetInputAction(point.display_text)

    async def suggestions(self, typed: str) -> Sequence[CompletionItem]:
        points = enumerate(self.context.conversation.rewind_points, 1)
        return complete_from(typed, [(str(number), _prompt_label(point)) for number, point in points])


async def _choose_point(points: Sequence[RewindPoint], user: UserPrompter) -> int | None:
    """Let the user choose a prompt, newest first."""
    options = tuple(Option(_prompt_label(point), format_time(point.created_at)) for point in reversed(points))
    index = await user.choose(Choice(_("Rewind to before which prompt?"), options))
    return None if index is None else len(points) - 1 - index


def _parse_number(word: str, count: int) -> int:
    """Raises UsageError."""
    if not word.isdecimal() or len(word) > len(str(count)) or not 1 <= int(word) <= count:
        raise UsageError(_("Enter a prompt number from 1 (the first) to {count}.", count=count))
    return int(word) - 1


def _files_choice(entries: Sequence[UndoEntry], folder: str) -> Choice:
    return Choice(
        _("Files have changed since this prompt. Undo these changes too?"),
        (
            Option(_("Rewind the conversation only")),
            Option(_("Rewind the conversation and undo the changes")),
            Option(_("Cancel")),
        ),
        report=undo_plan(entries, folder),
        is_critical=True,
    )


def _prompt_label(point: RewindPoint) -> str:
    text = " ".join(point.display_text.split())
    return text if len(text) <= _MAX_LABEL_LENGTH else f"{text[:_MAX_LABEL_LENGTH]}…"
