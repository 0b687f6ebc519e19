"""How words are compared, and that the look at bytes never misses one."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tejat.app.inspection.history.search_words import SPELLINGS, SearchWord, fold, parse_words
from tejat.core.errors import UsageError
from tejat.engine.sessions.journal_format import encode_record


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one  two", ["one", "two"]),
        ('"exact  phrase" word', ["exact phrase", "word"]),
        ('open "phrase', ["open", "phrase"]),
        ("Twice twice TWICE", ["Twice"]),
        ("it's C++ a/b.py", ["it's", "C++", "a/b.py"]),
    ],
)
def test_words_and_phrases(text: str, expected: list[str]) -> None:
    assert [word.text for word in parse_words(text)] == expected


@pytest.mark.parametrize("text", ["", "  ", '""', '" "'])
def test_nothing_to_search_for_is_an_error(text: str) -> None:
    with pytest.raises(UsageError, match="one or more words"):
        parse_words(text)


def test_the_table_has_every_character_that_is_compared_as_ascii() -> None:
    beyond = (chr(code) for code in range(0x80, 0x110000) if not 0xD800 <= code < 0xE000)
    assert {each for each in beyond if any(letter.isascii() for letter in fold(each))} == set(SPELLINGS)


def may_occur(word: str, text: str) -> bool:
    line = encode_record({"kind": "prompt", "text": text})
    return SearchWord(word).may_occur(line, line.lower())


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("strasse", "Die Straße"),
        ("STRASSE", "Die Straße"),
        ("file", "a ﬁle"),
        ("kelvin", "\u212aelvin"),
        ("café", "CAFE\u0301"),
        ("cafe\u0301", "CAFÉ"),
        ("привет", "ПРИВЕТ"),
        ("日本", "日本語"),
        ("豈", "\uf900"),
        ('say "hi"', 'they say "hi" there'),
        ("a\\b", "C:\\a\\b"),
        ("straße", "STRASSE \udc80"),
        ("日本", "日本 \udc80"),
        ("\\", "a\\b"),
        ("が", "か\u3099"),
    ],
)
def test_other_spellings_are_not_missed(word: str, text: str) -> None:
    assert fold(word) in fold(text)
    assert may_occur(word, text)


@pytest.mark.parametrize(("word", "text"), [("zebra", "horse ßﬁ"), ("日本誤", "日本語"), ("привет", "hello é")])
def test_other_texts_are_passed_over(word: str, text: str) -> None:
    assert not may_occur(word, text)


LETTERS = st.text(st.sampled_from('aAsSkKiI "\\\n/.1éÉe\u0301ßﬁſ日本\uf900пПか\u3099\udc80'), max_size=12)


@given(LETTERS, LETTERS.filter(lambda text: bool(fold(text).strip())), LETTERS)
def test_a_word_in_a_text_is_never_missed(before: str, word: str, after: str) -> None:
    word = word.encode("utf-8", "ignore").decode()
    text = before + word + after
    if word.strip() and fold(word) in fold(text):
        assert may_occur(word, text), json.dumps([word, text])
