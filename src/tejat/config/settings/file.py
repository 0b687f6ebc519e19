"""A settings file, and values in it with their positions."""

import re
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, TypeVar

from tejat.config.env_expansion import env_resolver
from tejat.config.paths import SourceTier
from tejat.config.settings.types import Setting, SettingProblem
from tejat.core.errors import ConfigurationError
from tejat.core.i18n import lazy

if TYPE_CHECKING:
    from tejat.config.env_expansion import ResolveEnv
    from tejat.config.jsonc import JsoncValue, JsonNode
    from tejat.core.messages.types import JsonObject, JsonValue

_T = TypeVar("_T")
_MAX_NUMBER = 1e15


class SettingsError(ConfigurationError):
    """An invalid settings file. The message names the file, the line and, for a value, its key.

    `value` is the value that cannot be used, None if the file as a whole is invalid. If it `ends_runs`, the default
    cannot take its place, whatever the setting.
    """

    def __init__(
        self, problem: str, *, path: str, value: SettingProblem | None = None, ends_runs: bool = False
    ) -> None:
        message = lazy("Error in {path}: {why}\nPlease fix {path} and try again.", path=path, why=problem)
        line = re.search(r"\bline (\d+)", problem)
        super().__init__(message, path=path, line=None if line is None else int(line[1]))
        self.problem = problem
        self.value = value
        self.ends_runs = ends_runs


class ReplacedValue(SettingsError):
    """A wrong value in place of which another one holds. It is reported, but never ends a run."""

    def __init__(self, error: SettingsError, replacement: object) -> None:
        super().__init__(error.problem, path=error.path, value=error.value)
        self.replacement = replacement


class SettingKey:
    """The names of a setting in order of precedence: the current one, such as `tools.core`, then older ones."""

    __slots__ = ("names",)

    def __init__(self, *names: str) -> None:
        self.names = names


class SettingsFile:
    """The settings in one file. `members` are the values as written, with their positions."""

    __slots__ = ("members", "path", "resolve", "tier")

    def __init__(self, path: str, tier: SourceTier, members: "dict[str, JsonNode]", resolve: "ResolveEnv") -> None:
        self.path = path
        self.tier = tier
        self.resolve = resolve
        self.members = members

    def with_environment(self, environment: Mapping[str, str]) -> "SettingsFile":
        """The same file with references resolved in another environment."""
        return SettingsFile(self.path, self.tier, self.members, env_resolver(environment, self.tier))

    def find(self, key: SettingKey) -> "SettingValue | None":
        """The value under the first name that is set; null counts as unset.

        Raises SettingsError if a name leads through something that is not an object.
        """
        for name in key.names:
            node = self._find(name)
            if node is not None:
                return SettingValue(self, name, node)
        return None

    def sets_other_than(self, keys: tuple[SettingKey, ...]) -> bool:
        """Whether it sets anything besides these keys."""
        known = {name for key in keys for name in key.names}
        return any(name not in known for name in _leaf_names(self.members, ""))

    def _find(self, name: str) -> "JsonNode | None":
        members, passed = self.members, ""
        *outer, last = name.split(".")
        for step in outer:
            passed = f"{passed}.{step}" if passed else step
            node = members.get(step)
            if node is None or node.value is None:
                return None
            if not isinstance(node.value, dict):
                if not isinstance(node.value, list) and passed in _FORMERLY_SIMPLE:
                    return None
                raise SettingValue(self, passed, node).error(lazy("an object"))
            members = node.value
        node = members.get(last)
        if node is None or node.value is None or (name in _FORMERLY_SIMPLE and isinstance(node.value, dict)):
            return None
        return node


