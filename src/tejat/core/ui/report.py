"""What a command has to show, apart from how: a terminal draws it, a screen reader gets it in lines."""

from enum import StrEnum
from typing import TypeAlias

from tejat.core.frozen import frozen


class Tone(StrEnum):
    """How a text is meant. No tone says anything that the words do not."""

    PLAIN = "plain"
    STRONG = "strong"
    QUIET = "quiet"
    GOOD = "good"
    WARNING = "warning"
    BAD = "bad"


@frozen
class Paragraph:
    """A paragraph; a newline in it is kept."""

    text: str
    tone: Tone = Tone.PLAIN


@frozen
class ReportTable:
    """Rows of as many cells each. `headings` may be empty."""

    rows: tuple[tuple[str, ...], ...]
    headings: tuple[str, ...] = ()


@frozen
class SourceListing:
    """Code, or whatever else is shown as it stands."""

    text: str
    language: str = ""


@frozen
class DiffBlock:
    """A unified diff."""

    text: str


@frozen
class MarkdownBlock:
    """Markdown."""

    text: str


ReportBlock: TypeAlias = Paragraph | ReportTable | SourceListing | DiffBlock | MarkdownBlock


@frozen
class Report:
    """Blocks under a title, which may be empty. Whoever shows the texts makes them safe for a terminal."""

    title: str = ""
    blocks: tuple[ReportBlock, ...] = ()


def text_report(text: str, tone: Tone = Tone.PLAIN) -> Report:
    """A sheet of one paragraph."""
    return Report(blocks=(Paragraph(text, tone),))
