"""Arguments that are one value or several."""

from collections.abc import Iterable, Mapping
from typing import Protocol, TypeAlias, cast, runtime_checkable


@runtime_checkable
class PathLike(Protocol):
    """A path object: `os.PathLike[str]`."""

    def __fspath__(self) -> str: ...


OnePathOrMany: TypeAlias = str | PathLike | Iterable[str | PathLike]


def list_names(given: str | Iterable[str], argument: str = "") -> tuple[str, ...]:
    """The names. A single string is one name, not a sequence of letters. Raises TypeError that names the argument."""
    if isinstance(given, str):
        return (given,)
    return tuple(_checked_name(each, argument) for each in _iterate(given, "a name or several names", argument))


def list_paths(given: OnePathOrMany, argument: str = "") -> tuple[str, ...]:
    """The paths as text. A single path is one path: `"./"` must not become `.` and `/`.

    Raises TypeError that names the argument.
    """
    if isinstance(given, str | PathLike):
        return (_path_text(given, argument),)
    return tuple(_path_text(each, argument) for each in _iterate(given, "a path or several paths", argument))


def describe_wrong_mapping(given: object, values: type | tuple[type, ...]) -> str:
    """Describe what keeps a value from being a mapping of strings to `values`; empty if nothing.

    Contents are left out, because they may be secrets.
    """
    if not isinstance(given, Mapping):
        return f"an object of the type {type(given).__name__}"
    for key, value in cast("Mapping[object, object]", given).items():
        if not isinstance(key, str):
            return f"a mapping with a key of the type {type(key).__name__}"
        if not isinstance(value, values):
            return f"a mapping in which {key!r} is of the type {type(value).__name__}"
    return ""


def keep_as_tuple(value: object, name: str) -> None:
    """Make a field of a new frozen value a tuple, if one string was given: `aliases=("name")` lacks a comma."""
    given = getattr(value, name)
    if isinstance(given, str):
        object.__setattr__(value, name, (given,))


def _iterate(given: object, expected: str, argument: str) -> Iterable[object]:
    if isinstance(given, bytes | bytearray | Mapping | type) or not isinstance(given, Iterable):
        raise _wrong_type(cast("object", given), expected, argument)
    return cast("Iterable[object]", given)


def _checked_name(name: object, argument: str) -> str:
    if not isinstance(name, str):
        raise _wrong_type(name, "a name", argument)
    return name


def _path_text(path: object, argument: str) -> str:
    text = path.__fspath__() if isinstance(path, PathLike) else path
    if not isinstance(text, str):
        raise _wrong_type(path, "a path", argument)
    return text


def _wrong_type(given: object, expected: str, argument: str) -> TypeError:
    return TypeError(f"{f'{argument} must be' if argument else 'Expected'} {expected}, not {given!r}.")
