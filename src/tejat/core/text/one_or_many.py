"""Arguments that are one value or several."""

import os
from collections.abc import Iterable
from typing import TypeAlias

AnyPath: TypeAlias = str | os.PathLike[str]
OnePathOrMany: TypeAlias = AnyPath | Iterable[AnyPath]


def list_names(given: str | Iterable[str]) -> tuple[str, ...]:
    """The names. A single string is one name, not a sequence of letters."""
    return (given,) if isinstance(given, str) else tuple(given)


def list_paths(given: OnePathOrMany) -> tuple[str, ...]:
    """The paths as text. A single path is one path: `"./"` must not become `.` and `/`. Raises TypeError."""
    if isinstance(given, str | os.PathLike):
        return (os.fspath(given),)
    return tuple(os.fspath(path) for path in given)
