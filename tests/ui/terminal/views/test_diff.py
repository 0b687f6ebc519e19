"""A diff shows everything that changes, what an eye would miss too."""

from support.diff_samples import TWO_FILES
from tejat.ui.terminal.render.rich_output import render_ansi, render_rows
from tejat.ui.terminal.render.theme import ASCII_GLYPHS, ColourDepth, Theme
from tejat.ui.terminal.views.diff import render_diff

PLAIN = Theme()


def drawn(patch: str, width: int = 80, theme: Theme = PLAIN, most_lines: int | None = None) -> list[str]:
    rows = render_rows(render_diff(patch, theme, max_lines=most_lines), theme, width=width)
    return ["".join(cell.text for cell in row) for row in rows]


def test_a_diff_is_drawn_whole_with_its_signs() -> None:
    assert drawn(TWO_FILES) == TWO_FILES.splitlines()


def test_only_whole_hunks_and_a_count_of_the_rest() -> None:
    lines = TWO_FILES.splitlines()
    assert drawn(TWO_FILES, most_lines=6) == [*lines[:7], "… 2 more places, +2 -2"]
    assert drawn(TWO_FILES, most_lines=2) == [*lines[:5], "… 2 more lines", "… 2 more places, +2 -2"]
    assert drawn(TWO_FILES, most_lines=100) == lines


def test_hidden_things_are_shown() -> None:
    patch = "@@ -1,2 +1,2 @@\n-a\n-\tb\n+a  \n+b\u202e\x1b[0m\t\r\n"
    assert drawn(patch)[1:] == ["-a", "-→   b", "+a··", "+b<U+202E><U+001B>[0m→   <U+000D>"]
    assert drawn(patch, theme=Theme(glyphs=ASCII_GLYPHS))[2:4] == ["->   b", "+a.."]


def test_a_change_of_blanks_only_is_seen_without_colours() -> None:
    patch = "@@ -1 +1 @@\n-same\n+same \t\n"
    assert render_ansi(render_diff(patch, PLAIN), PLAIN, width=40) == "@@ -1 +1 @@\n-same\n+same\x1b[7m·→  \x1b[0m\n"


def test_long_lines_go_on_with_a_mark() -> None:
    patch = "@@ -1 +1 @@\n-" + "漢" * 12 + "\n+" + "y" * 19 + "\n"
    assert drawn(patch, 20) == ["@@ -1 +1 @@", "-" + "漢" * 9, "…" + "漢" * 3, "+" + "y" * 19]


def test_colours() -> None:
    theme = Theme(colour_depth=ColourDepth.ANSI_16)
    assert render_ansi(render_diff("--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b\n", theme), theme, width=40) == (
        "\x1b[1m--- a\x1b[0m\n\x1b[1m+++ b\x1b[0m\n\x1b[36m@@ -1 +1 @@\x1b[0m\n\x1b[31m-a\x1b[0m\n\x1b[32m+b\x1b[0m\n"
    )
