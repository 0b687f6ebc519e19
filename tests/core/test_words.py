"""What a person reads is in their language; what a model reads is English whatever that is."""

import copy
import json
from collections.abc import Iterator

import pytest

from tejat.core.errors import UsageError
from tejat.core.words import Phrase, changed, joined, phrase, phrase_count, say, say_count, translated, use_catalogue


class Loud:
    """Translates by shouting, and leaves alone what is filled in."""

    def gettext(self, message: str, /) -> str:
        return "".join(piece if piece.startswith("{") else piece.upper() for piece in _pieces(message))

    def ngettext(self, msgid1: str, msgid2: str, n: int, /) -> str:
        return self.gettext(msgid1 if n == 1 else msgid2)


def _pieces(message: str) -> list[str]:
    return message.replace("{", "\0{").replace("}", "}\0").split("\0")


@pytest.fixture
def loud() -> Iterator[None]:
    use_catalogue(Loud())
    yield
    use_catalogue(None)


def test_english_without_a_catalogue() -> None:
    assert say("there is no {path}", path="a") == "there is no a"
    assert say_count("{count} file", "{count} files", 1000) == "1,000 files"
    assert translated(phrase("there is no {path}", path="a")) == "there is no a"


@pytest.mark.usefixtures("loud")
def test_what_is_said_is_translated() -> None:
    assert say("there is no {path}", path="a") == "THERE IS NO a"
    assert say_count("{count} file", "{count} files", 1) == "1 FILE"


@pytest.mark.usefixtures("loud")
def test_a_phrase_is_english_until_it_is_shown() -> None:
    found = phrase("there is no {path}", path="a")
    assert (found, f"{found}.", json.dumps([found])) == ("there is no a", "there is no a.", '["there is no a"]')
    assert translated(found) == "THERE IS NO a"
    assert translated(phrase_count("{count} file", "{count} files", 2)) == "2 FILES"


@pytest.mark.usefixtures("loud")
def test_an_error_gives_back_what_it_was_raised_with() -> None:
    error = UsageError(phrase("there is no {path}", path="a"))
    assert str(error) == "there is no a"
    assert translated(error) == "THERE IS NO a"
    assert say("sorry: {why}", why=error) == "SORRY: THERE IS NO a"


@pytest.mark.usefixtures("loud")
def test_what_is_filled_in_is_translated_too() -> None:
    outer = phrase("sorry: {why}", why=phrase("no {path}", path="a"))
    assert (str(outer), translated(outer)) == ("sorry: no a", "SORRY: NO a")


@pytest.mark.usefixtures("loud")
def test_phrases_can_be_joined_and_changed() -> None:
    both = joined("; ", (phrase("deletes"), "a.txt"))
    assert (both, translated(both)) == ("deletes; a.txt", "DELETES; a.txt")
    cut = changed(phrase("no file."), lambda text: text.removesuffix("."))
    assert (cut, translated(cut)) == ("no file", "NO FILE")
    assert changed("ab", str.title) == "Ab"


@pytest.mark.usefixtures("loud")
def test_other_texts_are_as_they_are() -> None:
    assert translated("plain") == "plain"
    assert translated(ValueError("plain")) == "plain"


@pytest.mark.usefixtures("loud")
def test_a_copy_is_a_phrase() -> None:
    made = copy.deepcopy(phrase("no file"))
    assert isinstance(made, Phrase)
    assert translated(made) == "NO FILE"


def test_a_translation_with_a_slip_is_shown_in_english() -> None:
    class Wrong(Loud):
        def gettext(self, message: str, /) -> str:
            return "{nothing}"

    use_catalogue(Wrong())
    try:
        assert say("there is no {path}", path="a") == "there is no a"
    finally:
        use_catalogue(None)
