"""Markdown for notebooks: raw HTML is text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tejat.notebook.markdown import code_block, escape_html, escape_text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a <b>c</b>", "a &lt;b>c&lt;/b>"),
        ("```\n<b>\n```\n<b>", "```\n<b>\n```\n&lt;b>"),
        ("    <b>\n\n<b>", "    <b>\n\n&lt;b>"),
        ("- x\n\n  ```\n  <b>\n  ```\n", "- x\n\n  ```\n  <b>\n  ```\n"),
        ("\\`<b>`", "\\`&lt;b>`"),
    ],
)
def test_html_is_escaped_outside_of_code(text: str, expected: str) -> None:
    assert escape_html(text) == expected


@given(
    st.lists(st.sampled_from(["<img>", "`", "```", "\n", "\\", "> ", "- ", "    ", "x", "~~~", "\t", "1. "])).map(
        "".join
    )
)
def test_no_parser_finds_html(text: str) -> None:
    tokens = MarkdownIt("commonmark").parse(escape_html(text))
    inner = [child.type for token in tokens for child in token.children or ()]
    assert not {"html_block", "html_inline"} & {token.type for token in tokens} | set(inner) & {"html_inline"}


@given(st.text())
def test_a_text_cannot_end_its_block_of_code(text: str) -> None:
    tokens = MarkdownIt("commonmark").parse(code_block(text))
    assert [token.type for token in tokens] == ["fence"]


def test_a_long_text_is_cut() -> None:
    assert len(code_block("x" * 200_000)) < 101_000


@given(st.text())
def test_a_line_has_no_markup(text: str) -> None:
    (paragraph,) = [token for token in MarkdownIt("commonmark").parse(f"x {escape_text(text)}") if token.children]
    assert {child.type for child in paragraph.children or ()} <= {"text", "text_special"}
