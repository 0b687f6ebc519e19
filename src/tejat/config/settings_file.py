"""One settings file: finds a value under either of its names and says what is wrong with it, and where."""

import os
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, TypeVar

from tejat.config.own_file import Writers, read_own_file
from tejat.config.places import SourceTier
from tejat.config.references import resolver
from tejat.config.settings import Setting
from tejat.core.errors import ConfigurationError
from tejat.core.words import phrase

if TYPE_CHECKING:
    from tejat.config.json_with_comments import Node, Value
    from tejat.config.references import Resolve
    from tejat.core.types import JsonObject, JsonValue

Kept = TypeVar("Kept")


class SettingsError(ConfigurationError):
    """A settings file is not what it should be. The message names the file, the line and, for a value, its key."""

    def __init__(self, problem: str, *, path: str) -> None:
        super().__init__(phrase("Error in {path}: {why}\nPlease fix {path} and try again.", path=path, why=problem))
        self.path = path
        self.problem = problem


class Key:
    """The names of a setting, the one with the first word first: `tools.core` as it is called now, then older ones."""

    __slots__ = ("names",)

    def __init__(self, *names: str) -> None:
        self.names = names


class SettingsFile:
    """The settings in one file. Keys that are not asked for do not matter."""

    __slots__ = ("_members", "path", "resolve", "tier")

    def __init__(self, path: str, tier: SourceTier, members: "dict[str, Node]", resolve: "Resolve") -> None:
        self.path = path
        self.tier = tier
        self.resolve = resolve
        self._members = members

    def find(self, key: Key) -> "Found | None":
        """The value under the first of the names that is given; null is as good as none.

        Raises SettingsError where a name leads through something that is no object.
        """
        for name in key.names:
            node = self._find(name)
            if node is not None:
                return Found(self, name, node)
        return None

    def has_other_than(self, keys: tuple[Key, ...]) -> bool:
        """Whether it sets anything besides these keys."""
        known = {name for key in keys for name in key.names}
        return any(name not in known for name in _names_of(self._members, ""))

    def _find(self, name: str) -> "Node | None":
        members, passed = self._members, ""
        *outer, last = name.split(".")
        for step in outer:
            passed = f"{passed}.{step}" if passed else step
            node = members.get(step)
            if node is None or node.value is None:
                return None
            if not isinstance(node.value, dict):
                if isinstance(node.value, str) and passed in _ONCE_A_TEXT:
                    return None
                raise Found(self, passed, node).wrong(phrase("an object"))
            members = node.value
        node = members.get(last)
        if node is None or node.value is None or (name in _ONCE_A_TEXT and isinstance(node.value, dict)):
            return None
        return node


