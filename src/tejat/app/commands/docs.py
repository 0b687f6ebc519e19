"""`/docs`: list and read the documentation."""

from collections.abc import Sequence

from tejat.app.commands.base import SlashCommand, complete_from
from tejat.app.inspection.documentation import list_pages, read_page
from tejat.core.i18n import _
from tejat.core.ui.commands import CompletionItem
from tejat.core.ui.prompter import UserPrompter
from tejat.core.ui.report import MarkdownBlock, Paragraph, Report, ReportTable, Tone


class DocsCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter) -> None:
        if arguments:
            user.show(Report(blocks=(MarkdownBlock(read_page(arguments)),)))
            return
        pages = tuple((page.name, page.title) for page in list_pages())
        hint = Paragraph(_("/docs PAGE shows a page; in a shell: `tejat docs PAGE`."), Tone.QUIET)
        user.show(Report(_("Documentation"), (ReportTable(pages), hint)))

    async def suggestions(self, typed: str) -> Sequence[CompletionItem]:
        return complete_from(typed, ((page.name, page.title) for page in list_pages()))
