"""The lines that share most words with a text that is not there."""

from tejat.tools.edit.nearest import lines_in_common, telling_words
from tejat.tools.edit.page import Page
from tejat.workspace.encoding import UTF_8
from tejat.workspace.splice import TextFile


def page_of(text: str) -> Page:
    return Page(TextFile(text.encode(), UTF_8))


def test_the_longest_words_first() -> None:
    assert telling_words("if (value) go(other_value, 日本)") == ["other_value", "value", "日本"]


def test_the_stretch_with_most_of_them() -> None:
    page = page_of("alpha\nnone\nnone\nalpha beta\nnone\ngamma\nnone\nalpha\n")
    assert lines_in_common("beta alpha\ngamma\ndelta", page) == (3, 6)
    assert lines_in_common("beta alpha gamma", page) == (3, 4)


def test_none_in_common() -> None:
    assert lines_in_common("delta ( )", page_of("alpha\n( )\n")) is None
    assert lines_in_common("", page_of("alpha\n")) is None


def test_a_sign_that_nobody_sees_tells_nothing() -> None:
    assert telling_words("al\u200bpha “b” （") == ["pha"]
    assert lines_in_common("\u200b beta \u200d", page_of("alpha\nbeta\n")) == (1, 2)


def test_a_word_that_stands_everywhere_tells_nothing() -> None:
    page = page_of("common\n" * 500 + "rare common\n" + "common\n" * 500)
    assert lines_in_common("common", page) is None
    assert lines_in_common("common rare", page) == (500, 501)