def parse_settings_file(text: str, path: str, tier: SourceTier, environment: Mapping[str, str]) -> SettingsFile:
    """The settings in the text of a file. Raises SettingsError."""
    from tejat.config.jsonc import JsoncError, parse_jsonc

    try:
        top = parse_jsonc(text)
    except JsoncError as error:
        raise SettingsError(str(error), path=path) from None
    if not isinstance(top.value, dict):
        raise SettingsError(lazy("line {line}: settings must be an object in {{}}", line=top.line), path=path)
    return SettingsFile(path, tier, top.value, env_resolver(environment, tier))


class SettingValue:
    """A value and the name it was found under. The accessors raise SettingsError for a wrong type.

    As in Gemini CLI, a text such as `"true"` or `"3"` is as good as the boolean or number, also after expansion.
    """

    __slots__ = ("file", "name", "node")

    def __init__(self, file: SettingsFile, name: str, node: "JsonNode") -> None:
        self.file = file
        self.name = name
        self.node = node

    @property
    def source(self) -> str:
        return f"{self.file.path}:{self.node.line}"

    @property
    def may_be_secret(self) -> bool:
        """Whether a text here must not be shown."""
        return not _SECRET_KEYS.isdisjoint(self.name.split("."))

    @property
    def is_blank(self) -> bool:
        """Whether an empty text is written here; one that a reference leaves empty is not meant."""
        return isinstance(self.node.value, str) and not self.node.value.strip()

    def setting(self, value: _T) -> Setting[_T]:
        """Pair a parsed value with its source."""
        return Setting(value, self.source, self.file.tier)

    def error(self, wanted: str, node: "JsonNode | None" = None) -> SettingsError:
        """The error for an unexpected value; `node` is the invalid part of it."""
        at, name = node or self.node, self.name
        # Shown as written, before references are expanded; possible secrets are not shown at all.
        hides = self.may_be_secret and isinstance(at.value, str)
        found = lazy("a different string") if hides else _describe_value(at.value)
        value = SettingProblem(self.file.path, at.line, name, wanted, found)
        problem = lazy("line {line}: {problem}", line=at.line, problem=value.text)
        return SettingsError(problem, path=self.file.path, value=value)

    def boolean(self) -> bool:
        value = self.node.value
        if isinstance(value, str):
            value = _BOOLEANS.get(self.file.resolve(value).strip().lower())
        if isinstance(value, bool):
            return value
        raise self.error(lazy("true or false"))

    def string(self) -> str:
        if isinstance(self.node.value, str) and (text := self.file.resolve(self.node.value).strip()):
            return text
        raise self.error(lazy("a string"))

    def choice(self, words: Collection[str]) -> str:
        if isinstance(self.node.value, str) and (word := self.string()) in words:
            return word
        raise self.error(" or ".join(words))

    def url(self) -> str:
        if self.string().lower().startswith(("http://", "https://")) and not set(self.string()) & set(" \t\r\n"):
            return self.string()
        raise self.error(lazy("an address that starts with http:// or https://"))

    def seconds(self) -> float | None:
        """A time limit; None for 0, which means no limit."""
        return self._number(lazy("a number of seconds, or 0 for no limit")) or None

    def limit(self) -> int | None:
        """A limit; None for 0 or less, which means no limit."""
        value = self._whole_number()
        if value is None:
            raise self.error(lazy("an integer, or 0 for no limit"))
        return value if value > 0 else None

    def count(self) -> int:
        value = self._whole_number()
        if value is None or value < 1:
            raise self.error(lazy("an integer of at least 1"))
        return value

    def number(self) -> float:
        return self._number(lazy("a number of at least 0"))

    def fraction(self) -> float:
        return self._number(lazy("a number from 0 to 1"), maximum=1)

    def _number(self, expected: str, maximum: float = _MAX_NUMBER) -> float:
        value = self._numeric()
        if value is None or not 0 <= value <= maximum:
            raise self.error(expected)
        return float(value)

    def _whole_number(self) -> int | None:
        value = self._numeric()
        return value if isinstance(value, int) else int(value) if value is not None and value.is_integer() else None

    def _numeric(self) -> int | float | None:
        value = self.node.value
        if isinstance(value, str) and re.fullmatch(_NUMBER, text := self.file.resolve(value).strip()):
            return float(text) if "." in text else int(text)
        return value if isinstance(value, int | float) and not isinstance(value, bool) else None

    def strings(self) -> tuple[str, ...]:
        return tuple(entry.string() for entry in self.entries())

    def entries(self) -> "list[SettingValue]":
        """The non-blank strings in a list, each with its own line."""
        if not isinstance(self.node.value, list):
            raise self.error(lazy("a list of strings"))
        found: list[SettingValue] = []
        for node in self.node.value:
            if not isinstance(node.value, str):
                raise self.error(lazy("a list of strings"), node)
            if self.file.resolve(node.value).strip():
                found.append(SettingValue(self.file, self.name, node))
        return found

    def entries_or_one(self) -> "list[SettingValue]":
        """Like `entries`, but a single string counts as a list of one."""
        if isinstance(self.node.value, str):
            return [self] if self.file.resolve(self.node.value).strip() else []
        return self.entries()

    def items_or_one(self) -> "list[SettingValue]":
        """The items of a list of anything, each with its own line; another value counts as a list of one."""
        if not isinstance(self.node.value, list):
            return [self]
        return [SettingValue(self.file, self.name, node) for node in self.node.value]

    def members(self) -> "dict[str, SettingValue]":
        """The members of an object, each with its own line, without null."""
        if not isinstance(self.node.value, dict):
            raise self.error(lazy("an object"))
        return {
            name: SettingValue(self.file, f"{self.name}.{name}", node)
            for name, node in self.node.value.items()
            if node.value is not None
        }

    def json(self) -> "JsonValue":
        """The value as JSON, with references expanded."""
        return to_json(self.node, self.file.resolve)

    def raw_json(self) -> "JsonValue":
        """The value as JSON, with references left alone: command lines are for a shell to expand."""
        return to_json(self.node)

    def json_object(self) -> "JsonObject":
        return {name: member.json() for name, member in self.members().items()}


