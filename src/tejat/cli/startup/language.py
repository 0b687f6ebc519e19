"""The language of the user interface."""

import os
from collections.abc import Iterator, Mapping

from tejat.core.i18n import use_translations

DOMAIN = "tejat"
LOCALE_DIRECTORY = os.path.join(os.path.dirname(os.path.dirname(__file__)), "locale")
_VARIABLES = ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")
_ENGLISH = frozenset({"c", "posix", "en"})


def choose_language(environment: Mapping[str, str]) -> None:
    """Use the first of the user's languages that has a translation, else English.

    The user's own translations are in the directory TEXTDOMAINDIR. One that cannot be read is skipped.
    """
    directories = [environment.get("TEXTDOMAINDIR", ""), LOCALE_DIRECTORY]
    for language in _requested_languages(environment):
        if language.partition("_")[0].partition("@")[0].lower() in _ENGLISH:
            return
        for directory in filter(None, directories):
            for name in _locale_names(language):
                path = os.path.join(directory, name, "LC_MESSAGES", f"{DOMAIN}.mo")
                if os.path.isfile(path) and _load_translations(path, directory):
                    return


def _requested_languages(environment: Mapping[str, str]) -> Iterator[str]:
    """The user's languages, best first, without encodings, because output is always UTF-8."""
    given = next(filter(None, (environment.get(name) for name in _VARIABLES)), "")
    for language in filter(None, given.split(":")):
        name, _, modifier = language.partition("@")
        plain = name.partition(".")[0]
        # Reject names that could lead to another directory.
        if plain.replace("_", "").replace("-", "").isalnum() and (not modifier or modifier.isalnum()):
            yield f"{plain}@{modifier}" if modifier else plain


def _locale_names(language: str) -> dict[str, None]:
    """Directory names for a language, closest first: `pt_BR`, then `pt`."""
    name, at, modifier = language.partition("@")
    plain = name.partition("_")[0]
    return dict.fromkeys([f"{name}{at}{modifier}", name, f"{plain}{at}{modifier}", plain])


def _load_translations(path: str, directory: str) -> bool:
    """Load the translations and return whether they could be read."""
    import gettext

    try:
        with open(path, "rb") as file:
            catalogue = gettext.GNUTranslations(file)
    except Exception:  # noqa: BLE001 -- a file that is broken in any way at all must not stop the program
        return False
    use_translations(catalogue)
    # argparse looks up its own messages.
    gettext.bindtextdomain(DOMAIN, directory)
    gettext.textdomain(DOMAIN)
    return True
