"""Reports of commands, independent of how a front end renders them."""

from typing import TypeAlias

from tejat.core.frozen import Frozen
from tejat.core.text.str_enum import StrEnum


class Tone(StrEnum):
    """The tone of a text. It never carries information that the text does not."""

    PLAIN = "plain"
    STRONG = "strong"
    QUIET = "quiet"
    GOOD = "good"
    WARNING = "warning"
    BAD = "bad"


class Paragraph(Frozen):
    """A paragraph. Newlines are kept."""

    text: str
    tone: Tone = Tone.PLAIN


class ReportTable(Frozen):
    """Rows of equal length. `headings` may be empty."""

    rows: tuple[tuple[str, ...], ...]
    headings: tuple[str, ...] = ()


class SourceListing(Frozen):
    """Code or other preformatted text."""

    text: str
    language: str = ""


class DiffBlock(Frozen):
    """A unified diff, of which at most `max_rows` rows are shown."""

    text: str
    max_rows: int | None = None


class MarkdownBlock(Frozen):
    """Markdown."""

    text: str


ReportBlock: TypeAlias = Paragraph | ReportTable | SourceListing | DiffBlock | MarkdownBlock


class Report(Frozen):
    """Blocks under a title, which may be empty. Front ends sanitize the texts."""

    title: str = ""
    blocks: tuple[ReportBlock, ...] = ()


def text_report(text: str, tone: Tone = Tone.PLAIN) -> Report:
    """A report of one paragraph."""
    return Report(blocks=(Paragraph(text, tone),))
