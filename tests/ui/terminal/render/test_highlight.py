"""Code has colours and is otherwise the code, to the letter."""

import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tejat.ui.shared.text import languages
from tejat.ui.terminal.render.highlight import highlight_lines, highlight_source
from tejat.ui.terminal.render.rich_output import render_ansi
from tejat.ui.terminal.render.text_wrap import WrappedLines
from tejat.ui.terminal.render.theme import ColourDepth, Theme

DARK, PLAIN = Theme(colour_depth=ColourDepth.ANSI_16), Theme()
LANGUAGES = [*sorted(languages._LANGUAGES), *languages._LANGUAGE_ALIASES]


def text_of(lines: Sequence[Any]) -> list[str]:
    return ["".join(part for part, _ in line) for line in lines]


def test_words_of_the_language_have_colours() -> None:
    shown = render_ansi(
        WrappedLines(lambda _: highlight_lines(['def f(): return "x"  # y', "", "1"], "python", DARK)), DARK, width=80
    )
    assert (
        shown
        == '\x1b[35mdef \x1b[0;94mf\x1b[0m(): \x1b[35mreturn \x1b[0;32m"x"  \x1b[0;2m# y\x1b[0m\n\n\x1b[33m1\x1b[0m\n'
    )


def test_without_colours_or_a_known_language_code_is_left_alone() -> None:
    for language, look in (("python", PLAIN), ("", DARK), ("no such language", DARK), ("text", DARK)):
        assert highlight_lines(["if True:"], language, look)[0][0][0] == "if True:"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_named_here_is_known_and_keeps_the_text(language: str) -> None:
    lines = ["", "\ufeff a = 'b'; /* c", "<d e='f'>\u00a0 ", "  $g `h", "", ""]
    assert text_of(highlight_lines(lines, language, DARK)) == lines


@given(
    st.lists(st.text(st.characters(exclude_categories=["C"])), max_size=6),
    st.sampled_from(["python", "html", "sh", "md"]),
)
def test_the_text_is_that_of_the_code(lines: list[str], language: str) -> None:
    assert text_of(highlight_lines(lines, language, DARK)) == lines


def test_lines_above_tell_how_lines_are_meant() -> None:
    inside = highlight_lines(["still words", '"""'], "python", DARK, before=['"""begins'])
    assert inside[0] == [("still words", highlight_lines(['"x"'], "python", DARK)[0][0][1])]


def test_code_of_any_length_keeps_its_lines() -> None:
    text = "".join(f'x{number} = "{number}"\n' for number in range(1000)) + "y" * 50_000
    assert "\n".join(text_of(list(highlight_source(text, "python", DARK)))) == text


def test_pygments_is_loaded_when_a_language_is_shown() -> None:
    script = """
import sys
import tejat.ui.terminal.render.markdown.stream, tejat.ui.terminal.views.report
assert not [name for name in sys.modules if name.partition(".")[0] in ("pygments", "markdown_it")]
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)
