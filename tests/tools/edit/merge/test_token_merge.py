"""A change carried over to a text with the same words and other line breaks."""

import pytest

from tejat.tools.edit.merge.token_merge import merge_tokens
from tejat.tools.edit.merge.tokens import TokenSequence


def merged(old: str, found: str, new: str, *, is_prose: bool = False) -> str | None:
    return merge_tokens(TokenSequence(old), TokenSequence(found), TokenSequence(new), 0, found, is_prose=is_prose)


@pytest.mark.parametrize(
    ("old", "found", "new", "after"),
    [
        pytest.param("f(a, b)", "f(\n    a,\n    b,\n)", "f(a, c)", "f(\n    a,\n    c,\n)", id="a word changed"),
        pytest.param(
            "f(a, b)", "f(\n    a,\n    b,\n)", "f(a, b, c)", "f(\n    a,\n    b,\n    c,\n)", id="a word added"
        ),
        pytest.param("f(a, b)", "f(\n    a,\n    b,\n)", "f(b)", "f(\n    b,\n)", id="a word removed"),
        pytest.param("f(\n    a,\n    b,\n)", "f(a, b)", "f(\n    a,\n    c,\n)", "f(a, c)", id="on one line"),
        pytest.param("f(a, b)", "f(\n    a, b\n)", "f(a,\n  b)", None, id="the layout itself changes"),
        pytest.param("f(a, b)", "f(\n    a,\n    b,\n)", "", None, id="nothing is left"),
    ],
)
def test_code(old: str, found: str, new: str, after: str | None) -> None:
    assert merged(old, found, new) == after


def test_prose_keeps_the_line_breaks_of_the_file() -> None:
    old = "one two three four\nfive six seven"
    found = "one two three\nfour five six seven"
    assert (
        merged(old, found, "one two three FOUR\nfive six seven", is_prose=True) == "one two three\nFOUR five six seven"
    )


def test_text_around_the_words_stays() -> None:
    found = "x = f(\n    a,\n)  # note"
    assert (
        merge_tokens(TokenSequence("f(a)"), TokenSequence(found), TokenSequence("f(b)"), 2, found, is_prose=False)
        == "x = f(\n    b,\n)  # note"
    )
