"""Reports of commands as HTML."""

import pytest

from support.html_checks import HOSTILE_TEXTS, HtmlCheck, text_of
from tejat.core.ui.report import DiffBlock, MarkdownBlock, Paragraph, Report, ReportTable, SourceListing, Tone
from tejat.ui.html.report import render_report


def test_every_block_is_shown() -> None:
    report = Report(
        "Title",
        (
            Paragraph("Words\n  of two lines."),
            Paragraph("Careful.", Tone.WARNING),
            ReportTable((("a", "1"),), ("Name", "Number")),
            SourceListing("x = 1", "python"),
            DiffBlock("@@ -1 +1 @@\n-a\n+b\n"),
            MarkdownBlock("**bold**"),
        ),
    )
    shown = render_report(report)
    text = text_of(shown)
    for part in ("Title", "Words\n  of two lines.", "▲Careful.", "NameNumbera1", "x = 1", "bold"):
        assert part in text
    assert '<th scope="col">Name</th>' in shown
    assert '<span class="hl-number">1</span>' in shown
    assert "<strong>bold</strong>" in shown


def test_a_report_without_a_title_or_blocks() -> None:
    assert render_report(Report()) == '<div class="report"></div>'


@pytest.mark.parametrize("tone", list(Tone))
def test_every_tone_has_a_class(tone: Tone) -> None:
    assert f'class="tone-{tone.value}"' in render_report(Report("", (Paragraph("x", tone),)))


@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_hostile_texts_stay_text(text: str) -> None:
    blocks = (Paragraph(text), ReportTable(((text, text),), (text, text)), SourceListing(text, text), DiffBlock(text))
    assert HtmlCheck(render_report(Report(text, (*blocks, MarkdownBlock(text))))).problems == []


def test_a_long_diff_is_shortened_to_its_rows() -> None:
    diff = "@@ -0,0 +1,100 @@\n" + "".join(f"+{number}\n" for number in range(100))
    assert render_report(Report("", (DiffBlock(diff, max_rows=10),))).count("<tr") < 30
