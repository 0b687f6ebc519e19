"""What a person reads is in their language; what a model reads is English whatever that is."""

import copy
import json
import pickle
from collections.abc import Iterator

import pytest

from tejat.core.errors import UsageError
from tejat.core.i18n import (
    LazyString,
    _,
    join_lazy,
    lazy,
    lazy_plural,
    map_lazy,
    ngettext,
    translate,
    use_translations,
)


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
    use_translations(Loud())
    yield
    use_translations(None)


def test_english_without_a_catalogue() -> None:
    assert _("there is no {path}", path="a") == "there is no a"
    assert ngettext("{count} file", "{count} files", 1000) == "1,000 files"
    assert translate(lazy("there is no {path}", path="a")) == "there is no a"


@pytest.mark.usefixtures("loud")
def test_what_is_said_is_translated() -> None:
    assert _("there is no {path}", path="a") == "THERE IS NO a"
    assert ngettext("{count} file", "{count} files", 1) == "1 FILE"


@pytest.mark.usefixtures("loud")
def test_a_phrase_is_english_until_it_is_shown() -> None:
    found = lazy("there is no {path}", path="a")
    assert (found, f"{found}.", json.dumps([found])) == ("there is no a", "there is no a.", '["there is no a"]')
    assert translate(found) == "THERE IS NO a"
    assert translate(lazy_plural("{count} file", "{count} files", 2)) == "2 FILES"


@pytest.mark.usefixtures("loud")
def test_an_error_gives_back_what_it_was_raised_with() -> None:
    error = UsageError(lazy("there is no {path}", path="a"))
    assert str(error) == "there is no a"
    assert translate(error) == "THERE IS NO a"
    assert _("sorry: {why}", why=error) == "SORRY: THERE IS NO a"


@pytest.mark.usefixtures("loud")
def test_what_is_filled_in_is_translated_too() -> None:
    outer = lazy("sorry: {why}", why=lazy("no {path}", path="a"))
    assert (str(outer), translate(outer)) == ("sorry: no a", "SORRY: NO a")


@pytest.mark.usefixtures("loud")
def test_phrases_can_be_joined_and_changed() -> None:
    both = join_lazy("; ", (lazy("deletes"), "a.txt"))
    assert (both, translate(both)) == ("deletes; a.txt", "DELETES; a.txt")
    cut = map_lazy(lazy("no file."), lambda text: text.removesuffix("."))
    assert (cut, translate(cut)) == ("no file", "NO FILE")
    assert map_lazy("ab", str.title) == "Ab"


@pytest.mark.usefixtures("loud")
def test_other_texts_are_as_they_are() -> None:
    assert translate("plain") == "plain"
    assert translate(ValueError("plain")) == "plain"


@pytest.mark.usefixtures("loud")
def test_a_copy_is_a_phrase() -> None:
    made = copy.deepcopy(lazy("no file"))
    assert isinstance(made, LazyString)
    assert translate(made) == "NO FILE"


def test_a_translation_with_a_slip_is_shown_in_english() -> None:
    class Wrong(Loud):
        def gettext(self, message: str, /) -> str:
            return "{nothing}"

    use_translations(Wrong())
    try:
        assert _("there is no {path}", path="a") == "there is no a"
    finally:
        use_translations(None)


@pytest.mark.usefixtures("loud")
@pytest.mark.parametrize(
    "text",
    [
        lazy("no {what}", what="file"),
        lazy("failed: {error}", error=OSError("disk")),
        lazy_plural("{count} file", "{count} files", 2),
        join_lazy(", ", [lazy("one"), "two"]),
        map_lazy(lazy("one"), lambda text: f"<{text}>"),
    ],
)
def test_a_pickle_has_the_english_text_and_its_translation(text: LazyString) -> None:
    restored = pickle.loads(pickle.dumps(text))
    assert isinstance(restored, LazyString)
    assert (restored, translate(restored)) == (text, translate(text))
    assert pickle.loads(pickle.dumps(restored)) == text
