"""Emphasis becomes style, addresses stay visible, and everything else stays text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tejat.ui.terminal.render.markdown.inline_parser import parse_inline
from tejat.ui.terminal.render.text_wrap import NO_STYLE
from tejat.ui.terminal.render.theme import ColourDepth, StyleRole, Theme

DARK, PLAIN = Theme(colour_depth=ColourDepth.ANSI_16), Theme()


def shown(text: str, theme: Theme = DARK) -> str:
    """Runs with their styles written as letters."""
    parts: list[str] = []
    for part, style in parse_inline(text, theme, NO_STYLE):
        letters = [("b", style.bold), ("i", style.italic), ("s", style.strike), ("l", style.underline)]
        letters.append(
            ("c", style.color == theme.style(StyleRole.CODE).color and style.color is not None and not style.underline)
        )
        names = "".join(letter for letter, is_on in letters if is_on)
        parts.append(f"{names}<{part}>" if names else part)
    return "".join(parts)


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("plain", "plain"),
        ("", ""),
        ("**strong** *em* __strong__ _em_ ~~gone~~", "b<strong> i<em> b<strong> i<em> s<gone>"),
        ("***both*** **a *b* c**", "bi<both> b<a >bi<b>b< c>"),
        ("2*3*4 snake_case_name 2 * 3 * 4 **open", "2*3*4 snake_case_name 2 * 3 * 4 **open"),
        ("これは**重要**です。**「重要」**です", "これはb<重要>です。b<「重要」>です"),
        ("a `code *x*` `` two ` ticks `` `open", "a c<code *x*> c<two ` ticks> `open"),
        (r"\*not\* \[x\] \a", r"*not* [x] \a"),
        ("&lt;b&gt; &amp; &nosuch; &#27; &#x202e;", "<b> & &nosuch; &#27; <U+202E>"),
        ("[words](https://x.example/a_b_c 'title') after", "l<words> (https://x.example/a_b_c 'title') after"),
        ("[https://x.example](https://x.example)", "l<https://x.example>"),
        ("[https://bank.example](https://evil.example)", "l<https://bank.example> (https://evil.example)"),
        ("[](https://x)", "(https://x)"),
        ("[**bold** `code`](<a b>)", "bl<bold>l< >l<code> (a b)"),
        ("![alt](http://evil/?d=1) ![](data:image/png;base64,AA)", None),
        (
            "<https://x.example/?a=1&b=2>, https://y.example/a_b_c.",
            "l<https://x.example/?a=1&b=2>, l<https://y.example/a_b_c>.",
        ),
        ("[ref][id] [x] ](y) [a](unfinished", "[ref][id] [x] ](y) [a](unfinished"),
        ("<b>html</b> <script>x</script>", "<b>html</b> <script>x</script>"),
    ],
)
def test_runs(text: str, runs: str | None) -> None:
    expected = "[image: l<alt>] (http://evil/?d=1) [image] (data:image/png;base64,AA)" if runs is None else runs
    assert shown(text) == expected


def test_without_colours_code_and_strokes_keep_their_signs() -> None:
    assert shown("`code` ~~gone~~ **bold**", PLAIN) == "`code` ~~s<gone>~~ b<bold>"


@given(st.text("ab *_~`[]()<>\\&;\"'.:/h\n", max_size=80))
def test_no_letter_is_lost(text: str) -> None:
    written = "".join(part for part, _ in parse_inline(text, DARK, NO_STYLE))
    assert [letter for letter in written if letter in "ab"] == [letter for letter in text if letter in "ab"]
