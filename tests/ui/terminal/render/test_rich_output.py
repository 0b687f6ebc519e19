"""Renderables become rows of cells or coloured lines, and nothing unsafe gets through."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Group
from rich.control import Control
from rich.style import Style
from rich.table import Table
from rich.text import Text

from tejat.ui.terminal.render.cells import Cell, row_width
from tejat.ui.terminal.render.rich_output import render_ansi, render_rows
from tejat.ui.terminal.render.theme import ASCII_GLYPHS, ColourDepth, Theme

PLAIN, SIXTEEN, ALL = Theme(), Theme(colour_depth=ColourDepth.ANSI_16), Theme(colour_depth=ColourDepth.TRUE_COLOUR)


@pytest.mark.parametrize(
    ("renderable", "written"),
    [
        ("plain [b]text[/b] :smile: 12", "plain [b]text[/b] :smile: 12\n"),
        ("", "\n"),
        ("one\n\ntwo   ", "one\n\ntwo\n"),
        (Text("red", "red"), "\x1b[31mred\x1b[0m\n"),
        (Text.assemble(("a", "red"), " ", ("b", "red")), "\x1b[31ma b\x1b[0m\n"),
        (Text.assemble(("a", "red"), " ", ("b", "bold green"), " c"), "\x1b[31ma \x1b[0;1;32mb\x1b[0m c\n"),
        (Text.assemble(("a ", "underline"), "  b  "), "\x1b[4ma \x1b[0m  b\n"),
        (Text.assemble(("on  ", "reverse"), "   "), "\x1b[7mon  \x1b[0m\n"),
        (Text("one\ntwo", "red"), "\x1b[31mone\x1b[0m\n\x1b[31mtwo\x1b[0m\n"),
        (Text("bank", Style(link="http://evil")), "bank\n"),
        (Text("no", Style(conceal=True, blink=True)), "no\n"),
        (Group(Control.clear(), Control.title("x"), "text"), "text\n"),
    ],
)
def test_lines_have_no_more_codes_than_needed(renderable: Text, written: str) -> None:
    assert render_ansi(renderable, SIXTEEN, width=80) == written


def test_colours_are_those_that_the_terminal_has() -> None:
    text = Text("x", "bold #ff0000 on #0000ff")
    assert [render_ansi(text, Theme(colour_depth=colours), width=9) for colours in ColourDepth] == [
        "\x1b[1mx\x1b[0m\n",
        "\x1b[1;31;44mx\x1b[0m\n",
        "\x1b[1;38;5;196;48;5;21mx\x1b[0m\n",
        "\x1b[1;38;2;255;0;0;48;2;0;0;255mx\x1b[0m\n",
    ]
    assert [render_rows(text, Theme(colour_depth=colours), width=9)[0][0].style for colours in ColourDepth] == [
        "bold",
        "bold ansired bg:ansiblue",
        "bold #ff0000 bg:#0000ff",
        "bold #ff0000 bg:#0000ff",
    ]


def test_rows_hold_graphemes_and_none_is_too_wide() -> None:
    rows = render_rows(Text("ab👩\u200d👧漢字c", "red", no_wrap=True, overflow="ignore"), SIXTEEN, width=5)
    assert rows == [
        [Cell("a", 1, "ansired"), Cell("b", 1, "ansired"), Cell("👩\u200d👧", 2, "ansired")],
        [Cell("漢", 2, "ansired"), Cell("字", 2, "ansired"), Cell("c", 1, "ansired")],
    ]


def test_a_line_that_is_too_long_is_left_to_the_terminal() -> None:
    line = Text("x" * 100, no_wrap=True, overflow="ignore")
    assert render_ansi(line, PLAIN, width=40) == "x" * 100 + "\n"
    assert [row_width(row) for row in render_rows(line, PLAIN, width=40)] == [40, 40, 20]


def test_without_other_signs_tables_are_drawn_in_ascii() -> None:
    table = Table("a", "b")
    table.add_row("1", "2")
    assert render_ansi(table, Theme(glyphs=ASCII_GLYPHS), width=40).isascii()
    assert not render_ansi(table, PLAIN, width=40).isascii()


@given(st.text(), st.sampled_from([1, 7, 40]))
def test_nothing_unsafe_gets_through(text: str, width: int) -> None:
    written = render_ansi(Text(text, "bold red"), SIXTEEN, width=width)
    rest = re.sub("\x1b\\[(?:0|1;31)m", "", written)
    assert re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\ud800-\udfff]", rest) is None
    shown = "".join(cell.text for row in render_rows(Text(text), SIXTEEN, width=width) for cell in row)
    assert re.search("[\x00-\x1f\x7f-\x9f\u202e\ud800-\udfff]", shown) is None
