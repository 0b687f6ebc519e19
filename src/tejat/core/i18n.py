"""Every word that a person reads, looked up in one catalogue. What a model reads is English, whatever the catalogue.

`say` is for people only. What a person and a model may both read is a `phrase`: English for whoever makes a text of it,
and put into the person's language by `say` and `translated`.
"""

from collections.abc import Callable, Iterable
from typing import Protocol


class Translations(Protocol):
    """Translations by their English text, as gettext has them."""

    def gettext(self, message: str, /) -> str: ...

    def ngettext(self, msgid1: str, msgid2: str, n: int, /) -> str: ...


def _(message: str, /, **values: object) -> str:
    """The words of this message in the person's language, with `{name}` filled in where there are values.

    The message is a literal: `scripts/words` collects them, and what is not collected cannot be translated.
    """
    return _format(message if _active is None else _active.gettext(message), message, _translate_values(values))


def ngettext(one: str, many: str, count: int, /, **values: object) -> str:
    """The words for this count, which also fills in `{count}`."""
    english = one if count == 1 else many
    found = english if _active is None else _active.ngettext(one, many, count)
    return _format(found, english, _translate_values({"count": f"{count:,}", **values}))


class LazyString(str):
    """English that can be said in the person's language. Whatever is made of it, by joining or cutting, is English."""

    __slots__ = ("localize",)
    localize: Callable[[], str]
    """Says it to the person."""

    def __str__(self) -> str:
        return self  # so that an error that was raised with it gives it back


def gettext_lazy(message: str, /, **values: object) -> LazyString:
    """These words in English, to be put into the person's language where they are shown: see `say` and `translated`."""
    words = LazyString(message.format_map(values) if values else message)
    words.localize = lambda: _(message, **values)
    return words


def ngettext_lazy(one: str, many: str, count: int, /, **values: object) -> LazyString:
    """The same for a count, which also fills in `{count}`."""
    words = LazyString((one if count == 1 else many).format_map({"count": f"{count:,}", **values}))
    words.localize = lambda: ngettext(one, many, count, **values)
    return words


def join_lazy(separator: str, texts: Iterable[str]) -> LazyString:
    """Phrases and other texts one after the other, like `separator.join(texts)`."""
    pieces = tuple(texts)
    words = LazyString(separator.join(pieces))
    words.localize = lambda: translate(separator).join(map(translate, pieces))
    return words


def map_lazy(text: str, change: Callable[[str], str]) -> str:
    """What the change makes of a text; a phrase stays one and is changed in whatever language it is said."""
    if not isinstance(text, LazyString):
        return change(text)
    words = LazyString(change(str.__str__(text)))
    words.localize = lambda: change(text.localize())
    return words


def translate(text: object) -> str:
    """A phrase, or an error that was raised with one, in the person's language; anything else as it is."""
    words = text if isinstance(text, str) else str(text)
    return words.localize() if isinstance(words, LazyString) else words


def use_translations(translations: Translations | None) -> None:
    """From here on speak these words, for the whole process; None is English."""
    global _active  # noqa: PLW0603 -- a process talks to one person
    _active = translations


def _translate_values(values: dict[str, object]) -> dict[str, object]:
    return {
        name: translate(value) if isinstance(value, LazyString | BaseException) else value
        for name, value in values.items()
    }


def _format(template: str, english: str, values: dict[str, object]) -> str:
    if not values:
        return template
    try:
        return template.format_map(values)
    except (LookupError, ValueError, AttributeError):
        return english.format_map(values)  # a translation with a slip in it must not cost the message


_active: Translations | None = None
