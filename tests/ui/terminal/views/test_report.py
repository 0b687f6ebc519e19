"""What commands show, in colours, without them, in ASCII and in forty columns."""

import re

from hypothesis import given
from hypothesis import strategies as st

from tejat.core.ui.report import (
    DiffBlock,
    MarkdownBlock,
    Paragraph,
    Report,
    ReportTable,
    SourceListing,
    Tone,
    text_report,
)
from tejat.ui.terminal.render.cells import row_width
from tejat.ui.terminal.render.rich_output import render_ansi, render_rows
from tejat.ui.terminal.render.theme import ASCII_GLYPHS, ColourDepth, Theme
from tejat.ui.terminal.views.report import render_report

PLAIN, DARK, POOR = Theme(), Theme(colour_depth=ColourDepth.ANSI_16), Theme(glyphs=ASCII_GLYPHS)
EVERYTHING = Report(
    "Tools",
    (
        Paragraph("What there is."),
        Paragraph("Careful", Tone.WARNING),
        Paragraph("Broken beyond all\nrepair", Tone.BAD),
        Paragraph("Fine", Tone.GOOD),
        ReportTable((("read", "12"), ("写真", "3")), ("Name", "Calls")),
        SourceListing("if x:\n\tpass\n", "python"),
        DiffBlock("@@ -1 +1 @@\n-a\n+b \n"),
        MarkdownBlock("Some **bold** words:\n\n- one"),
    ),
)


def drawn(report: Report, theme: Theme = PLAIN, width: int = 80) -> str:
    return render_ansi(render_report(report, theme), theme, width=width)


def test_everything() -> None:
    assert re.sub("\x1b\\[[0-9;]*m", "", drawn(EVERYTHING)) == (
        "Tools\n"
        "What there is.\n"
        "▲ Careful\n"
        "✗ Broken beyond all\n"
        "  repair\n"
        "✓ Fine\n"
        "\n"
        "Name │ Calls\n"
        "─────┼──────\n"
        "read │ 12\n"
        "写真 │ 3\n"
        "\n"
        "if x:\n"
        "    pass\n"
        "\n"
        "1 - a\n"
        "1 + b·\n"
        "\n"
        "Some bold words:\n"
        "\n"
        "• one\n"
    )


def test_tones_have_colours_and_signs() -> None:
    assert [drawn(text_report("x", tone), DARK) for tone in Tone] == [
        "x\n",
        "\x1b[1mx\x1b[0m\n",
        "\x1b[2mx\x1b[0m\n",
        "\x1b[32m✓ x\x1b[0m\n",
        "\x1b[33m▲ x\x1b[0m\n",
        "\x1b[1;31m✗ x\x1b[0m\n",
    ]
    assert drawn(text_report("x", Tone.BAD), POOR) == "\x1b[1mx x\x1b[0m\n"


def test_signs_are_ascii_where_the_terminal_has_no_others() -> None:
    assert drawn(Report("Tools", EVERYTHING.blocks[:4]), POOR).isascii()
    assert drawn(Report("", EVERYTHING.blocks[6:]), POOR).isascii()


texts = st.text("ab 漢👩\u200d\u202e\x1b[m\t\r\n|-*`", max_size=60)


@given(texts, st.sampled_from(list(Tone)), st.sampled_from([40, 80]))
def test_nothing_is_too_wide_or_unsafe(text: str, tone: Tone, width: int) -> None:
    blocks = (
        Paragraph(text, tone),
        ReportTable(((text, text),), ("a", "b")),
        SourceListing(text, "python"),
        DiffBlock(text),
        MarkdownBlock(text),
    )
    report = Report(text, blocks)
    assert all(row_width(row) <= width for row in render_rows(render_report(report, PLAIN), PLAIN, width=width))
    assert re.search("[\x00-\x09\x0b-\x1f\u202e]", re.sub("\x1b\\[[0-9;]+m", "", drawn(report, DARK, width))) is None
