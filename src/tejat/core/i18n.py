"""Translation of messages, in the manner of gettext.

`_` and `ngettext` return text in the user's language. Text that a model may read too is lazy: `lazy` and
`lazy_plural` return English that is translated where it is shown, by `translate` or as a value of another message.
"""

from collections.abc import Callable, Iterable
from typing import Protocol


class Translations(Protocol):
    """A message catalogue, such as `gettext.GNUTranslations`."""

    def gettext(self, message: str, /) -> str: ...

    def ngettext(self, msgid1: str, msgid2: str, n: int, /) -> str: ...


def _(message: str, /, **values: object) -> str:
    """Translate a message and fill in `{name}` placeholders. Without values braces are not special.

    The message must be a literal, so that `scripts/messages` can extract it.
    """
    return _format(message if _active is None else _active.gettext(message), message, _translate_values(values))


def ngettext(one: str, many: str, count: int, /, **values: object) -> str:
    """Translate a message with a plural. `{count}` is filled in too."""
    english = one if count == 1 else many
    found = english if _active is None else _active.ngettext(one, many, count)
    return _format(found, english, _translate_values({"count": f"{count:,}", **values}))


class LazyString(str):
    """English text that can be translated later. Text derived from it by `str` methods is plain English.

    A pickle has its translation into the present language.
    """

    __slots__ = ("localize",)
    localize: Callable[[], str]

    def __str__(self) -> str:
        return self  # so that `str(error)` returns the lazy string that the error was raised with

    def __reduce__(self) -> "tuple[object, ...]":
        return _restore_lazy, (str.__str__(self), self.localize())

    def __deepcopy__(self, memo: object) -> "LazyString":
        return self


def _restore_lazy(english: str, translation: str) -> LazyString:
    text = LazyString(english)
    text.localize = lambda: translation
    return text


def lazy(message: str, /, **values: object) -> LazyString:
    """Mark a message for translation where it is shown."""
    text = LazyString(message.format_map(values) if values else message)
    text.localize = lambda: _(message, **values)
    return text


def lazy_data(message: str) -> LazyString:
    """Mark a message from a data file for translation where it is shown. `scripts/messages` knows these files."""
    return lazy(message)


def lazy_plural(one: str, many: str, count: int, /, **values: object) -> LazyString:
    """Mark a message with a plural for translation where it is shown. `{count}` is filled in too."""
    text = LazyString((one if count == 1 else many).format_map({"count": f"{count:,}", **values}))
    text.localize = lambda: ngettext(one, many, count, **values)
    return text


def join_lazy(separator: str, texts: Iterable[str]) -> LazyString:
    """Join texts, lazy or not, like `separator.join(texts)`."""
    pieces = tuple(texts)
    text = LazyString(separator.join(pieces))
    text.localize = lambda: translate(separator).join(map(translate, pieces))
    return text


def map_lazy(text: str, change: Callable[[str], str]) -> str:
    """Apply a function to a text; a lazy string stays lazy, and its translation is changed too."""
    if not isinstance(text, LazyString):
        return change(text)
    changed = LazyString(change(str.__str__(text)))
    changed.localize = lambda: change(text.localize())
    return changed


def translate(text: object) -> str:
    """Translate a lazy string, or an error raised with one. Other text is returned as it is."""
    words = text if isinstance(text, str) else str(text)
    return words.localize() if isinstance(words, LazyString) else words


def use_translations(translations: Translations | None) -> None:
    """Set the catalogue of this process. None is English."""
    global _active  # noqa: PLW0603 -- a process has one user
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
        return english.format_map(values)  # a broken translation must not lose the message


_active: Translations | None = None
