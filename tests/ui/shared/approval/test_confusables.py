"""Words of two alphabets."""

from tejat.ui.shared.approval.confusables import bidi_warning, confusable_warnings


def test_a_word_is_told_once_with_its_letters() -> None:
    assert confusable_warnings(["p\u0430y", "p\u0430y x"]) == ["Mixed alphabets: p\u0430y = p<U+0430>y"]


def test_a_word_that_passes_for_another_is_told_though_it_mixes_nothing() -> None:
    assert confusable_warnings(["\u0440\u0430\u0443"]) == [
        "Lookalike letters: \u0440\u0430\u0443 = <U+0440><U+0430><U+0443>"
    ]


def test_letters_from_right_to_left_are_told() -> None:
    assert bidi_warning("echo \u05d0\u05d1; rm x") is not None
    assert bidi_warning("echo \u65e5\u672c; rm x") is None
    assert bidi_warning("rm x") is None


def test_words_of_one_alphabet_are_nobodys_business() -> None:
    assert confusable_warnings(["pay", "Привет", "日本", "naïve"]) == []


def test_of_many_some_are_told_and_the_rest_is_counted() -> None:
    words = [f"\u0430{letter}" for letter in "abcdef"]
    assert len(confusable_warnings(words)) == 6
    assert confusable_warnings(words)[-1] == "1 more word like this"
