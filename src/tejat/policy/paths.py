"""Where a word of a shell line leads, as far as the text tells."""

import posixpath
from collections.abc import Iterable


def resolve_path(word: str, *, directory: str, home: str) -> str:
    """The absolute path that a word names, by its text alone."""
    if word == "~" or word.startswith("~/"):
        word = home + word[1:]
    return posixpath.normpath(posixpath.join(directory, word))


def is_inside(path: str, roots: Iterable[str]) -> bool:
    return any(path == root or path.startswith(root.rstrip("/") + "/") for root in roots)


def is_ambiguous(word: str) -> bool:
    """Whether the text does not tell where the word leads: `link/..` is not where it seems, `~user` is unknown."""
    if word.startswith("~") and word != "~" and not word.startswith("~/"):
        return True
    names = [name for name in word.split("/") if name not in ("", ".")]
    return ".." in names[len(names) - len(_skip_leading_parents(names)) :]


def _skip_leading_parents(names: list[str]) -> list[str]:
    first = next((index for index, name in enumerate(names) if name != ".."), len(names))
    return names[first:]
