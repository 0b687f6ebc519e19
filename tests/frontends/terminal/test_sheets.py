"""What commands show, in colours, without them, in ASCII and in forty columns."""

import re

from hypothesis import given
from hypothesis import strategies as st

from tejat.core.sheet import Patch, Prose, Sheet, Source, Table, Tone, Words, told
from tejat.frontends.terminal.cells import columns
from tejat.frontends.terminal.look import ASCII, Colours, Look
from tejat.frontends.terminal.paint import ansi_of, rows_of
from tejat.frontends.terminal.sheets import draw_sheet

PLAIN, DARK, POOR = Look(), Look(colours=Colours.SIXTEEN), Look(glyphs=ASCII)
EVERYTHING = Sheet(
    "Tools",
    (
        Words("What there is."),
        Words("Careful", Tone.WARNING),
        Words("Broken beyond all\nrepair", Tone.BAD),
        Words("Fine", Tone.GOOD),
        Table((("read", "12"), ("写真", "3")), ("Name", "Calls")),
        Source("if x:\n\tpass\n", "python"),
        Patch("@@ -1 +1 @@\n-a\n+b \n"),
        Prose("Some **bold** words:\n\n- one"),
    ),
)


def drawn(sheet: Sheet, look: Look = PLAIN, width: int = 80) -> str:
    return ansi_of(draw_sheet(sheet, look), look, width=width)


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
        "@@ -1 +1 @@\n"
        "-a\n"
        "+b·\n"
        "\n"
        "Some bold words:\n"
        "\n"
        "• one\n"
    )


def test_tones_have_colours_and_signs() -> None:
    assert [drawn(told("x", tone), DARK) for tone in Tone] == [
        "x\n",
        "\x1b[1mx\x1b[0m\n",
        "\x1b[2mx\x1b[0m\n",
        "\x1b[32m✓ x\x1b[0m\n",
        "\x1b[33m▲ x\x1b[0m\n",
        "\x1b[1;31m✗ x\x1b[0m\n",
    ]
    assert drawn(told("x", Tone.BAD), POOR) == "\x1b[1mx x\x1b[0m\n"


def test_signs_are_ascii_where_the_terminal_has_no_others() -> None:
    assert drawn(Sheet("Tools", EVERYTHING.blocks[:4]), POOR).isascii()
    assert drawn(Sheet("", EVERYTHING.blocks[6:]), POOR).isascii()


texts = st.text("ab 漢👩\u200d\u202e\x1b[m\t\r\n|-*`", max_size=60)


@given(texts, st.sampled_from(list(Tone)), st.sampled_from([40, 80]))
def test_nothing_is_too_wide_or_unsafe(text: str, tone: Tone, width: int) -> None:
    blocks = (Words(text, tone), Table(((text, text),), ("a", "b")), Source(text, "python"), Patch(text), Prose(text))
    sheet = Sheet(text, blocks)
    assert all(columns(row) <= width for row in rows_of(draw_sheet(sheet, PLAIN), PLAIN, width=width))
    assert re.search("[\x00-\x09\x0b-\x1f\u202e]", re.sub("\x1b\\[[0-9;]+m", "", drawn(sheet, DARK, width))) is None
