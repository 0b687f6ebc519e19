"""Every word that a person reads, looked up in one catalogue. What a model reads is English and never comes here."""

from typing import Protocol


class Catalogue(Protocol):
    """Translations by their English text, as gettext has them."""

    def gettext(self, message: str, /) -> str: ...

    def ngettext(self, msgid1: str, msgid2: str, n: int, /) -> str: ...


def say(message: str, /, **values: object) -> str:
    """The words of this message in the person's language, with `{name}` filled in where there are values.

    The message is a literal: `scripts/words` collects them, and what is not collected cannot be translated.
    """
    return _filled(message if _in_use is None else _in_use.gettext(message), message, values)


def say_count(one: str, many: str, count: int, /, **values: object) -> str:
    """The words for this count, which also fills in `{count}`."""
    english = one if count == 1 else many
    found = english if _in_use is None else _in_use.ngettext(one, many, count)
    return _filled(found, english, {"count": f"{count:,}", **values})


def use_catalogue(catalogue: Catalogue | None) -> None:
    """From here on speak these words, for the whole process; None is English."""
    global _in_use  # noqa: PLW0603 -- a process talks to one person
    _in_use = catalogue


def _filled(found: str, english: str, values: dict[str, object]) -> str:
    if not values:
        return found
    try:
        return found.format_map(values)
    except (LookupError, ValueError, AttributeError):
        return english.format_map(values)  # a translation with a slip in it must not cost the message


_in_use: Catalogue | None = None
