"""Paths in shell words, resolved by text alone."""

import posixpath
from itertools import dropwhile


def resolve_path(word: str, *, directory: str, home: str) -> str:
    """Return the absolute path that a word names, by its text alone."""
    if word == "~" or word.startswith("~/"):
        word = home + word[1:]
    return posixpath.normpath(posixpath.join(directory, word))


def is_ambiguous(word: str) -> bool:
    """Return whether the text does not tell the path: `link/..` may lead elsewhere, `~user` is unknown."""
    if word.startswith("~") and word != "~" and not word.startswith("~/"):
        return True
    names = [name for name in word.split("/") if name not in ("", ".")]
    return ".." in dropwhile(lambda name: name == "..", names)
