"""Diffs are tables with the rows of the terminal."""

import re
import time

import pytest

from support.html_checks import HOSTILE_TEXTS, HtmlCheck, text_of
from tejat.ui.html.diff import MAX_DIFF_ROWS, render_diff

PATCH = """--- a.py
+++ a.py
@@ -10,4 +10,4 @@ def total():
 def f(price):
-    return price * percent
-    # old\t
+    return price - percent
 end
"""


def table(markup: str, name: str) -> str:
    found = re.search(rf'<table class="{name}">.*?</table>', markup, re.DOTALL)
    assert found is not None
    return found[0]


def cells(markup: str) -> list[list[str]]:
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", markup.partition("<tbody>")[2], re.DOTALL)
    return [[text_of(cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL)] for row in rows]


def test_the_unified_table_has_one_number_a_sign_and_the_text() -> None:
    assert cells(table(render_diff(PATCH), "unified")) == [
        ["a.py +1 -2"],
        ["10", "", "def f(price):"],
        ["11", "-", "    return price * percent"],
        ["12", "-", "    # old\t"],
        ["11", "+", "    return price - percent"],
        ["12", "", "end"],
    ]


def test_side_by_side_pairs_removed_and_added_lines() -> None:
    assert cells(table(render_diff(PATCH, with_files=False), "split")) == [
        ["10", "", "def f(price):", "10", "", "def f(price):"],
        ["11", "-", "    return price * percent", "11", "+", "    return price - percent"],
        ["12", "-", "    # old\t", "", "", ""],
        ["13", "", "end", "12", "", "end"],
    ]


def test_without_split_there_is_one_table() -> None:
    assert render_diff(PATCH, with_split=False).count("<table") == 1


def test_changed_words_and_trailing_blanks_are_marked_and_code_has_colours() -> None:
    shown = table(render_diff(PATCH), "unified")
    assert "<mark>*</mark>" in shown
    assert "<mark>-</mark>" in shown
    assert '<mark class="blank">\t</mark>' in shown
    assert '<span class="hl-keyword">return</span>' in shown


def test_screen_readers_get_a_caption_headings_and_the_kind_of_change() -> None:
    check = HtmlCheck(render_diff(PATCH))
    assert check.problems == []
    assert check.tags[0][1]["aria-label"] == "Changes: 1 added, 2 removed"
    labels = [
        attributes["aria-label"]
        for _tag, attributes in check.tags
        if "sign" in attributes.get("class", "") and "aria-label" in attributes
    ]
    assert labels[:3] == ["removed", "removed", "added"]
    assert sum(tag == "caption" for tag, _attributes in check.tags) == 2
    assert all(attributes == {"scope": "col"} for tag, attributes in check.tags if tag == "th")


def test_gaps_say_what_they_hide() -> None:
    context = "".join(f" line {number}\n" for number in range(20))
    shown = text_of(render_diff(f"@@ -1,22 +1,22 @@\n-a\n+b\n{context}-c\n+d\n", with_split=False))
    assert "… 14 unchanged lines" in shown


def test_huge_diffs_are_cut_in_the_middle_with_a_note() -> None:
    lines = "".join(f"+value_{number} = {number}\n" for number in range(50_000))
    started = time.perf_counter()
    shown = render_diff(f"--- a.py\n+++ a.py\n@@ -0,0 +1,50000 @@\n{lines}", with_split=False)
    assert time.perf_counter() - started < 20
    check = HtmlCheck(shown)
    assert check.problems == []
    assert sum(tag == "tr" for tag, _attributes in check.tags) <= MAX_DIFF_ROWS + 1
    assert "more lines (+" in check.text
    assert "value_49999" in check.text


def test_a_huge_line_is_clipped_with_a_note() -> None:
    shown = text_of(render_diff(f"@@ -0,0 +1 @@\n+{'x' * 5_000_000}\n", with_split=False))
    assert "more characters" in shown
    assert len(shown) < 10_000


@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_hostile_files_stay_text(text: str) -> None:
    lines = text.replace("\n", " ")
    patch = f"--- {lines}\n+++ {lines}\n@@ -1 +1 @@ {lines}\n-{lines}\n+x{lines}\n\\ No newline\n{lines}\n"
    check = HtmlCheck(render_diff(patch, file_name="a.html"))
    assert check.problems == []
    assert {tag for tag, _attributes in check.tags} <= {
        *("div", "table", "colgroup", "col", "caption", "thead", "tbody", "tr", "th", "td", "mark", "span", "strong"),
    }


def test_nothing_changed() -> None:
    assert render_diff("") == ""
