"""One settings file: finds a value under either of its names and says what is wrong with it, and where."""

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tejat.config.own_file import Writers, read_own_file
from tejat.config.places import SourceTier
from tejat.core.errors import UsageError

if TYPE_CHECKING:
    from tejat.config.json_with_comments import Node, Value


class SettingsError(UsageError):
    """A settings file is not what it should be. The message names the file, the line and, for a value, its key."""

    def __init__(self, problem: str, *, path: str) -> None:
        super().__init__(f"Error in {path}: {problem}\nPlease fix {path} and try again.")
        self.path = path


@dataclass(frozen=True, slots=True)
class Key:
    """The two names of a setting: `tools.core` as it is called now, `coreTools` as it was once."""

    nested: str
    flat: str | None = None


class SettingsFile:
    """The settings in one file. Keys that are not asked for do not matter."""

    __slots__ = ("_members", "path", "tier")

    def __init__(self, path: str, tier: SourceTier, members: "dict[str, Node]") -> None:
        self.path = path
        self.tier = tier
        self._members = members

    def find(self, key: Key) -> "Found | None":
        """The value under the nested name, else under the flat one; null is as good as none.

        Raises SettingsError where the nested name leads through something that is no object.
        """
        node = self._find_nested(key.nested)
        if node is not None:
            return Found(self.path, key.nested, node)
        flat = self._members.get(key.flat) if key.flat else None
        return Found(self.path, key.flat or key.nested, flat) if flat and flat.value is not None else None

    def has_other_than(self, keys: tuple[Key, ...]) -> bool:
        """Whether it sets anything besides these keys."""
        known = {name for key in keys for name in (key.nested, key.flat)}
        return any(name not in known for name in _names_of(self._members, ""))

    def _find_nested(self, name: str) -> "Node | None":
        members, passed = self._members, ""
        *outer, last = name.split(".")
        for step in outer:
            passed = f"{passed}.{step}" if passed else step
            node = members.get(step)
            if node is None or node.value is None:
                return None
            if not isinstance(node.value, dict):
                raise Found(self.path, passed, node).wrong("an object")
            members = node.value
        node = members.get(last)
        return None if node is None or node.value is None else node


def read_settings_file(path: str, tier: SourceTier) -> SettingsFile | None:
    """The settings in the file, None if there is no such file.

    Raises SettingsError, and UsageError where the file cannot be read or others could have written it.
    """
    writers = Writers.ANYBODY if tier is SourceTier.WORKSPACE else Writers.TRUSTED
    text = read_own_file(path, writers=writers)
    if text is None:
        return None
    # Most runs have few such files or none.
    from tejat.config.json_with_comments import BadJson, read_json

    try:
        top = read_json(text)
    except BadJson as error:
        raise SettingsError(str(error), path=path) from None
    if not isinstance(top.value, dict):
        raise SettingsError(f"line {top.line}: settings must be one object in {{}}", path=path)
    return SettingsFile(path, tier, top.value)


@dataclass(frozen=True, slots=True)
class Found:
    """A value in a file, under the name it was found by. What reads it raises SettingsError for the wrong type."""

    path: str
    name: str
    node: "Node"

    @property
    def source(self) -> str:
        return f"{self.path}:{self.node.line}"

    def wrong(self, wanted: str, node: "Node | None" = None) -> SettingsError:
        """For a value that is not what is wanted; `node` is the part of it that is wrong."""
        at = node or self.node
        return SettingsError(
            f"line {at.line}: {self.name} must be {wanted}, but is {_in_words(at.value)}", path=self.path
        )

    def boolean(self) -> bool:
        if isinstance(self.node.value, bool):
            return self.node.value
        raise self.wrong("true or false")

    def text(self) -> str:
        if isinstance(self.node.value, str) and self.node.value.strip():
            return self.node.value.strip()
        raise self.wrong("a text")

    def seconds(self) -> float | None:
        """A time limit; None for 0, which means no limit."""
        value = self.node.value
        if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
            raise self.wrong("a number of seconds, or 0 for no limit")
        return float(value) or None

    def limit(self) -> int | None:
        """A limit in characters; None for 0 or less, which means no limit."""
        value = self.node.value
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.wrong("a whole number, or 0 for no limit")
        return value if value > 0 else None

    def texts(self) -> tuple[str, ...]:
        return tuple(entry.text() for entry in self.entries())

    def entries(self) -> "list[Found]":
        """The texts in a list, each with its own line; blank ones do not count."""
        if not isinstance(self.node.value, list):
            raise self.wrong("a list of texts")
        found: list[Found] = []
        for node in self.node.value:
            if not isinstance(node.value, str):
                raise self.wrong("a list of texts", node)
            if node.value.strip():
                found.append(Found(self.path, self.name, node))
        return found

    def entries_or_one(self) -> "list[Found]":
        """The same, where a text that stands alone is as good as a list of one."""
        if isinstance(self.node.value, str):
            return [self] if self.node.value.strip() else []
        return self.entries()


def is_same_directory(one: str, other: str) -> bool:
    """Whether both paths lead to one directory that is there. Names do not matter, links are followed."""
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def _names_of(members: "dict[str, Node]", before: str) -> list[str]:
    names: list[str] = []
    for name, node in members.items():
        if isinstance(node.value, dict):
            names += _names_of(node.value, f"{before}{name}.")
        else:
            names.append(before + name)
    return names


def _in_words(value: "Value") -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"the number {value}"
        case str():
            return f"the text {value!r}" if len(value) <= _SHOWN else f"the text {value[:_SHOWN]!r}..."
        case list():
            return "a list"
        case dict():
            return "an object"
        case _:
            return "null"


_SHOWN = 60
