"""What the user agrees to when an extension is used: everything that it runs, reaches, gets, tells and forbids."""

from tejat.core.frozen import Frozen
from tejat.core.i18n import LazyString, lazy, translate
from tejat.core.messages.types import JsonObject
from tejat.core.sanitize import sanitize_line
from tejat.core.text.digest import sha256
from tejat.core.ui.report import Paragraph, Report, ReportBlock, Tone

_QUOTED = "> "
"""The prefix of third-party text, as in approvals."""


class SummaryRow(Frozen):
    """One fact. `text` and `details` are texts of the extension, except those that are lazy: those are ours."""

    text: str
    details: tuple[str, ...] = ()

    @property
    def lines(self) -> list[str]:
        """The row as sanitized lines, with a prefix where they are third-party text."""
        return [_mark(self.text), *(f"    {_mark(detail)}" for detail in self.details)]


class SummarySection(Frozen):
    """Facts of one kind. `key` is its name in JSON."""

    key: str
    title: str
    rows: tuple[SummaryRow, ...]

    def report(self) -> Report:
        """The section alone."""
        return Report(translate(self.title), (Paragraph(self.text),))

    @property
    def text(self) -> str:
        return "\n".join(f"  {line}" for row in self.rows for line in row.lines)


class ExtensionSummary(Frozen):
    """All facts about an extension. Sections without rows are left out."""

    name: str
    version: str
    sections: tuple[SummarySection, ...]

    @property
    def lines(self) -> list[str]:
        lines: list[str] = []
        for section in self.sections:
            lines.append(translate(section.title))
            lines += [f"  {line}" for row in section.rows for line in row.lines]
        return lines

    @property
    def digest(self) -> str:
        """SHA-256 of what is shown."""
        return sha256("\n".join(self.lines).encode("utf-8", "surrogateescape")).hexdigest()

    def report(self) -> Report:
        """The summary as it is shown before the question."""
        blocks: list[ReportBlock] = []
        for section in self.sections:
            blocks.append(Paragraph(translate(section.title), Tone.STRONG))
            blocks.append(Paragraph(section.text))
        title = lazy("Extension {name} {version}", name=sanitize_line(self.name), version=sanitize_line(self.version))
        return Report(translate(title), tuple(blocks))

    def to_json(self) -> JsonObject:
        return {
            "name": self.name,
            "version": self.version,
            **{
                section.key: [{"text": row.text, "details": list(row.details)} for row in section.rows]
                for section in self.sections
            },
        }


class SummaryDifference(Frozen):
    """Rows of one section that a newer version adds or no longer has."""

    title: str
    added: tuple[SummaryRow, ...]
    removed: tuple[SummaryRow, ...]

    @property
    def lines(self) -> list[str]:
        lines = [f"- {line}" for row in self.removed for line in row.lines]
        return [*lines, *(f"+ {line}" for row in self.added for line in row.lines)]


def compare_summaries(old: ExtensionSummary, new: ExtensionSummary) -> tuple[SummaryDifference, ...]:
    """The differences of two summaries by section."""
    before = {section.key: section for section in old.sections}
    after = {section.key: section for section in new.sections}
    differences: list[SummaryDifference] = []
    for key in dict.fromkeys((*before, *after)):
        old_rows = before[key].rows if key in before else ()
        new_rows = after[key].rows if key in after else ()
        added = tuple(row for row in new_rows if row not in old_rows)
        removed = tuple(row for row in old_rows if row not in new_rows)
        if added or removed:
            differences.append(SummaryDifference((after.get(key) or before[key]).title, added, removed))
    return tuple(differences)


def _mark(text: str) -> str:
    line = sanitize_line(translate(text))
    return line if isinstance(text, LazyString) else f"{_QUOTED}{line}"