class MergedObject(SettingValue):
    """An object with the members of another one over its own. It has the position of the first."""

    __slots__ = ("_above", "_below")

    def __init__(self, below: SettingValue, above: SettingValue) -> None:
        super().__init__(below.file, below.name, below.node)
        self._below = below
        self._above = above

    def members(self) -> dict[str, SettingValue]:
        return {**self._below.members(), **self._above.members()}


def to_json(node: "JsonNode", resolve: "ResolveEnv" = str) -> "JsonValue":
    """The value of a node as JSON, with its texts resolved."""
    match node.value:
        case str(text):
            return resolve(text)
        case list(items):
            return [to_json(item, resolve) for item in items]
        case dict(members):
            return {name: to_json(member, resolve) for name, member in members.items()}
        case value:
            return value


def _leaf_names(members: "dict[str, JsonNode]", before: str) -> list[str]:
    names: list[str] = []
    for name, node in members.items():
        if isinstance(node.value, dict):
            names += _leaf_names(node.value, f"{before}{name}.")
        else:
            names.append(before + name)
    return names


def _describe_value(value: "JsoncValue") -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return lazy("the number {value}", value=value)
        case str():
            if len(value) <= _MAX_SHOWN:
                return lazy("{value!r}", value=value)
            return lazy("{value!r}...", value=value[:_MAX_SHOWN])
        case list():
            return lazy("a list")
        case dict():
            return lazy("an object")
        case _:
            return "null"


_MAX_SHOWN = 60
_BOOLEANS = {"true": True, "false": False}
_NUMBER = r"-?[0-9]{1,15}(?:\.[0-9]{1,15})?"
# `model` and `sandbox` used to be a text or a switch; now they are objects.
_FORMERLY_SIMPLE = frozenset({"model", "sandbox"})
_SECRET_KEYS = frozenset({"env", "headers", "oauth", "baseUrl", "searchUrl"})
