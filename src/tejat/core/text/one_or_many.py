"""Arguments that are one value or several."""

from collections.abc import Iterable
from typing import Protocol, TypeAlias, runtime_checkable


@runtime_checkable
class PathLike(Protocol):
    """A path object: `os.PathLike[str]`."""

    def __fspath__(self) -> str: ...


OnePathOrMany: TypeAlias = str | PathLike | Iterable[str | PathLike]


def list_names(given: str | Iterable[str]) -> tuple[str, ...]:
    """The names. A single string is one name, not a sequence of letters."""
    return (given,) if isinstance(given, str) else tuple(given)


def list_paths(given: OnePathOrMany) -> tuple[str, ...]:
    """The paths as text. A single path is one path: `"./"` must not become `.` and `/`."""
    if isinstance(given, str | PathLike):
        return (_path_text(given),)
    return tuple(map(_path_text, given))


def _path_text(path: str | PathLike) -> str:
    return path if isinstance(path, str) else path.__fspath__()
