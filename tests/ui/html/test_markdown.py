"""Markdown is rendered without raw HTML, unsafe links and pictures, in bounded time."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.html_checks import HOSTILE_TEXTS, HtmlCheck, text_of
from tejat.ui.html.markdown import MAX_MARKDOWN_CHARS, render_markdown, top_level_starts


def test_paragraphs_lists_and_emphasis() -> None:
    assert render_markdown("a **b** *c* ~~d~~ `e`\n\n1. f\n2. g") == (
        "<p>a <strong>b</strong> <em>c</em> <s>d</s> <code>e</code></p>\n<ol>\n<li>f</li>\n<li>g</li>\n</ol>\n"
    )


def test_headings_are_on_one_level_below_those_of_prompts() -> None:
    assert render_markdown("# a\n###### b") == '<h3 class="md-h1">a</h3>\n<h3 class="md-h6">b</h3>\n'


def test_code_has_colours() -> None:
    shown = render_markdown("```python\nreturn 1\n```\n\n    plain")
    assert '<span class="hl-keyword">return</span>' in shown
    assert text_of(shown).split() == ["return", "1", "plain"]


def test_tables_scroll_in_their_own_box_and_have_no_inline_style() -> None:
    shown = render_markdown("| a | b |\n|:-:|--:|\n| 1 | 2 |")
    check = HtmlCheck(shown)
    assert check.problems == []
    assert check.all_with_class("table-box") == [
        {"class": "table-box", "tabindex": "0", "role": "group", "aria-label": "Table"}
    ]
    assert '<th scope="col" class="align-center">a</th>' in shown
    assert '<td class="align-right">2</td>' in shown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "[a](https://x.example/?b=1&c)",
            (
                '<a href="https://x.example/?b=1&amp;c" rel="noopener noreferrer">a</a>'
                ' <span class="target">(https://x.example/?b=1&amp;c)</span>'
            ),
        ),
        (
            "<https://x.example>",
            '<a href="https://x.example" rel="noopener noreferrer">https://x.example</a>',
        ),
        (
            "see https://x.example/a_b.",
            'see <a href="https://x.example/a_b" rel="noopener noreferrer">https://x.example/a_b</a>.',
        ),
        ("<a@b.example>", '<a href="mailto:a@b.example" rel="noopener noreferrer">a@b.example</a>'),
        (
            "[a](javascript:alert(1))",
            '<span class="no-link">a</span> <span class="target">(javascript:alert(1))</span>',
        ),
        ("[a](src/b.py)", '<span class="no-link">a</span> <span class="target">(src/b.py)</span>'),
        (
            "![a](https://x.example/p.png)",
            (
                '<a href="https://x.example/p.png" rel="noopener noreferrer">a</a>'
                ' <span class="target">(https://x.example/p.png)</span>'
            ),
        ),
        (
            "![](data:image/png;base64,AA)",
            '<span class="no-link">picture</span> <span class="target">(data:image/png;base64,AA)</span>',
        ),
        ("`https://x.example`", "<code>https://x.example</code>"),
    ],
)
def test_links_show_where_they_lead(text: str, expected: str) -> None:
    assert render_markdown(text) == f"<p>{expected}</p>\n"


def test_a_link_that_claims_another_target_is_unmasked() -> None:
    shown = render_markdown("[https://good.example](https://evil.example)")
    assert text_of(shown) == "https://good.example (https://evil.example)\n"


@pytest.mark.parametrize("text", [*HOSTILE_TEXTS, "\n\n".join(HOSTILE_TEXTS)])
def test_hostile_text_does_nothing(text: str) -> None:
    check = HtmlCheck(render_markdown(text))
    assert check.problems == []
    assert not any(ord(each) < 32 and each != "\n" for each in check.text)
    assert not set(check.text) & set("\x7f\x9b\u202e\u2066\u200b\ufeff\u2028\U000e0041")


@given(st.text(st.sampled_from("ab <>&\"'`*_[]()!|-#\n\\:/~\u202e\x1b"), max_size=80))
def test_any_text_is_well_formed(text: str) -> None:
    assert HtmlCheck(render_markdown(text)).problems == []


@pytest.mark.parametrize(
    "text",
    [
        "x" * 5_000_000,
        "[" * 300_000,
        "![" * 200_000,
        "[a](b" * 100_000,
        "*a_" * 100_000,
        "`" * 300_000,
        "> " * 100_000 + "x",
        "- " * 50_000 + "x",
        "|" * 100_000 + "\n" + "|-" * 50_000,
        ("[" * 3000 + "\n") * 100,
        "https://" * 100_000,
    ],
)
def test_huge_and_malicious_text_is_bounded(text: str) -> None:
    started = time.perf_counter()
    shown = render_markdown(text)
    assert time.perf_counter() - started < 20
    assert len(shown) < 8_000_000
    assert HtmlCheck(shown).problems == []


def test_what_is_too_long_for_markdown_is_shown_as_it_is() -> None:
    line = "**word** and another one\n"
    shown = text_of(render_markdown(line * (MAX_MARKDOWN_CHARS // len(line) + 10)))
    assert shown.count("another one") == MAX_MARKDOWN_CHARS // len(line) + 10
    assert shown.rstrip().endswith("**word** and another one")


def test_where_blocks_begin() -> None:
    assert top_level_starts("a\nb\n\n- c\n\n  d\n- e\n\n```\n\nx\n```\n# f\n") == [0, 3, 8, 12]
