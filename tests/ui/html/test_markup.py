"""Text becomes markup that shows exactly this text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.html_checks import HOSTILE_TEXTS, HtmlCheck, text_of
from tejat.ui.html.markup import cut_text, disclosure, element, escape_text, hidden_label, scroll_box
from tejat.ui.shared.text.sanitizer import make_terminal_safe


@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_hostile_text_stays_text(text: str) -> None:
    check = HtmlCheck(element("p", escape_text(text), title=text, class_="x"))
    assert check.problems == []
    assert [tag for tag, _attributes in check.tags] == ["p"]


@given(st.text(max_size=60))
def test_a_browser_shows_the_sanitized_text(text: str) -> None:
    assert text_of(f"<p>{escape_text(text)}</p>") == make_terminal_safe(text)


def test_hidden_characters_become_visible_and_emoji_stay() -> None:
    assert escape_text("a\u202eb\x1b[31mc\x00") == "a&lt;U+202E&gt;bc&lt;U+0000&gt;"
    assert escape_text("❤️ ⚠️ 👩‍💻") == "❤️ ⚠️ 👩‍💻"


def test_attributes_without_a_value_are_left_out() -> None:
    assert (
        element("div", "x", class_="a", id="", aria_label='"b"') == '<div class="a" aria-label="&quot;b&quot;">x</div>'
    )


def test_boxes_that_scroll_can_be_reached_by_keyboard() -> None:
    assert scroll_box("pre", "x", class_="c", label="Output") == (
        '<pre class="c" tabindex="0" role="group" aria-label="Output">x</pre>'
    )


def test_disclosures_and_hidden_labels() -> None:
    assert disclosure("More", "<p>x</p>") == '<details class="more"><summary>More</summary><p>x</p></details>'
    assert text_of(hidden_label("<added>")) == "<added>"


def test_long_text_and_long_lines_are_cut_with_a_note() -> None:
    assert cut_text("x" * 5_000_000, max_chars=10_000_000, max_line=10) == f"{'x' * 10} [4,999,990 more characters]"
    assert cut_text("ab\ncd", max_chars=4) == "ab\nc\n[1 more character]"
    assert cut_text("ab\ncd", max_chars=5) == "ab\ncd"
    assert cut_text("a\n" + "b" * 11 + "\nc", max_chars=100, max_line=10) == f"a\n{'b' * 10} [1 more character]\nc"
