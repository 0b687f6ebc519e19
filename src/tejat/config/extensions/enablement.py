"""Where extensions are on and off: `extension-enablement.json`, shared with Gemini CLI."""

import os
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple, cast

from tejat.config.files.reader import AllowedWriters, read_config_file
from tejat.config.paths import AppPaths
from tejat.core.errors import ConfigurationError
from tejat.core.frozen import Frozen, field
from tejat.core.i18n import lazy
from tejat.core.json_text import InvalidJson, dump_json, load_json
from tejat.core.messages.types import JsonValue

EVERYWHERE = "/"
"""The directory of a rule that holds in every directory."""
_LOCK_TIMEOUT = 5.0
_MAX_STARS = 8


class EnablementRule(NamedTuple):
    """A rule for a directory, which has slashes at both ends, and with `is_tree` for everything below it."""

    directory: str
    is_on: bool
    is_tree: bool = True

    @classmethod
    def parse(cls, text: str) -> "EnablementRule":
        base = text.removeprefix("!")
        return cls(base.removesuffix("*"), not text.startswith("!"), base.endswith("*"))

    def matches(self, directory: str) -> bool:
        """Whether it is about a directory that has slashes at both ends."""
        if "*" in self.directory:
            return _matches_stars(f"{self.directory}{'*' if self.is_tree else ''}", directory)
        return directory.startswith(self.directory) if self.is_tree else directory == self.directory

    def __str__(self) -> str:
        return f"{'' if self.is_on else '!'}{self.directory}{'*' if self.is_tree else ''}"


class ExtensionEnablement(Frozen):
    """The rules by the name of the extension. With a `problem` the file cannot be read, and everything is off."""

    rules: Mapping[str, tuple[EnablementRule, ...]] = field(default_factory=dict[str, tuple[EnablementRule, ...]])
    problem: str = ""

    def is_enabled(self, name: str, directory: str) -> bool:
        """Whether the extension is on in a directory. The last matching rule counts; without one it is on."""
        return not self.problem and ((rule := self.deciding_rule(name, directory)) is None or rule.is_on)

    def deciding_rule(self, name: str, directory: str) -> EnablementRule | None:
        rules = self.rules.get(name)
        if not rules:
            return None
        place = _with_slashes(os.path.realpath(directory))
        matching = [rule for rule in rules if rule.matches(place)]
        return matching[-1] if matching else None


def read_enablement(paths: AppPaths) -> ExtensionEnablement:
    """Read the rules. Raises nothing: a file that cannot be read is a problem."""
    try:
        content = _read(paths.extension_enablement)
        return ExtensionEnablement({name: _rules_in(entry) for name, entry in content.items()})
    except ConfigurationError as error:
        return ExtensionEnablement(problem=str(error))


def set_extension_enabled(paths: AppPaths, name: str, directory: str, *, enabled: bool) -> None:
    """Turn an extension on or off in a directory and everything below it, `EVERYWHERE` for all directories.

    Rules about the same directory and those below it are removed. Raises ConfigurationError for a file that cannot be
    read, UsageError, and OSError if it cannot be written.
    """
    place = EVERYWHERE if directory == EVERYWHERE else _with_slashes(os.path.realpath(directory))
    new = EnablementRule(place, enabled)

    def change(content: dict[str, JsonValue]) -> None:
        kept = [rule for rule in _rules_in(content.get(name)) if not _is_replaced(rule, new)]
        content[name] = _with_overrides(content.get(name), [*kept, new])

    _update(paths, change)


def remove_enablement(paths: AppPaths, name: str) -> None:
    """Remove all rules about an extension. Raises as `set_extension_enabled` does."""

    def change(content: dict[str, JsonValue]) -> None:
        content.pop(name, None)

    if name in _read(paths.extension_enablement):
        _update(paths, change)


def rename_enablement(paths: AppPaths, old: str, new: str) -> None:
    """Keep the rules of an extension under its new name. Raises as `set_extension_enabled` does."""

    def change(content: dict[str, JsonValue]) -> None:
        content[new] = content.pop(old)

    if old in _read(paths.extension_enablement):
        _update(paths, change)


def _is_replaced(rule: EnablementRule, new: EnablementRule) -> bool:
    is_same = rule.directory == new.directory and rule.is_tree == new.is_tree
    return is_same or new.matches(rule.directory)


def _with_overrides(entry: JsonValue, rules: list[EnablementRule]) -> JsonValue:
    others = dict(entry) if isinstance(entry, Mapping) else {}
    return {**others, "overrides": [str(rule) for rule in rules]}


def _update(paths: AppPaths, change: Callable[[dict[str, JsonValue]], None]) -> None:
    # Imported late: a session only reads.
    from tejat.config.files.directory import make_private_directory
    from tejat.config.files.lock import file_lock
    from tejat.workspace.files.private_files import write_private_file

    make_private_directory(paths.locks)
    os.makedirs(paths.extensions, mode=0o700, exist_ok=True)
    with file_lock(paths.lock(paths.extension_enablement), timeout=_LOCK_TIMEOUT):
        content = _read(paths.extension_enablement)
        change(content)
        write_private_file(paths.extension_enablement, dump_json(content, indent=2) + "\n")


def _read(path: str) -> dict[str, JsonValue]:
    text = read_config_file(path, writers=AllowedWriters.TRUSTED)
    if text is None:
        return {}
    try:
        content = load_json(text)
    except InvalidJson as error:
        raise _unusable(path, str(error)) from None
    if not isinstance(content, dict):
        raise _unusable(path, lazy("it must be an object in {{}}"))
    entries = cast("dict[str, JsonValue]", content)
    for name, entry in entries.items():
        overrides = entry.get("overrides", ()) if isinstance(entry, Mapping) else None
        if not isinstance(overrides, list | tuple) or not all(map(_is_rule, overrides)):
            raise _unusable(path, lazy("{name} must be an object with a list of overrides", name=name))
    return entries


def _is_rule(given: JsonValue) -> bool:
    return isinstance(given, str) and given.count("*") <= _MAX_STARS


def _rules_in(entry: JsonValue) -> tuple[EnablementRule, ...]:
    overrides = entry.get("overrides") if isinstance(entry, Mapping) else None
    found = overrides if isinstance(overrides, list | tuple) else ()
    return tuple(EnablementRule.parse(rule) for rule in found if isinstance(rule, str))


def _with_slashes(directory: str) -> str:
    return f"/{inner}/" if (inner := directory.strip("/")) else "/"


def _matches_stars(pattern: str, directory: str) -> bool:
    """Whether a pattern with stars in the middle matches, as Gemini CLI matches it."""
    expression = re.sub(r"(/?)\\\*", r"(?:\1.*)?", re.escape(pattern))
    return re.fullmatch(expression, directory, re.DOTALL) is not None


def _unusable(path: str, why: str) -> ConfigurationError:
    return ConfigurationError(
        lazy("Could not read {path}: {why}. All extensions are off until you fix or remove it.", path=path, why=why),
        path=path,
    )
