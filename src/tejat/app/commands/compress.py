"""`/compress`: summarise the conversation to make room, or preview what that would do."""

from collections.abc import Sequence

from tejat.app.commands.base import SlashCommand, complete_from
from tejat.core.agent.compaction import CompressionPreview
from tejat.core.errors import UsageError
from tejat.core.i18n import _, ngettext
from tejat.core.ui.commands import CompletionItem
from tejat.core.ui.prompter import UserPrompter
from tejat.core.ui.report import Paragraph, Report, ReportBlock, ReportTable, Tone, text_report

_PREVIEW = "--preview"
_MAX_REQUESTS = 20
_MAX_LENGTH = 120


class CompressCommand(SlashCommand):
    """Shows nothing itself unless it previews: every front end gets the outcome as an event."""

    async def run(self, arguments: str, user: UserPrompter) -> None:
        if arguments not in ("", _PREVIEW, "preview"):
            raise UsageError(_("Usage: /compress [--preview]"))
        self.context.require_idle()
        if arguments:
            user.show(_report(self.context.conversation.preview_compression()))
        else:
            await self.context.session.compress()

    async def suggestions(self, typed: str) -> Sequence[CompletionItem]:
        return complete_from(typed, [(_PREVIEW, _("show what would be kept, without asking the model"))])


def _report(preview: CompressionPreview) -> Report:
    if preview.detail:
        return text_report(_("Nothing to compress yet."))
    sizes = _(
        "About {before} tokens now, about {after} afterwards.", before=f"{preview.before:,}", after=f"{preview.after:,}"
    )
    rows = [
        (_("Summarized"), ngettext("{count} message", "{count} messages", preview.summarized)),
        (_("Kept as they are"), ngettext("{count} message", "{count} messages", preview.kept)),
        *(
            (_("Kept with the session"), _("{name}, about {tokens} tokens", name=name, tokens=f"{tokens:,}"))
            for name, tokens in preview.carried
        ),
    ]
    blocks: list[ReportBlock] = [Paragraph(sizes), ReportTable(tuple(rows))]
    if preview.requests:
        blocks.append(Paragraph(_("Your requests that stay word for word"), Tone.STRONG))
        shown = preview.requests[-_MAX_REQUESTS:]
        if len(shown) < len(preview.requests):
            left = len(preview.requests) - len(shown)
            blocks.append(Paragraph(ngettext("{count} older request", "{count} older requests", left), Tone.QUIET))
        blocks.append(Paragraph("\n".join(f"- {_shorten(request)}" for request in shown)))
    blocks.append(Paragraph(_("/compress does this now."), Tone.QUIET))
    return Report(_("Compression preview"), tuple(blocks))


def _shorten(request: str) -> str:
    line = " ".join(request.split())
    return line if len(line) <= _MAX_LENGTH else f"{line[:_MAX_LENGTH]}..."
