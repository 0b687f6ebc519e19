"""A fake prompter."""

from collections.abc import Iterable, Sequence

from tejat.core.errors import UsageError
from tejat.core.ui.prompter import Choice
from tejat.core.ui.report import DiffBlock, MarkdownBlock, Paragraph, Report, ReportTable, SourceListing


class FakePrompter:
    """Answers each kind of question in turn, with None when no answers are left. Keeps the output.

    With `pages`, everything that can be is shown in a pager.
    """

    def __init__(
        self,
        *,
        choices: Iterable[int | None] = (),
        entries: Iterable[str | None] = (),
        edits: Iterable[str | None] = (),
        can_copy: bool = True,
        pages: bool = False,
    ) -> None:
        self.reports: list[Report] = []
        self.asked: list[Choice | str] = []
        self.copied: list[str] = []
        self._choices = iter(choices)
        self._entries = iter(entries)
        self._edits = iter(edits)
        self._can_copy = can_copy
        self._pages = pages

    def show(self, report: Report) -> None:
        self.reports.append(report)

    async def page(self, reports: Sequence[Report]) -> bool:
        self.reports += reports
        return self._pages

    async def choose(self, choice: Choice) -> int | None:
        self.asked.append(choice)
        return next(self._choices, None)

    async def enter(self, label: str, *, initial: str = "", is_secret: bool = False) -> str | None:
        del initial, is_secret
        self.asked.append(label)
        return next(self._entries, None)

    async def edit(self, text: str, *, suffix: str = ".md") -> str | None:
        del suffix
        self.asked.append(text)
        return next(self._edits, None)

    async def copy(self, text: str) -> str:
        if not self._can_copy:
            raise UsageError("There is no clipboard here.")
        self.copied.append(text)
        return "clipboard"

    @property
    def output(self) -> str:
        """All output as plain text: titles, paragraphs, and tables with two spaces between cells."""
        return "\n".join(report_text(report) for report in self.reports)


def report_text(report: Report) -> str:
    lines = [report.title] if report.title else []
    for block in report.blocks:
        match block:
            case ReportTable(rows, headings):
                lines += ["  ".join(row) for row in ((headings, *rows) if headings else rows)]
            case Paragraph(text) | SourceListing(text) | DiffBlock(text) | MarkdownBlock(text):
                lines.append(text)
    return "\n".join(lines)
