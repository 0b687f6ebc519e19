"""Settings in Gemini CLI's file that only Tejat can use, and their relocation to Tejat's own file."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from tejat.config.files.reader import AllowedWriters
from tejat.config.jsonc import JsonNode, parse_jsonc
from tejat.config.paths import AppPaths, SourceTier
from tejat.config.settings.destination import gemini_accepts, own_server_fields
from tejat.config.settings.editor import edit_settings, remove_member, set_member
from tejat.config.settings.file import SettingKey, SettingsError, SettingsFile, SettingValue, to_json
from tejat.config.settings.known_keys import load_known_keys
from tejat.config.settings.loader import read_settings_file
from tejat.config.settings.schema import SETTINGS
from tejat.config.settings.schema.spec import SettingSpec
from tejat.core.frozen import Frozen
from tejat.core.messages.types import JsonValue


class MisplacedSetting(Frozen):
    """A value in Gemini CLI's file that Gemini CLI cannot use.

    `names` is the path of keys in that file, `destination` the one for Tejat's own file. If `is_overridden`, that file
    has another value already.
    """

    names: tuple[str, ...]
    destination: tuple[str, ...]
    value: JsonValue
    source: str
    is_overridden: bool

    @property
    def key(self) -> str:
        return ".".join(self.names)


def find_misplaced_settings(paths: AppPaths, environment: Mapping[str, str]) -> list[MisplacedSetting]:
    """Find the values. `environment` is what references may name. Raises ConfigurationError for unusable files."""
    file = read_settings_file(paths.user_settings, SourceTier.USER, environment)
    if file is None:
        return []
    own = read_settings_file(paths.own_settings, SourceTier.USER, environment)
    return [
        MisplacedSetting(names, destination, found.raw_json(), found.source, _is_overridden(own, destination, found))
        for row in SETTINGS
        for found, names, destination in _unusable_values(file, row)
    ]


def move_misplaced_settings(paths: AppPaths, settings: Sequence[MisplacedSetting]) -> list[MisplacedSetting]:
    """Move values to Tejat's own file and return those that were moved; comments stay where they are.

    A value that was changed meanwhile, or that the other file has already, is left alone. Each file is replaced
    atomically, the destination first, so that no value is ever missing from both. Raises SettingsError, UsageError and
    OSError.
    """
    moved = [setting for setting in settings if not setting.is_overridden]

    def add(text: str) -> str:
        for setting in moved:
            if _value_at(text, setting.destination) is None:
                text = set_member(text, setting.destination, setting.value)
        return text

    def remove(text: str) -> str:
        for setting in moved:
            if _value_at(text, setting.names) == setting.value:
                text = remove_member(text, setting.names)
        return text

    if moved:
        edit_settings(paths, paths.own_settings, add, writers=AllowedWriters.TRUSTED)
        edit_settings(paths, paths.user_settings, remove, writers=AllowedWriters.TRUSTED)
    return moved


def _unusable_values(file: SettingsFile, row: SettingSpec) -> "Iterator[_PlacedValue]":
    """The values of a setting that Tejat can use and Gemini CLI cannot."""
    key = row.key.names[0]
    for name in row.key.names:
        try:
            found = file.find(SettingKey(name))
            if found is None or key == "hooks" or _has_other_values(name):
                continue
            if key == "mcpServers":
                yield from _own_fields(found)
            elif _is_own_value(key, found.json()) and not gemini_accepts(name, found.json()):
                row.read(found)
                yield found, tuple(name.split(".")), tuple(key.split("."))
        except SettingsError:
            continue  # Tejat cannot use it either, and reports it


def _has_other_values(name: str) -> bool:
    """Whether a value under an older name would mean something else under the present one."""
    known = load_known_keys()
    former = known.find_former(name)
    return name in known.retired or (former is not None and former.is_negated)


def _is_own_value(key: str, value: JsonValue) -> bool:
    """Whether only Tejat has a meaning for a value, and not just no program at all."""
    known = load_known_keys()
    if isinstance(value, Mapping) and (key in known.groups or ((found := known.find(key)) and not found.is_own)):
        return False  # unknown members are another matter
    if isinstance(value, str) and key in _OWN_TEXTS:
        return re.match(_OWN_TEXTS[key], value) is not None
    return not gemini_accepts(key, value)


_OWN_TEXTS = {
    "model.name": r"[a-z]+:|claude-|gpt-|chatgpt-|codex-|o[1-9](?:-|$)",
    "tools.sandbox": r"(?:auto|required|off)$",
    "ui.theme": r"(?:auto|dark|light|plain)$",
}
"""Texts that Tejat gave a meaning to, where Gemini CLI has names that only its user knows."""


def _own_fields(servers: SettingValue) -> "Iterator[_PlacedValue]":
    for name, server in servers.members().items():
        fields = server.members()
        for field in own_server_fields(fields):
            names = (servers.name, name, field)
            yield fields[field], names, names


_PlacedValue: TypeAlias = tuple[SettingValue, tuple[str, ...], tuple[str, ...]]
"""A value, its path of keys, and that in Tejat's own file."""


def _is_overridden(own: SettingsFile | None, destination: tuple[str, ...], found: SettingValue) -> bool:
    present = None if own is None else _follow(own.members, destination)
    return present is not None and present != found.raw_json()


def _value_at(text: str, names: tuple[str, ...]) -> JsonValue:
    """The value in the text of a settings file, None if there is none. Raises JsoncError."""
    top = parse_jsonc(text).value
    return _follow(top, names) if isinstance(top, dict) else None


def _follow(members: dict[str, JsonNode], names: tuple[str, ...]) -> JsonValue:
    *outer, last = names
    for name in outer:
        node = members.get(name)
        if node is None or not isinstance(node.value, dict):
            return None
        members = node.value
    node = members.get(last)
    return None if node is None else to_json(node)
