"""A text as words and signs with the white space between them."""

import pytest

from tejat.tools.edit.merge.tokens import TokenSequence, find_comment_prefix


def test_words_and_what_stands_before_each() -> None:
    tokens = TokenSequence("a = f(b,\n      c)\n")
    assert tokens.words == ["a", "=", "f", "(", "b", ",", "c", ")"]
    assert tokens.spaces == ["", " ", " ", "", "", "", "\n      ", ""]
    assert (len(tokens), tokens.tail) == (8, "\n")


def test_places_of_words() -> None:
    text = "one  two"
    tokens = TokenSequence(text)
    assert [text[start:end] for start, end in zip(tokens.starts, tokens.ends, strict=True)] == ["one", "two"]


def test_a_trailing_comma_belongs_to_the_line_break() -> None:
    tokens = TokenSequence("f(\n    a,\n    b,\n)")
    assert tokens.words == ["f", "(", "a", ",", "b", ")"]
    assert tokens.spaces[-1] == ",\n"


def test_the_prefix_of_a_comment_belongs_to_the_line_break() -> None:
    tokens = TokenSequence("# one\n# two", "#")
    assert tokens.words == ["one", "two"]
    assert [tokens.line_breaks(at) for at in (0, 1)] == [0, 1]


def test_depths_of_brackets() -> None:
    assert TokenSequence("f(a[0], b)) x").depths == [0, 0, 1, 1, 2, 2, 1, 1, 1, 0, 0]


@pytest.mark.parametrize(
    ("lines", "prefix"),
    [(["# a", "", "  # b"], "#"), (["// a"], "//"), (["> a", "> b"], ">"), (["# a", "b"], ""), (["#a"], ""), ([], "")],
)
def test_the_prefix_that_all_lines_have(lines: list[str], prefix: str) -> None:
    assert find_comment_prefix(lines) == prefix
