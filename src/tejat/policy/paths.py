"""Paths in shell words."""

import posixpath
from collections.abc import Sequence
from itertools import dropwhile


class PathLookup:
    """What the file system tells about paths. This one knows none: there are no links and no settings of git."""

    def real_path(self, path: str) -> str:
        """Return an absolute path with its links followed."""
        return posixpath.normpath(path)

    def is_missing(self, directory: str) -> bool:
        """Return whether this directory is real and was missing, so that nothing in it is a link."""
        return False

    def expand(self, pattern: str) -> Sequence[str]:
        """Return the paths that an absolute pattern of the shell matches, as far as they are known."""
        return ()

    def links_outside(self, directory: str, roots: Sequence[str]) -> bool:
        """Return whether a link at any depth of the directory leads out of the roots, or may do so."""
        return False

    def holds_secrets(self, directory: str) -> bool:
        """Return whether a file at any depth of the directory usually holds secrets, or may do so."""
        return False

    def git_programs(self, directory: str) -> Sequence[str]:
        """Return the settings with which the repository of a directory makes git run programs."""
        return ()


NO_LINKS = PathLookup()


def resolve_path(word: str, *, directory: str, home: str) -> str:
    """Return the absolute path that a word names, by its text alone."""
    return normalize_path(join_path(word, directory=directory, home=home))


def normalize_path(path: str) -> str:
    """Return an absolute path without `.`, `..` and superfluous slashes, by its text alone."""
    is_normal = "/." not in path and "//" not in path and path[-1:] != "/" and path[:1] == "/"
    return path if is_normal else posixpath.normpath(path)


def join_path(word: str, *, directory: str, home: str) -> str:
    """Return the word as an absolute path that is not normalised: what `link/..` is depends on the link."""
    if word == "~" or word.startswith("~/"):
        word = home + word[1:]
    if word.startswith("/") or not directory:
        return word
    return f"{directory}{word}" if directory.endswith("/") else f"{directory}/{word}"


def is_ambiguous(word: str) -> bool:
    """Return whether the text does not tell the path: `link/..` may lead elsewhere, `~user` is unknown."""
    if word.startswith("~") and word != "~" and not word.startswith("~/"):
        return True
    if ".." not in word:
        return False
    names = [name for name in word.split("/") if name not in ("", ".")]
    return ".." in dropwhile(lambda name: name == "..", names)
