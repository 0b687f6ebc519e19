"""Paths that the arguments of a call name."""

import re
from collections.abc import Collection, Iterator, Sequence
from fnmatch import translate

from tejat.core.undo import ChangeKind, PathChange, PathKind

_SEPARATORS = re.compile(r"[\s\"'`;|&<>()$=,:]+")
_WILDCARDS = frozenset("*?[")
_MAX_PATTERNS = 50


def named_paths(changes: Sequence[PathChange], arguments: object) -> tuple[str, ...]:
    """Return the full paths of the changes that the arguments name, as a path or a pattern, whole or from a root.

    A created or removed directory stands for all that is in it.
    """
    words = {word for text in _strings(arguments) for word in map(_normalize, _SEPARATORS.split(text)) if word}
    patterns = [re.compile(translate(word)) for word in sorted(words) if _WILDCARDS & set(word)][:_MAX_PATTERNS]
    found: list[str] = []
    directories: set[str] = set()
    for change in sorted(changes, key=lambda change: change.full_path):
        path = change.full_path
        if _has_parent_in(path, directories) or not _is_named(change, words, patterns):
            continue
        found.append(path)
        if change.kind in (ChangeKind.CREATED, ChangeKind.REMOVED) and _is_directory(change):
            directories.add(path)
    return tuple(found)


def is_named(path: str, named: Collection[str]) -> bool:
    """Whether a full path is named, or is in a directory that is. A set makes it fast."""
    return bool(named) and ("/" in named or path in named or _has_parent_in(path, named))


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():  # pyright: ignore[reportUnknownVariableType]
            yield from _strings(item)  # pyright: ignore[reportUnknownArgumentType]
    elif isinstance(value, list | tuple):
        for item in value:  # pyright: ignore[reportUnknownVariableType]
            yield from _strings(item)  # pyright: ignore[reportUnknownArgumentType]


def _normalize(word: str) -> str:
    """Return a word as a path without a leading `./` and a trailing `/`; empty if it names no path beneath a root."""
    word = word.removeprefix("./").rstrip("/")
    return "" if word in (".", "..") else word


def _is_named(change: PathChange, words: Collection[str], patterns: Sequence[re.Pattern[str]]) -> bool:
    path = change.path
    if path in words or change.full_path in words:
        return True
    # A file and its directory may be named apart, as in `cd src && touch file`.
    cut = path.find("/")
    while cut > 0:
        if path[:cut] in words and path[cut + 1 :] in words:
            return True
        cut = path.find("/", cut + 1)
    level = path.count("/")
    return any(pattern.match(path) for pattern in patterns if pattern.pattern.count("/") == level)


def _has_parent_in(path: str, directories: Collection[str]) -> bool:
    cut = path.rfind("/")
    while directories and cut > 0:
        if path[:cut] in directories:
            return True
        cut = path.rfind("/", 0, cut)
    return False


def _is_directory(change: PathChange) -> bool:
    return any(node is not None and node.kind is PathKind.DIRECTORY for node in (change.before, change.after))
