"""How the files that give the same setting are made one: the last word, all of them together, or name by name."""

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
"""What a field of the settings becomes. The files are in order, the last one has the last word; then comes what holds
if none of them says anything. Every file is read even if it is overruled, so that no wrong value goes unseen."""


def last_wins(files: Sequence[SettingsFile], key: SettingKey, read: ParseSetting, default: object) -> object:
    kept = default
    for file in files:
        if found := file.find(key):
            kept = found.setting(read(found))
    return kept


def without_project(merge: MergeSetting) -> MergeSetting:
    """The same for what a project has no say in, trusted or not."""

    def merged(files: Sequence[SettingsFile], key: SettingKey, read: ParseSetting, default: object) -> object:
        return merge([file for file in files if file.tier is not SourceTier.WORKSPACE], key, read, default)

    return merged


def project_may_tighten(files: Sequence[SettingsFile], key: SettingKey, read: ParseSetting, default: object) -> object:
    """As `last`, but a project is heard only where it asks for more than what holds already."""
    kept = cast("Setting[object]", default)
    for file in files:
        if found := file.find(key):
            value = read(found)
            if file.tier is not SourceTier.WORKSPACE or _strictness(value) > _strictness(kept.value):
                kept = found.setting(value)
    return kept


def project_may_narrow(files: Sequence[SettingsFile], key: SettingKey, read: ParseSetting, default: object) -> object:
    """As `last` for a list of all that there may be: a project can take entries away from what others say, not add."""
    kept = cast("Setting[tuple[str, ...]] | None", default)
    for file in files:
        if found := file.find(key):
            names = cast("tuple[str, ...]", read(found))
            if file.tier is SourceTier.WORKSPACE and kept is not None:
                names = tuple(name for name in kept.value if name in names)
                kept = kept if names == kept.value else found.setting(names)
            else:
                kept = found.setting(names)
    return kept


def union(files: Sequence[SettingsFile], key: SettingKey, read: ParseSetting, default: object) -> object:
    """The entries of all lists, each once, from the last that names it."""
    entries = {entry.value: entry for entry in cast("tuple[Setting[str], ...]", default)}
    for file in files:
        if found := file.find(key):
            read(found)
            entries |= {entry.string(): entry.setting(entry.string()) for entry in found.entries()}
    return tuple(entries.values())


def merge_by_name(files: Sequence[SettingsFile], key: SettingKey, read: ParseSetting, default: object) -> object:
    """The members of all objects; of two with the same name the later one holds, whole."""
    members = dict(cast("Mapping[str, Setting[object]]", default))
    for file in files:
        if found := file.find(key):
            members |= {name: member.setting(read(member)) for name, member in found.members().items()}
    return members


def project_may_add(files: Sequence[SettingsFile], key: SettingKey, read: ParseSetting, default: object) -> object:
    """As `by_name`, but a project takes over no name that somebody else has given: rules know what they mean by it."""
    members = dict(cast("Mapping[str, Setting[object]]", default))
    for name, member, is_taken in _iter_members(files, key):
        setting = member.setting(read(member))
        if not is_taken:
            members[name] = setting
    return members


def find_name_conflicts(files: Sequence[SettingsFile], key: SettingKey) -> tuple[Setting[str], ...]:
    """The names that a project gives there and that are somebody else's."""
    return tuple(member.setting(name) for name, member, is_taken in _iter_members(files, key) if is_taken)


def _iter_members(files: Sequence[SettingsFile], key: SettingKey) -> "Iterator[tuple[str, SettingValue, bool]]":
    """Every member of the objects, and whether a project gives it a name that is somebody else's."""
    of_others = {
        name
        for file in files
        if file.tier is not SourceTier.WORKSPACE and (found := file.find(key))
        for name in found.members()
    }
    for file in files:
        if found := file.find(key):
            for name, member in found.members().items():
                yield name, member, file.tier is SourceTier.WORKSPACE and name in of_others


def concatenate(files: Sequence[SettingsFile], key: SettingKey, read: ParseSetting, default: object) -> object:
    """The members of all objects: under each name the entries of every file, in order. No file drops another's."""
    members = dict(cast("Mapping[str, tuple[Setting[object], ...]]", default))
    for file in files:
        if found := file.find(key):
            for name, member in found.members().items():
                added = tuple(entry.setting(read(entry)) for entry in member.items_or_one())
                members[name] = (*members.get(name, ()), *added)
    return members


def merge_deep(files: Sequence[SettingsFile], key: SettingKey, read: ParseSetting, default: object) -> object:
    """Objects within each other made one."""
    kept = cast("Setting[JsonObject]", default)
    for file in files:
        if found := file.find(key):
            kept = found.setting(_merge_objects(kept.value, cast("JsonObject", read(found))))
    return kept


def _merge_objects(below: "JsonObject", above: "JsonObject") -> "JsonObject":
    merged: dict[str, JsonValue] = dict(below)
    for name, value in above.items():
        known = merged.get(name)
        merged[name] = (
            _merge_objects(known, value) if isinstance(known, Mapping) and isinstance(value, Mapping) else value
        )
    return merged


def _strictness(value: object) -> int:
    return _STRICTNESS.index(value)


_STRICTNESS = (SandboxMode.OFF, False, SandboxMode.AUTO, SandboxMode.REQUIRED, True)
