"""Every word that a person reads, looked up in one catalogue. What a model reads is English, whatever the catalogue.

`say` is for people only. What a person and a model may both read is a `phrase`: English for whoever makes a text of it,
and put into the person's language by `say` and `translated`.
"""

from collections.abc import Callable, Iterable
from typing import Protocol


class Catalogue(Protocol):
    """Translations by their English text, as gettext has them."""

    def gettext(self, message: str, /) -> str: ...

    def ngettext(self, msgid1: str, msgid2: str, n: int, /) -> str: ...


def say(message: str, /, **values: object) -> str:
    """The words of this message in the person's language, with `{name}` filled in where there are values.

    The message is a literal: `scripts/words` collects them, and what is not collected cannot be translated.
    """
    return _filled(message if _in_use is None else _in_use.gettext(message), message, _translated(values))


def say_count(one: str, many: str, count: int, /, **values: object) -> str:
    """The words for this count, which also fills in `{count}`."""
    english = one if count == 1 else many
    found = english if _in_use is None else _in_use.ngettext(one, many, count)
    return _filled(found, english, _translated({"count": f"{count:,}", **values}))


class Phrase(str):
    """English that can be said in the person's language. Whatever is made of it, by joining or cutting, is English."""

    __slots__ = ("again",)
    again: Callable[[], str]
    """Says it to the person."""

    def __str__(self) -> str:
        return self  # so that an error that was raised with it gives it back


def phrase(message: str, /, **values: object) -> Phrase:
    """These words in English, to be put into the person's language where they are shown: see `say` and `translated`."""
    words = Phrase(message.format_map(values) if values else message)
    words.again = lambda: say(message, **values)
    return words


def phrase_count(one: str, many: str, count: int, /, **values: object) -> Phrase:
    """The same for a count, which also fills in `{count}`."""
    words = Phrase((one if count == 1 else many).format_map({"count": f"{count:,}", **values}))
    words.again = lambda: say_count(one, many, count, **values)
    return words


def joined(separator: str, texts: Iterable[str]) -> Phrase:
    """Phrases and other texts one after the other, like `separator.join(texts)`."""
    pieces = tuple(texts)
    words = Phrase(separator.join(pieces))
    words.again = lambda: translated(separator).join(map(translated, pieces))
    return words


def changed(text: str, change: Callable[[str], str]) -> str:
    """What the change makes of a text; a phrase stays one and is changed in whatever language it is said."""
    if not isinstance(text, Phrase):
        return change(text)
    words = Phrase(change(str.__str__(text)))
    words.again = lambda: change(text.again())
    return words


def translated(text: object) -> str:
    """A phrase, or an error that was raised with one, in the person's language; anything else as it is."""
    words = text if isinstance(text, str) else str(text)
    return words.again() if isinstance(words, Phrase) else words


def use_catalogue(catalogue: Catalogue | None) -> None:
    """From here on speak these words, for the whole process; None is English."""
    global _in_use  # noqa: PLW0603 -- a process talks to one person
    _in_use = catalogue


def _translated(values: dict[str, object]) -> dict[str, object]:
    return {
        name: translated(value) if isinstance(value, Phrase | BaseException) else value
        for name, value in values.items()
    }


def _filled(found: str, english: str, values: dict[str, object]) -> str:
    if not values:
        return found
    try:
        return found.format_map(values)
    except (LookupError, ValueError, AttributeError):
        return english.format_map(values)  # a translation with a slip in it must not cost the message


_in_use: Catalogue | None = None
