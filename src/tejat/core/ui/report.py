"""Reports of commands, independent of how a front end renders them."""

from typing import TypeAlias

from tejat.core.frozen import frozen
from tejat.core.text.str_enum import StrEnum


class Tone(StrEnum):
    """The tone of a text. It never carries information that the text does not."""

    PLAIN = "plain"
    STRONG = "strong"
    QUIET = "quiet"
    GOOD = "good"
    WARNING = "warning"
    BAD = "bad"


@frozen
class Paragraph:
    """A paragraph. Newlines are kept."""

    text: str
    tone: Tone = Tone.PLAIN


@frozen
class ReportTable:
    """Rows of equal length. `headings` may be empty."""

    rows: tuple[tuple[str, ...], ...]
    headings: tuple[str, ...] = ()


@frozen
class SourceListing:
    """Code or other preformatted text."""

    text: str
    language: str = ""


@frozen
class DiffBlock:
    """A unified diff, of which at most `max_rows` rows are shown."""

    text: str
    max_rows: int | None = None


@frozen
class MarkdownBlock:
    """Markdown."""

    text: str


ReportBlock: TypeAlias = Paragraph | ReportTable | SourceListing | DiffBlock | MarkdownBlock


@frozen
class Report:
    """Blocks under a title, which may be empty. Front ends sanitize the texts."""

    title: str = ""
    blocks: tuple[ReportBlock, ...] = ()


def text_report(text: str, tone: Tone = Tone.PLAIN) -> Report:
    """A report of one paragraph."""
    return Report(blocks=(Paragraph(text, tone),))
