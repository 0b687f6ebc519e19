"""Reports of commands as HTML."""

from typing import assert_never

from tejat.core.i18n import _
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
from tejat.ui.html.code import render_code
from tejat.ui.html.diff import render_diff_rows
from tejat.ui.html.markdown import render_markdown
from tejat.ui.html.markup import escape_text, scroll_box
from tejat.ui.shared.diff.fit import block_rows


def render_report(report: Report) -> str:
    """Render the blocks under their title."""
    title = f"<h3>{escape_text(report.title)}</h3>" if report.title else ""
    return f'<div class="report">{title}{"".join(map(_render_block, report.blocks))}</div>'


def _render_block(block: ReportBlock) -> str:
    match block:
        case Paragraph(text, tone):
            sign = f'<span class="sign" aria-hidden="true">{_SIGNS[tone]}</span>' if _SIGNS[tone] else ""
            return f'<p class="tone-{tone.value}">{sign}<span>{escape_text(text)}</span></p>'
        case ReportTable():
            return _render_table(block)
        case SourceListing(text, language):
            return render_code(text, language)
        case DiffBlock():
            return render_diff_rows(block_rows(block))
        case MarkdownBlock(text):
            return f'<div class="md">{render_markdown(text)}</div>'
        case _:
            assert_never(block)


def _render_table(table: ReportTable) -> str:
    head = ""
    if table.headings:
        cells = "".join(f'<th scope="col">{escape_text(heading)}</th>' for heading in table.headings)
        head = f"<thead><tr>{cells}</tr></thead>"
    body = "".join(f"<tr>{''.join(f'<td>{escape_text(cell)}</td>' for cell in row)}</tr>" for row in table.rows)
    content = f"<table>{head}<tbody>{body}</tbody></table>"
    return scroll_box("div", content, class_="table-box", label=_("Table"))


_SIGNS = {Tone.PLAIN: "", Tone.STRONG: "", Tone.QUIET: "", Tone.GOOD: "✓", Tone.WARNING: "▲", Tone.BAD: "✗"}
