"""The language of whoever sits here: the words for it are looked up where somebody has translated them."""

import os
from collections.abc import Iterator, Mapping

from tejat.core.i18n import use_translations

DOMAIN = "tejat"
LOCALE_DIRECTORY = os.path.join(os.path.dirname(os.path.dirname(__file__)), "locale")
_VARIABLES = ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")
_ENGLISH = frozenset({"c", "posix", "en"})


def choose_language(environment: Mapping[str, str]) -> None:
    """Speak the first of the person's languages that there is a catalogue for, else English.

    Catalogues of their own stand in the directory that TEXTDOMAINDIR names. One that cannot be read counts as none:
    words in English are better than no program.
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
    """The languages, the best first, without their encodings: what is written is UTF-8 in any case."""
    given = next(filter(None, (environment.get(name) for name in _VARIABLES)), "")
    for language in filter(None, given.split(":")):
        name, _, modifier = language.partition("@")
        plain = name.partition(".")[0]
        # What could name another directory is no language.
        if plain.replace("_", "").replace("-", "").isalnum() and (not modifier or modifier.isalnum()):
            yield f"{plain}@{modifier}" if modifier else plain


def _locale_names(language: str) -> dict[str, None]:
    """The directories that a language may have, the closest first: `pt_BR`, then `pt`."""
    name, at, modifier = language.partition("@")
    plain = name.partition("_")[0]
    return dict.fromkeys([f"{name}{at}{modifier}", name, f"{plain}{at}{modifier}", plain])


def _load_translations(path: str, directory: str) -> bool:
    """Whether the catalogue could be read."""
    import gettext

    try:
        with open(path, "rb") as file:
            catalogue = gettext.GNUTranslations(file)
    except Exception:  # noqa: BLE001 -- a file that is broken in any way at all must not stop the program
        return False
    use_translations(catalogue)
    # The words of argparse, which looks them up by itself.
    gettext.bindtextdomain(DOMAIN, directory)
    gettext.textdomain(DOMAIN)
    return True
