"""Arguments that are one value or several."""

from collections.abc import Iterable
from typing import Protocol, TypeAlias, cast, runtime_checkable


@runtime_checkable
class PathLike(Protocol):
    """A path object: `os.PathLike[str]`."""

    def __fspath__(self) -> str: ...


OnePathOrMany: TypeAlias = str | PathLike | Iterable[str | PathLike]


def list_names(given: str | Iterable[str]) -> tuple[str, ...]:
    """The names. A single string is one name, not a sequence of letters. Raises TypeError."""
    if isinstance(given, str):
        return (given,)
    return tuple(map(_checked_name, _iterate(given, "a name")))


def list_paths(given: OnePathOrMany) -> tuple[str, ...]:
    """The paths as text. A single path is one path: `"./"` must not become `.` and `/`. Raises TypeError."""
    if isinstance(given, str | PathLike):
        return (_path_text(given),)
    return tuple(map(_path_text, _iterate(given, "a path")))


def keep_as_tuple(value: object, name: str) -> None:
    """Make a field of a new frozen value a tuple, if one string was given: `aliases=("name")` lacks a comma."""
    given = getattr(value, name)
    if isinstance(given, str):
        object.__setattr__(value, name, (given,))


def _iterate(given: object, expected: str) -> Iterable[object]:
    if isinstance(given, bytes | bytearray) or not isinstance(given, Iterable):
        raise TypeError(f"Expected {expected} or several, not {given!r}.")
    return cast("Iterable[object]", given)


def _checked_name(name: object) -> str:
    if not isinstance(name, str):
        raise TypeError(f"Expected a name, not {name!r}.")
    return name


def _path_text(path: object) -> str:
    text = path.__fspath__() if isinstance(path, PathLike) else path
    if not isinstance(text, str):
        raise TypeError(f"Expected a path, not {path!r}.")
    return text
