"""Diffs are drawn with numbers, signs and colours, and show everything that changes."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.color import Color

from support.diff_samples import TWO_FILES
from tejat.ui.shared.diff.rows import DiffRow, DiffRowKind, build_diff_rows, count_changes
from tejat.ui.terminal.render.diff import fit_diff_rows, render_diff_rows, snap_to_graphemes
from tejat.ui.terminal.render.palettes.colours import MIN_CONTRAST, contrast
from tejat.ui.terminal.render.rich_output import color_system, render_ansi, render_rows
from tejat.ui.terminal.render.text_wrap import WrappedLines
from tejat.ui.terminal.render.theme import ASCII_GLYPHS, ColourDepth, Theme

PLAIN = Theme()
PRICE = """\
@@ -4,3 +4,4 @@
 def discount(price, percent):
-    return price - price * percent
+    \"\"\"The price after a discount.\"\"\"
+    return price - price * percent / 100
 # end
"""


def drawn(diff: str, width: int = 80, theme: Theme = PLAIN) -> list[str]:
    rows = render_rows(render_diff_rows(build_diff_rows(diff), theme), theme, width=width)
    return ["".join(cell.text for cell in row).rstrip() for row in rows]


def colours(diff: str, depth: ColourDepth, *, is_dark: bool = True, width: int = 60) -> str:
    theme = Theme(colour_depth=depth, is_dark=is_dark)
    return render_ansi(render_diff_rows(build_diff_rows(diff), theme, file_name="a.py"), theme, width=width)


def test_files_numbers_signs_and_gaps() -> None:
    assert drawn(TWO_FILES) == [
        "one +3 -2",
        " 1   context",
        " 2 - old",
        " 2 + new",
        " 3   end",
        " … 6 unchanged lines",
        "10 - -- a comment",
        "10 + ++ plus",
        "11 + more",
        "     No newline at end of file",
        "two +0 -1",
        " 1 - gone",
    ]


def test_the_gutter_shrinks_in_a_narrow_terminal_and_long_lines_wrap_under_it() -> None:
    diff = "@@ -1 +1 @@\n-" + "漢" * 12 + "\n+" + "y" * 19 + "\n"
    assert drawn(diff, 20) == ["1 -" + "漢" * 8, "  …" + "漢" * 4, "1 +" + "y" * 17, "  …yy"]
    assert drawn(diff, 60)[0] == "1 - " + "漢" * 12


def test_numbers_can_be_switched_off() -> None:
    theme = Theme(shows_line_numbers=False)
    assert drawn(PRICE, theme=theme)[:2] == ["  def discount(price, percent):", "-     return price - price * percent"]


def test_hidden_things_are_shown() -> None:
    diff = "@@ -1,2 +1,2 @@\n-a\n-\tb\n+a  \n+b\u202e\x1b[0m\t\r\n"
    assert drawn(diff) == ["1 - a", "2 - →   b", "1 + a··", "2 + b<U+202E><U+001B>[0m→   <U+000D>"]
    assert drawn(diff, theme=Theme(glyphs=ASCII_GLYPHS))[1:3] == ["2 - >   b", "1 + a.."]


def test_without_colours_words_are_underlined_and_trailing_blanks_reversed() -> None:
    assert colours("@@ -1 +1 @@\n-same = 1\n+same = 2 \n", ColourDepth.NONE) == (
        "\x1b[2m1 \x1b[0m- same = \x1b[1;4m1\x1b[0m\n\x1b[2m1 \x1b[0m+ same = \x1b[1;4m2\x1b[0;1;4;7m·\x1b[0m\n"
    )


def test_basic_colours_have_no_backgrounds_but_reversed_words() -> None:
    assert colours("@@ -1 +1 @@\n-same = 1\n+same = 2\n", ColourDepth.ANSI_16) == (
        "\x1b[2m1 \x1b[0;31m- same = \x1b[0;7;31m1\x1b[0m\n\x1b[2m1 \x1b[0;32m+ same = \x1b[0;7;32m2\x1b[0m\n"
    )


@pytest.mark.parametrize("depth", [ColourDepth.ANSI_256, ColourDepth.TRUE_COLOUR])
@pytest.mark.parametrize("is_dark", [True, False])
def test_the_background_fills_the_line(depth: ColourDepth, *, is_dark: bool) -> None:
    theme = Theme(colour_depth=depth, is_dark=is_dark)
    rows = render_rows(render_diff_rows(build_diff_rows(PRICE), theme, file_name="a.py"), theme, width=60)
    for row, is_change in zip(rows, [False, True, True, True, False], strict=True):
        assert ["bg:" in cell.style for cell in row] == [is_change] * len(row)
        assert not is_change or len(row) == 60
    backgrounds = {word for cell in rows[3] for word in cell.style.split() if word.startswith("bg:")}
    assert len(backgrounds) == 2  # of the line and of the changed words


def test_backgrounds_can_be_switched_off() -> None:
    theme = Theme(colour_depth=ColourDepth.TRUE_COLOUR, uses_backgrounds=False)
    shown = render_ansi(render_diff_rows(build_diff_rows(PRICE), theme, file_name="a.py"), theme, width=60)
    assert ";48;" not in shown
    assert "\x1b[1;4;38;2;135;215;135m/ 100" in shown or "1;4;38;2;135;215;135m/ 100" in shown


def test_syntax_colours_come_from_the_name_of_the_file() -> None:
    theme = Theme(colour_depth=ColourDepth.TRUE_COLOUR)
    named = f"--- a.py\n+++ a.py\n{PRICE}--- b.unknown\n+++ b.unknown\n{PRICE}"
    rows = render_rows(render_diff_rows(build_diff_rows(named), theme), theme, width=60)
    in_python, in_nothing = (next(cell for cell in row if cell.text == "d") for row in (rows[1], rows[7]))
    assert (in_python.style, in_nothing.style) == ("#d7afff", "")


def test_a_string_over_several_lines_is_coloured_as_one() -> None:
    diff = '@@ -1,3 +1,3 @@\n x = """\n-class old\n+class new\n """\n'
    theme = Theme(colour_depth=ColourDepth.TRUE_COLOUR)
    rows = render_rows(render_diff_rows(build_diff_rows(diff), theme, file_name="a.py"), theme, width=40)
    assert all("#afd787" in row[4].style for row in rows[1:3])


@pytest.mark.parametrize("depth", [ColourDepth.ANSI_256, ColourDepth.TRUE_COLOUR])
@pytest.mark.parametrize("is_dark", [True, False])
def test_every_text_is_readable_on_its_background(depth: ColourDepth, *, is_dark: bool) -> None:
    code = 'x: int = len("text") + 17  # comment\n@decorate\nclass Name(ValueError): return None and f(a)\n'
    lines = code.split("\n")[:-1]
    diff = "@@ -1,3 +1,3 @@\n" + "".join(f"-{line}\n" for line in lines) + "".join(f"+{line} + y \n" for line in lines)
    theme = Theme(colour_depth=depth, is_dark=is_dark)
    renderable = render_diff_rows(build_diff_rows(diff), theme, file_name="a.py")
    assert isinstance(renderable, WrappedLines)
    system = color_system(depth)
    pairs = {
        (style.color, style.bgcolor)
        for line in renderable._layout(50)
        for text, style in line
        if text.strip()  # pyright: ignore[reportPrivateUsage]
    }
    assert len(pairs) > 10
    for foreground, background in pairs:
        assert isinstance(foreground, Color)
        assert isinstance(background, Color)
        seen = contrast(*(each.downgrade(system).get_truecolor() for each in (foreground, background)))
        assert seen >= MIN_CONTRAST


def test_marks_do_not_cut_graphemes() -> None:
    text = "e\u0301a👍🏽"
    assert snap_to_graphemes(text, ((1, 2), (3, 4))) == ((0, 2), (3, 5))
    assert snap_to_graphemes("abc", ((1, 2),)) == ((1, 2),)


def test_fitted_rows_count_wrapped_lines() -> None:
    diff = "@@ -0,0 +1,9 @@\n" + "".join(f"+{number}{'x' * 30}\n" for number in range(9))
    rows = fit_diff_rows(build_diff_rows(diff), PLAIN, width=24, max_rows=9)
    assert [row.kind for row in rows].count(DiffRowKind.GAP) == 1
    assert len(render_rows(render_diff_rows(rows, PLAIN), PLAIN, width=24)) <= 9
    assert count_changes(rows) == (9, 0)


def test_one_endless_line_does_not_fill_the_screen() -> None:
    rows = fit_diff_rows((DiffRow(DiffRowKind.ADDED, "x" * 10_000, None, 1),), PLAIN, width=40, max_rows=12)
    shown = ["".join(cell.text for cell in row) for row in render_rows(render_diff_rows(rows, PLAIN), PLAIN, width=40)]
    assert len(shown) == 5
    assert shown[-1] == "  … … 9,852 more characters"


TEXTS = st.text(st.sampled_from("ab \t漢é\u0301👍\u202e\x1b\r"), max_size=60)


@given(st.lists(TEXTS, min_size=1, max_size=8), st.integers(8, 70), st.integers(1, 12))
def test_rows_fit_their_room(lines: list[str], width: int, room: int) -> None:
    diff = f"@@ -1 +1,{len(lines)} @@\n-a\n" + "".join(f"+{line}\n" for line in lines)
    theme = Theme(colour_depth=ColourDepth.TRUE_COLOUR)
    rows = fit_diff_rows(build_diff_rows(diff), theme, width=width, max_rows=room)
    shown = render_rows(render_diff_rows(rows, theme, file_name="a.py"), theme, width=width)
    assert len(shown) <= room
    assert all(sum(cell.width for cell in row) <= width for row in shown)
    assert all(cell.text.isprintable() for row in shown for cell in row)


def test_a_huge_diff_stays_cheap() -> None:
    lines = [f"    value_{number} = compute('{number}', other={number})" for number in range(20_000)]
    diff = f"@@ -1,{len(lines)} +1,{len(lines)} @@\n" + "".join(f"-{line}\n+{line} + 1\n" for line in lines)
    theme = Theme(colour_depth=ColourDepth.TRUE_COLOUR)
    start = time.process_time()
    rows = build_diff_rows(diff)
    fitted = fit_diff_rows(rows, theme, width=80, max_rows=30)
    render_ansi(render_diff_rows(fitted, theme, file_name="a.py"), theme, width=80)
    assert time.process_time() - start < 8
    assert len(fitted) == 30
