"""The file that a setting of the user is written to.

The user has two settings files: that of Gemini CLI, and Tejat's own, which has precedence. Nothing is written to the
first that Gemini CLI does not understand.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from tejat.config.files.reader import AllowedWriters
from tejat.config.paths import AppPaths, SourceTier
from tejat.config.settings.editor import edit_settings, remove_member, set_member
from tejat.config.settings.file import SettingKey
from tejat.config.settings.known_keys import KnownKey, load_known_keys
from tejat.config.settings.loader import read_settings_file
from tejat.core.messages.types import JsonValue


def settings_path_for(paths: AppPaths, key: str, value: JsonValue) -> str:
    """The user's file for a value of a setting."""
    return paths.user_settings if gemini_accepts(key, value) else paths.own_settings


def gemini_accepts(key: str, value: JsonValue) -> bool:
    """Whether Gemini CLI knows the setting and has a meaning for the value. `key` is the present name."""
    known_keys = load_known_keys()
    if isinstance(value, Mapping) and key in known_keys.groups:
        return all(gemini_accepts(f"{key}.{name}", member) for name, member in value.items())
    group, _, name = key.rpartition(".")
    if group == "mcpServers":
        return isinstance(value, Mapping) and not own_server_fields(value)
    known = known_keys.find(key)
    if known is None:
        # A member of an object that has members of its own, such as `telemetry.enabled`.
        holder = known_keys.find(group)
        return holder is not None and not holder.is_own and name in holder.members
    return not known.is_own and any(_is_of_type(value, kind, known) for kind in known.types)


def own_server_fields(entry: Iterable[str]) -> list[str]:
    """The fields of an MCP server's entry that Gemini CLI does not know."""
    return [name for name in entry if name not in _GEMINI_SERVER_FIELDS]


def _is_of_type(value: JsonValue, kind: str, known: KnownKey) -> bool:
    match kind:
        case "boolean":
            return isinstance(value, bool) or (isinstance(value, str) and value.lower() in ("true", "false"))
        case "number":
            is_text = isinstance(value, str) and re.fullmatch(r"-?[0-9]+(?:\.[0-9]+)?", value) is not None
            return is_text or (isinstance(value, int | float) and not isinstance(value, bool))
        case "enum":
            return value in known.words
        case "string":
            return isinstance(value, str) and re.fullmatch(_GEMINI_TEXTS.get(known.name, ".*"), value) is not None
        case "array":
            return isinstance(value, Sequence) and not isinstance(value, str)
        case _:
            return isinstance(value, Mapping) and (not known.members or set(value) <= set(known.members))


class UserSettings:
    """The user's two settings files. All methods raise SettingsError, UsageError and OSError."""

    def __init__(self, paths: AppPaths) -> None:
        self._paths = paths

    def write(self, key: SettingKey, value: JsonValue) -> str:
        """Write a setting and return the path of the file. Comments and layout of the file are kept.

        In a file that has the setting under an older name, that name stays.
        """
        accepted = next((name for name in key.names if gemini_accepts(name, value)), None)
        path = self._paths.own_settings if accepted is None else self._paths.user_settings
        name = self._name_in(path, key) or accepted or key.names[0]
        self._edit(path, partial(set_member, names=name.split("."), given=value))
        if path == self._paths.user_settings:
            # What is in the other file has precedence.
            self._remove_from(self._paths.own_settings, key)
        return path

    def remove(self, key: SettingKey) -> None:
        """Remove a setting from Tejat's own file, or from the other one if it is only there."""
        if not self._remove_from(self._paths.own_settings, key):
            self._remove_from(self._paths.user_settings, key)

    def is_on(self, key: SettingKey) -> bool:
        """Whether one of the files sets it to true."""
        files = [
            read_settings_file(path, SourceTier.USER, {})
            for path in (self._paths.own_settings, self._paths.user_settings)
        ]
        found = [file.find(key) for file in files if file is not None]
        return any(value is not None and value.boolean() for value in found)

    def add_entry(self, key: SettingKey, entry: str) -> list[str]:
        """Add an entry to a list that all files add to, unless a file of the user has it. Returns the path written."""
        if any(entry in entries for _, entries in self._lists(key)):
            return []
        path = settings_path_for(self._paths, key.names[0], [entry])
        name = self._name_in(path, key) or key.names[0]
        present = [each for found, entries in self._lists(key) if found == (path, name) for each in entries]
        self._edit(path, partial(set_member, names=name.split("."), given=[*present, entry]))
        return [path]

    def remove_entry(self, key: SettingKey, entry: str) -> list[str]:
        """Remove an entry from the lists in the files of the user. Returns the paths of those that had it."""
        changed: dict[str, None] = {}
        for (path, name), entries in self._lists(key):
            if entry in entries:
                kept: list[JsonValue] = [each for each in entries if each != entry]
                self._edit(path, partial(set_member, names=name.split("."), given=kept))
                changed[path] = None
        return list(changed)

    def _lists(self, key: SettingKey) -> list[tuple[tuple[str, str], tuple[str, ...]]]:
        """The lists in the files of the user, each with its path and name."""
        files = [
            file
            for path in (self._paths.user_settings, self._paths.own_settings)
            if (file := read_settings_file(path, SourceTier.USER, {})) is not None
        ]
        return [
            ((file.path, name), found.strings())
            for file in files
            for name in key.names
            if (found := file.find(SettingKey(name))) is not None
        ]

    def _remove_from(self, path: str, key: SettingKey) -> bool:
        file = read_settings_file(path, SourceTier.USER, {})
        names = [name for name in key.names if file is not None and file.find(SettingKey(name)) is not None]
        for name in names:
            self._edit(path, partial(remove_member, names=name.split(".")))
        return bool(names)

    def _name_in(self, path: str, key: SettingKey) -> str | None:
        """The name of the setting in a file, None if it is not there."""
        file = read_settings_file(path, SourceTier.USER, {})
        found = None if file is None else file.find(key)
        return None if found is None else found.name

    def _edit(self, path: str, change: Callable[[str], str]) -> None:
        edit_settings(self._paths, path, change, writers=AllowedWriters.TRUSTED)


_AUTH_TYPES = r"oauth-personal|gemini-api-key|vertex-ai|cloud-shell|compute-default-credentials|gateway"
_GEMINI_TEXTS = {
    "model.name": r"auto(?:-gemini-[\w.-]+)?|pro|flash|flash-lite|(?:models/|tunedModels/)?(?:gemini|gemma)-[\w./-]+",
    "tools.sandbox": r"true|false|docker|podman|sandbox-exec|runsc|lxc|windows-native",
    "security.auth.selectedType": _AUTH_TYPES,
    "security.auth.enforcedType": _AUTH_TYPES,
    "ui.theme": (
        r"ANSI(?: Light)?|Atom One|Ayu(?: Light)?|Default(?: Light)?|Dracula|"
        r"GitHub(?: Light| (?:Dark|Light) Colorblind)?|Google Code|Holiday|NoColor|"
        r"Shades Of Purple|Solarized (?:Dark|Light)|Tokyo Night|Xcode"
    ),
}
"""The texts that Gemini CLI has a meaning for, if not every text."""

_GEMINI_SERVER_FIELDS = frozenset(
    {
        *("command", "args", "env", "cwd", "url", "httpUrl", "headers", "tcp", "type", "timeout", "trust"),
        *("description", "includeTools", "excludeTools", "extension", "oauth"),
        *("authProviderType", "targetAudience", "targetServiceAccount"),
    }
)
