"""Reports of commands as Markdown."""

from typing import assert_never

from tejat.core.sanitize import sanitize_text
from tejat.core.text.code_fence import fence_code
from tejat.core.ui.report import (
    DiffBlock,
    MarkdownBlock,
    Paragraph,
    Report,
    ReportBlock,
    ReportTable,
    SourceListing,
    Tone,
)


def report_to_markdown(report: Report) -> str:
    """The report as Markdown, which ends with a blank line so that the next one is a paragraph of its own."""
    blocks = [f"**{escape_markdown(report.title)}**"] if report.title else []
    blocks += (_block_to_markdown(block) for block in report.blocks)
    return "\n\n".join(block for block in blocks if block) + "\n\n"


def _block_to_markdown(block: ReportBlock) -> str:
    match block:
        case Paragraph(text, tone):
            return _paragraph(text, tone)
        case ReportTable(rows, headings):
            return _table(rows, headings)
        case SourceListing(text, language):
            return fence_code(sanitize_text(text), language)
        case DiffBlock(text):
            return fence_code(sanitize_text(text), "diff")
        case MarkdownBlock(text):
            return sanitize_text(text)
        case _:
            assert_never(block)


def _paragraph(text: str, tone: Tone) -> str:
    lines = escape_markdown(text).split("\n")
    if tone is Tone.STRONG:
        lines = [f"**{line.strip()}**" if line.strip() else "" for line in lines]
    return "  \n".join(lines)


def _table(rows: tuple[tuple[str, ...], ...], headings: tuple[str, ...]) -> str:
    width = max((len(row) for row in (headings, *rows)), default=0)
    if not width:
        return ""
    head = headings or ("",) * width
    return "\n".join((_row(head), _row(("---",) * width), *(_row(tuple(map(_cell, row))) for row in rows)))


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    return escape_markdown(text).replace("|", "\\|").replace("\n", " ")


def escape_markdown(text: str) -> str:
    """Text that no Markdown renderer takes for anything else: what looks like markup is shown as it is."""
    return "".join(f"\\{character}" if character in "\\`*_[]<>#" else character for character in sanitize_text(text))
