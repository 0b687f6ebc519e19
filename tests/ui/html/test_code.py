"""Code has colours by classes, and its text stays."""

import time

import pytest

from support.html_checks import HOSTILE_TEXTS, HtmlCheck, text_of
from tejat.ui.html.code import highlight_code, render_code


def test_tokens_have_classes() -> None:
    assert highlight_code("def f(): # x\n", "python") == (
        '<span class="hl-keyword">def</span> <span class="hl-name">f</span>(): <span class="hl-comment"># x</span>'
    )


def test_a_block_names_its_language_for_screen_readers() -> None:
    check = HtmlCheck(render_code("x = 1", "python") + render_code("x"))
    labels = [attributes["aria-label"] for attributes in check.all_with_class("code")]
    assert labels == ["Code: python", "Code"]
    assert check.problems == []


@pytest.mark.parametrize("language", ["python", "html", "sh", "no such", "' onclick='x"])
@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_hostile_code_stays_text(text: str, language: str) -> None:
    check = HtmlCheck(render_code(text, language))
    assert check.problems == []
    assert {tag for tag, _attributes in check.tags} <= {"pre", "code", "span"}


def test_huge_code_is_shown_without_colours_and_cut() -> None:
    started = time.perf_counter()
    shown = text_of(render_code("if x: pass\n" * 200_000, "python"))
    assert shown.endswith("[1,200,000 more characters]")
    assert "hl-keyword" not in render_code("if x: pass\n" * 200_000, "python")
    line = text_of(render_code("x" * 5_000_000, "python"))
    assert line.endswith("[996,000 more characters]\n[4,000,000 more characters]")
    assert time.perf_counter() - started < 10
