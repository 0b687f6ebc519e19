"""Strategies for merging a setting from several files."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, cast

from tejat.config.paths import SourceTier
from tejat.config.settings.file import SettingKey, SettingsFile, SettingValue
from tejat.config.settings.types import Setting
from tejat.core.approval.modes import SandboxMode

if TYPE_CHECKING:
    from tejat.core.messages.types import JsonObject, JsonValue

ParseSetting: TypeAlias = Callable[[SettingValue], object]
MergeSetting: TypeAlias = Callable[[Sequence[SettingsFile], SettingKey, ParseSetting, object], object]
"""Merges a setting. Arguments: the files, lowest precedence first, the key, the parser and the default. Every file is
parsed even if it is overridden, so that no invalid value goes unnoticed."""


def _find_all(files: Sequence[SettingsFile], key: SettingKey) -> "Iterator[SettingValue]":
    return (found for file in files if (found := file.find(key)))


def last_wins(files: Sequence[SettingsFile], key: SettingKey, read: ParseSetting, default: object) -> object:
    kept = default
    for found in _find_all(files, key):
        kept = found.setting(read(found))
    return kept


def without_project(merge: MergeSetting) -> MergeSetting:
    """The strategy, ignoring project settings even if they are trusted."""

    def merged(files: Sequence[SettingsFile], key: SettingKey, read: ParseSetting, default: object) -> object:
        return merge([file for file in files if file.tier is not SourceTier.WORKSPACE], key, read, default)

    return merged


def project_may_tighten(files: Sequence[SettingsFile], key: SettingKey, read: ParseSetting, default: object) -> object:
    """Like `last_wins`, but a project can only make the setting stricter."""
    kept = cast("Setting[object]", default)
    for found in _find_all(files, key):
        value = read(found)
        if found.file.tier is not SourceTier.WORKSPACE or _STRICTNESS.index(value) > _STRICTNESS.index(kept.value):
            kept = found.setting(value)
    return kept


def project_may_narrow(files: Sequence[SettingsFile], key: SettingKey, read: ParseSetting, default: object) -> object:
    """Like `last_wins` for an allowlist: a project can remove entries, not add any."""
    kept = cast("Setting[tuple[str, ...]] | None", default)
    for found in _find_all(files, key):
        names = cast("tuple[str, ...]", read(found))
        if found.file.tier is SourceTier.WORKSPACE and kept is not None:
            names = tuple(name for name in kept.value if name in names)
            kept = kept if names == kept.value else found.setting(names)
        else:
            kept = found.setting(names)
    return kept


def union(files: Sequence[SettingsFile], key: SettingKey, read: ParseSetting, default: object) -> object:
    """The entries of all lists, each once, with its last source."""
    entries = {entry.value: entry for entry in cast("tuple[Setting[str], ...]", default)}
    for found in _find_all(files, key):
        read(found)
        entries |= {entry.string(): entry.setting(entry.string()) for entry in found.entries()}
    return tuple(entries.values())


def merge_by_name(files: Sequence[SettingsFile], key: SettingKey, read: ParseSetting, default: object) -> object:
    """The members of all objects; later ones replace earlier ones of the same name."""
    members = dict(cast("Mapping[str, Setting[object]]", default))
    for found in _find_all(files, key):
        members |= {name: member.setting(read(member)) for name, member in found.members().items()}
    return members


def project_may_add(files: Sequence[SettingsFile], key: SettingKey, read: ParseSetting, default: object) -> object:
    """Like `merge_by_name`, but a project cannot replace a member of others: rules refer to it by name."""
    members = dict(cast("Mapping[str, Setting[object]]", default))
    for name, member, is_taken in _iter_members(files, key):
        setting = member.setting(read(member))
        if not is_taken:
            members[name] = setting
    return members


def find_name_conflicts(files: Sequence[SettingsFile], key: SettingKey) -> tuple[Setting[str], ...]:
    """The names in project settings that are already taken."""
    return tuple(member.setting(name) for name, member, is_taken in _iter_members(files, key) if is_taken)


def _iter_members(files: Sequence[SettingsFile], key: SettingKey) -> "Iterator[tuple[str, SettingValue, bool]]":
    """Every member of the objects, and whether it is a project member whose name is taken."""
    found = list(_find_all(files, key))
    of_others = {name for each in found if each.file.tier is not SourceTier.WORKSPACE for name in each.members()}
    for each in found:
        for name, member in each.members().items():
            yield name, member, each.file.tier is SourceTier.WORKSPACE and name in of_others


def concatenate(files: Sequence[SettingsFile], key: SettingKey, read: ParseSetting, default: object) -> object:
    """The members of all objects, each with the entries of every file in order. No file drops another's."""
    members = dict(cast("Mapping[str, tuple[Setting[object], ...]]", default))
    for found in _find_all(files, key):
        for name, member in found.members().items():
            added = tuple(entry.setting(read(entry)) for entry in member.items_or_one())
            members[name] = (*members.get(name, ()), *added)
    return members


def merge_deep(files: Sequence[SettingsFile], key: SettingKey, read: ParseSetting, default: object) -> object:
    """Merge objects recursively."""
    kept = cast("Setting[JsonObject]", default)
    for found in _find_all(files, key):
        kept = found.setting(_merge_objects(kept.value, cast("JsonObject", read(found))))
    return kept


def _merge_objects(below: "JsonObject", above: "JsonObject") -> "JsonObject":
    merged: dict[str, JsonValue] = dict(below)
    for name, new in above.items():
        old = merged.get(name)
        merged[name] = _merge_objects(old, new) if isinstance(old, Mapping) and isinstance(new, Mapping) else new
    return merged


_STRICTNESS = (SandboxMode.OFF, False, SandboxMode.AUTO, SandboxMode.REQUIRED, True)
