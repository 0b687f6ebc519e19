"""An answer as it comes: in any chunks, of any length, from anybody."""

import re
import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Group, RenderableType

from tejat.ui.terminal.render.cells import row_width
from tejat.ui.terminal.render.markdown.stream import MarkdownStream, render_markdown
from tejat.ui.terminal.render.rich_output import render_ansi, render_rows
from tejat.ui.terminal.render.theme import ASCII_GLYPHS, ColourDepth, Theme

ROOT = Path(__file__).parents[5]
PLAIN, DARK, POOR = Theme(), Theme(colour_depth=ColourDepth.ANSI_16), Theme(glyphs=ASCII_GLYPHS)
PARTS = [
    *(
        "word ",
        "two words ",
        "\n",
        "\n\n",
        "# ",
        "- ",
        "1. ",
        "> ",
        "    ",
        "```python\n",
        "```\n",
        "~~~\n",
        "---\n",
        "===\n",
    ),
    *("| a | b |\n", "|---|---|\n", "**", "*", "_", "`", "~~", "[", "](http://x/", ")", "![", "<div>\n", "&amp;", "\\"),
    *("漢字かな。", "👩\u200d👩\u200d👧", "مرحبا ", "שלום ", "क्षि", "x = 'y'\n", '"""\n', "\t", "  \n", "- [x] ", "|"),
    *("\x1b[31m", "\x1b]8;;http://evil\x1b\\", "\x1b", "\r", "\b", "\u202e", "\u200b", "\U000e0041", "\ud800", "\x9b"),
]
answers = st.lists(st.sampled_from(PARTS), max_size=40).map("".join)


def written(pieces: list[RenderableType], theme: Theme = DARK, width: int = 40) -> str:
    return "".join(render_ansi(piece, theme, width=width) for piece in pieces)


@given(answers, st.lists(st.integers(0, 200), max_size=6))
def test_chunks_make_no_difference(text: str, cuts: list[int]) -> None:
    stream = MarkdownStream(DARK)
    printed = ""
    edges = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    for start, end in pairwise(edges):
        printed += written(stream.feed(text[start:end]))
        stream.pending()
    printed += written(stream.finish())
    assert printed == render_ansi(render_markdown(text, DARK), DARK, width=40)


@given(answers, st.sampled_from([PLAIN, DARK, POOR]), st.sampled_from([40, 80]))
def test_nothing_is_too_wide_or_unsafe_or_lost(text: str, theme: Theme, width: int) -> None:
    drawn = render_markdown(text, theme)
    shown = "\n".join("".join(cell.text for cell in row) for row in render_rows(drawn, theme, width=width))
    assert all(row_width(row) <= width for row in render_rows(drawn, theme, width=width))
    bare = re.sub("\x1b\\[[0-9;]+m", "", render_ansi(drawn, theme, width=width))
    assert re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\u200b\ud800-\udfff\U000e0041]", bare) is None
    if "\x1b" in text or "\x9b" in text:
        return  # a sequence takes its last letter with it
    for word in ("word",) if theme is POOR else ("word", "漢", "مرحبا", "שלום", "क्षि", "👩\u200d👩\u200d👧"):
        assert "".join(bare.split()).count(word) >= text.count(word)
        assert "".join(shown.split()).count(word) >= text.count(word)


@given(answers)
def test_what_is_open_looks_as_it_would_if_the_answer_ended(text: str) -> None:
    stream = MarkdownStream(PLAIN)
    printed = stream.feed(text)
    still_open = stream.pending()
    expected = written(stream.finish(), PLAIN)
    held = any(character in text[-20:] for character in "\x1b\r\u200d\x9b")
    assert held or ("" if still_open is None else written([still_open], PLAIN)) == expected
    assert written(printed, PLAIN) + expected == render_ansi(render_markdown(text, PLAIN), PLAIN, width=40)


def test_signs_are_ascii_where_the_terminal_has_no_others() -> None:
    text = "# a\n- b\n  - [ ] c\n> d\n\n| a | b |\n|-|-|\n| 1 | 2 |\n\n---\n```py\nx\n```\n"
    for width in (20, 40, 80):
        shown = render_ansi(render_markdown(text * 3, POOR), POOR, width=width)
        assert shown.isascii()
        assert "?" not in shown


def test_an_answer_that_was_taken_back_leaves_nothing() -> None:
    stream = MarkdownStream(PLAIN)
    stream.feed("- half an")
    stream.reset()
    assert stream.pending() is None
    assert written([*stream.feed("whole\n\n"), *stream.finish()], PLAIN) == "whole\n"


def test_code_does_not_wait_for_its_end() -> None:
    stream = MarkdownStream(DARK)
    printed = stream.feed('```python\n"""\n' + "words\n" * 500)
    still_open = stream.pending()
    assert still_open is not None
    assert len(render_rows(still_open, DARK, width=80)) < 30
    lines = written(printed).split("\n")
    assert lines[2] == lines[90] == "\x1b[32mwords\x1b[0m"


def realistic_answer(size: int) -> str:
    """Our own documents, with code of ours between them."""
    documents, sources = (
        sorted(ROOT.glob(pattern)) for pattern in ("docs/design/decisions/*.md", "src/tejat/core/*.py")
    )
    parts: list[str] = []
    for document, source in zip(documents * 5, sources * 5, strict=False):
        code = "\n".join(source.read_text(encoding="utf-8").split("\n")[:40])
        parts.append(f"{document.read_text(encoding='utf-8')}\n\n```python\n{code}\n```\n\n")
    return "".join(parts)[:size]


def test_an_answer_of_a_hundred_kilobytes_is_cheap() -> None:
    text = realistic_answer(100_000)
    assert len(text) == 100_000
    stream = MarkdownStream(DARK)
    started = time.process_time()
    printed = "".join(written(stream.feed(text[at : at + 20]), DARK, 80) for at in range(0, len(text), 20))
    printed += written(stream.finish(), DARK, 80)
    assert time.process_time() - started < 1.5
    assert len(printed.encode()) < 1.6 * len(text.encode())


ENDLESS = {
    "paragraph": "some words of text ",
    "word": "x",
    "table": "| cell | **bold** |\n",
    "lines": "a\n",
    "code": "    x = 1\n",
    "stars": "*a ",
    "brackets": "[a](b",
    "quotes": ">",
    "items": "- ",
    "ticks": "`a ``b ",
    "wide": "漢字",
    "emoji": "👩\u200d",
    "escapes": "\x1b[",
    "bars": "|a",
}


@pytest.mark.parametrize("name", ENDLESS)
def test_what_has_no_end_takes_bounded_time_and_memory(name: str) -> None:
    piece = ENDLESS[name]
    text = ("| a | b |\n|---|---|\n" if name == "table" else "") + piece * (100_000 // len(piece))
    stream = MarkdownStream(DARK)
    started = time.process_time()
    slowest_view = 0.0
    for number, start in enumerate(range(0, len(text), 50)):
        written(stream.feed(text[start : start + 50]))
        if number % 400 == 0:
            begun = time.process_time()
            render_rows(stream.pending() or Group(), DARK, width=40)
            slowest_view = max(slowest_view, time.process_time() - begun)
    written(stream.finish())
    # A hundred times what it takes on an idle machine; what is not bounded takes minutes.
    assert time.process_time() - started < 30
    assert slowest_view < 10
