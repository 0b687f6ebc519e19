"""Syntax colours of diffs."""

import time

from tejat.ui.shared.diff.rows import build_diff_rows
from tejat.ui.terminal.render.diff_syntax import highlight_diff
from tejat.ui.terminal.render.theme import ColourDepth, StyleRole, Theme

COLOURED = Theme(colour_depth=ColourDepth.TRUE_COLOUR)


def coloured_parts(diff: str, file_name: str, theme: Theme = COLOURED) -> list[list[str]]:
    return [[text for text, style in line if style] for line in highlight_diff(build_diff_rows(diff), file_name, theme)]


def test_both_sides_are_read_as_they_are() -> None:
    diff = '@@ -1,3 +1,3 @@\n-x = """\n+x = 1\n def f():\n """\n'
    rows = build_diff_rows(diff)
    lines = highlight_diff(rows, "a.py", COLOURED)
    keyword, string = COLOURED.style(StyleRole.KEYWORD), COLOURED.style(StyleRole.STRING)
    assert ('"""', string) in lines[0]
    assert ("def", keyword) in lines[2]  # code in the new text, a string in the old one


def test_each_file_has_its_language() -> None:
    hunk = "@@ -0,0 +1 @@\n+return null # x\n"
    diff = f"--- a.py\n+++ a.py\n{hunk}--- b.js\n+++ b.js\n{hunk}--- c\n+++ c\n{hunk}"
    assert coloured_parts(diff, "") == [[], ["return", "# x"], [], ["return", "null"], [], []]


def test_without_many_colours_there_are_none_for_code() -> None:
    diff = "@@ -0,0 +1 @@\n+return 1\n"
    for depth in (ColourDepth.NONE, ColourDepth.ANSI_16):
        assert coloured_parts(diff, "a.py", Theme(colour_depth=depth)) == [[]]


def test_long_diffs_and_lines_are_left_plain() -> None:
    lines = [f"value_{number} = compute({number})" for number in range(20_000)]
    diff = f"@@ -0,0 +1,{len(lines) + 1} @@\n+x = '{'y' * 5000}'\n" + "".join(f"+{line}\n" for line in lines)
    rows = build_diff_rows(diff)
    begun = time.process_time()
    highlighted = highlight_diff(rows, "a.py", COLOURED)
    assert time.process_time() - begun < 5
    assert ["".join(text for text, _ in line) for line in highlighted] == [row.text for row in rows]
