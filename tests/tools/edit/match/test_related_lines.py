"""The lines that share most words with a text that is not there."""

from tejat.tools.edit.match.indexed_file import IndexedFile
from tejat.tools.edit.match.related_lines import distinctive_words, find_related_lines
from tejat.workspace.text.encoding import UTF_8
from tejat.workspace.text.text_edits import TextFile


def page_of(text: str) -> IndexedFile:
    return IndexedFile(TextFile(text.encode(), UTF_8))


def test_the_longest_words_first() -> None:
    assert distinctive_words("if (value) go(other_value, 日本)") == ["other_value", "value", "日本"]


def test_the_stretch_with_most_of_them() -> None:
    target = page_of("alpha\nnone\nnone\nalpha beta\nnone\ngamma\nnone\nalpha\n")
    assert find_related_lines("beta alpha\ngamma\ndelta", target) == (3, 6)
    assert find_related_lines("beta alpha gamma", target) == (3, 4)


def test_none_in_common() -> None:
    assert find_related_lines("delta ( )", page_of("alpha\n( )\n")) is None
    assert find_related_lines("", page_of("alpha\n")) is None


def test_a_sign_that_nobody_sees_tells_nothing() -> None:
    assert distinctive_words("al\u200bpha “b” （") == ["pha"]
    assert find_related_lines("\u200b beta \u200d", page_of("alpha\nbeta\n")) == (1, 2)


def test_a_word_that_stands_everywhere_tells_nothing() -> None:
    target = page_of("common\n" * 500 + "rare common\n" + "common\n" * 500)
    assert find_related_lines("common", target) is None
    assert find_related_lines("common rare", target) == (500, 501)
