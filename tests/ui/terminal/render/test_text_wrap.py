"""Text is broken where eyes expect it, and no line is wider than it may be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.style import Style

from tejat.ui.terminal.render.cells import row_width, split_cells
from tejat.ui.terminal.render.rich_output import render_ansi
from tejat.ui.terminal.render.text_wrap import NO_STYLE, StyledLine, WrappedLines, fold_line, prefix_lines, wrap_runs
from tejat.ui.terminal.render.theme import Theme

BOLD = Style(bold=True)


def texts(text: str, width: int, *, cuts_addresses: bool = False) -> list[str]:
    lines = wrap_runs([(text, NO_STYLE)], width, breaks_urls=cuts_addresses)
    return ["".join(part for part, _ in line) for line in lines]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", [""]),
        ("one two three", ["one two", "three"]),
        ("one\ntwo", ["one", "two"]),
        ("one\n\ntwo", ["one", "", "two"]),
        ("  in  side  ", ["  in  side"]),
        ("abcdefghijklmno p", ["abcdefghij", "klmno p"]),
        ("漢字かな交じり文。", ["漢字かな交", "じり文。"]),
        ("漢字かな交。文", ["漢字かな", "交。文"]),
        ("漢字かな「交り", ["漢字かな", "「交り"]),
        ("ab漢字漢字漢字", ["ab漢字漢字", "漢字"]),
        ("👩\u200d👩\u200d👧👩\u200d👩\u200d👧 12345678", ["👩\u200d👩\u200d👧👩\u200d👩\u200d👧", "12345678"]),
        ("see https://example.com/long now", ["see", "https://example.com/long", "now"]),
    ],
)
def test_where_lines_are_broken(text: str, lines: list[str]) -> None:
    assert texts(text, 10) == lines


def test_addresses_are_cut_where_there_is_no_other_way() -> None:
    assert texts("https://example.com/", 10, cuts_addresses=True) == ["https://ex", "ample.com/"]


def test_styles_stay_with_their_words() -> None:
    lines = wrap_runs([("one ", NO_STYLE), ("two three", BOLD), (" four\nfive", NO_STYLE)], 8)
    assert lines == [
        [("one ", NO_STYLE), ("two", BOLD)],
        [("three", BOLD)],
        [("four", NO_STYLE)],
        [("five", NO_STYLE)],
    ]


def test_prefixes_and_drawing() -> None:
    lines = WrappedLines(
        lambda width: prefix_lines(wrap_runs([("one two three", BOLD)], width - 2), [("- ", NO_STYLE)], [])
    )
    assert render_ansi(lines, Theme(), width=9) == "- \x1b[1mone two\x1b[0m\n\x1b[1mthree\x1b[0m\n"


def drawn_width(line: StyledLine) -> int:
    return row_width(split_cells("".join(text for text, _ in line)))


CLUSTERS = [
    "a",
    "bc",
    "漢",
    "字。",
    "（",
    "👩\u200d👩\u200d👧",
    "❤\ufe0f",
    "e\u0301",
    "مرحبا",
    "שלום",
    "क्षि",
    "-",
    " ",
    "   ",
    "\n",
]
wide = st.lists(st.sampled_from(CLUSTERS), max_size=30).map("".join)


@given(st.lists(st.tuples(wide, st.sampled_from([NO_STYLE, BOLD])), max_size=4), st.integers(2, 20))
def test_no_line_is_too_wide_and_no_word_is_lost(runs: list[tuple[str, Style]], width: int) -> None:
    lines = wrap_runs(runs, width)
    assert all(drawn_width(line) <= width for line in lines)
    shown = "".join(part for line in lines for part, _ in line)
    assert "".join(shown.split()) == "".join("".join(text for text, _ in runs).split())


@given(wide.map(lambda text: text.replace("\n", "")), st.integers(2, 20))
def test_folding_keeps_every_blank(text: str, width: int) -> None:
    lines = list(fold_line([(text, NO_STYLE)], width))
    assert "".join(part for line in lines for part, _ in line) == text
    assert all(drawn_width(line) <= width for line in lines)