def read_settings_file(path: str, tier: SourceTier, environment: Mapping[str, str]) -> SettingsFile | None:
    """The settings in the file, None if there is no such file. `environment` is what references in it may name.

    Raises SettingsError, and ConfigurationError where the file cannot be read or others could have written it.
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
        raise SettingsError(phrase("line {line}: settings must be one object in {{}}", line=top.line), path=path)
    return SettingsFile(path, tier, top.value, resolver(environment, tier))


class Found:
    """A value in a file, under the name it was found by. What reads it raises SettingsError for the wrong type."""

    __slots__ = ("file", "name", "node")

    def __init__(self, file: SettingsFile, name: str, node: "Node") -> None:
        self.file = file
        self.name = name
        self.node = node

    @property
    def source(self) -> str:
        return f"{self.file.path}:{self.node.line}"

    def setting(self, value: Kept) -> Setting[Kept]:
        """The value that was read from here, with where that is."""
        return Setting(value, self.source, self.file.tier)

    def wrong(self, wanted: str, node: "Node | None" = None) -> SettingsError:
        """For a value that is not what is wanted; `node` is the part of it that is wrong."""
        at = node or self.node
        # Shown as it is written, before references are resolved; what may be a secret is not shown at all.
        hides = not _MAY_BE_SECRET.isdisjoint(self.name.split("."))
        found = phrase("another text") if hides and isinstance(at.value, str) else _in_words(at.value)
        return SettingsError(
            phrase(
                "line {line}: {name} must be {wanted}, but is {found}",
                line=at.line,
                name=self.name,
                wanted=wanted,
                found=found,
            ),
            path=self.file.path,
        )

    def boolean(self) -> bool:
        if isinstance(self.node.value, bool):
            return self.node.value
        raise self.wrong(phrase("true or false"))

    def text(self) -> str:
        if isinstance(self.node.value, str) and (text := self.file.resolve(self.node.value).strip()):
            return text
        raise self.wrong(phrase("a text"))

    def one_of(self, words: Collection[str]) -> str:
        if isinstance(self.node.value, str) and (word := self.text()) in words:
            return word
        raise self.wrong(" or ".join(words))

    def address(self) -> str:
        if self.text().lower().startswith(("http://", "https://")) and not set(self.text()) & set(" \t\r\n"):
            return self.text()
        raise self.wrong(phrase("an address that begins with http:// or https://"))

    def seconds(self) -> float | None:
        """A time limit; None for 0, which means no limit."""
        value = self.node.value
        if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
            raise self.wrong(phrase("a number of seconds, or 0 for no limit"))
        return float(value) or None

    def limit(self) -> int | None:
        """A limit; None for 0 or less, which means no limit."""
        value = self.node.value
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.wrong(phrase("a whole number, or 0 for no limit"))
        return value if value > 0 else None

    def count(self) -> int:
        value = self.node.value
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise self.wrong(phrase("a whole number from 1"))
        return value

    def number(self) -> float:
        value = self.node.value
        if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
            raise self.wrong(phrase("a number from 0"))
        return float(value)

    def fraction(self) -> float:
        value = self.node.value
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise self.wrong(phrase("a number from 0 to 1"))
        return float(value)

    def texts(self) -> tuple[str, ...]:
        return tuple(entry.text() for entry in self.entries())

    def entries(self) -> "list[Found]":
        """The texts in a list, each with its own line; blank ones do not count."""
        if not isinstance(self.node.value, list):
            raise self.wrong(phrase("a list of texts"))
        found: list[Found] = []
        for node in self.node.value:
            if not isinstance(node.value, str):
                raise self.wrong(phrase("a list of texts"), node)
            if self.file.resolve(node.value).strip():
                found.append(Found(self.file, self.name, node))
        return found

    def entries_or_one(self) -> "list[Found]":
        """The same, where a text that stands alone is as good as a list of one."""
        if isinstance(self.node.value, str):
            return [self] if self.file.resolve(self.node.value).strip() else []
        return self.entries()

    def items_or_one(self) -> "list[Found]":
        """What a list holds, whatever it is, each with its own line; anything else stands for a list of one."""
        if not isinstance(self.node.value, list):
            return [self]
        return [Found(self.file, self.name, node) for node in self.node.value]

    def members(self) -> "dict[str, Found]":
        """What an object holds, each with its own line; null is as good as none."""
        if not isinstance(self.node.value, dict):
            raise self.wrong(phrase("an object"))
        return {
            name: Found(self.file, f"{self.name}.{name}", node)
            for name, node in self.node.value.items()
            if node.value is not None
        }

    def json(self) -> "JsonValue":
        """The value as it is, whatever it is."""
        return self._plain(self.node)

    def as_written(self) -> "JsonValue":
        """The same with its references left alone: a command line is for a shell to read."""
        return _as_written(self.node)

    def json_object(self) -> "JsonObject":
        return {name: member.json() for name, member in self.members().items()}

    def _plain(self, node: "Node") -> "JsonValue":
        match node.value:
            case str(text):
                return self.file.resolve(text)
            case list(items):
                return [self._plain(item) for item in items]
            case dict(members):
                return {name: self._plain(member) for name, member in members.items()}
            case value:
                return value


def _as_written(node: "Node") -> "JsonValue":
    match node.value:
        case list(items):
            return [_as_written(item) for item in items]
        case dict(members):
            return {name: _as_written(member) for name, member in members.items()}
        case value:
            return value


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
            return phrase("the number {value}", value=value)
        case str():
            return (
                phrase("the text {value!r}", value=value)
                if len(value) <= _SHOWN
                else phrase("the text {value!r}...", value=value[:_SHOWN])
            )
        case list():
            return phrase("a list")
        case dict():
            return phrase("an object")
        case _:
            return "null"


_SHOWN = 60
# `model` was the name of the model before it became the object that holds it.
_ONCE_A_TEXT = frozenset({"model"})
_MAY_BE_SECRET = frozenset({"env", "headers", "oauth", "baseUrl", "searchUrl"})
