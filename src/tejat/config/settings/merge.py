"""Strategies for merging a setting from several files."""

from collections.abc import Callable, Mapping
from typing import TypeAlias, cast

from tejat.config.paths import SourceTier
from tejat.config.settings.file import MergedObject, SettingValue
from tejat.config.settings.reader import SettingReader
from tejat.config.settings.types import Setting

MergeSetting: TypeAlias = Callable[[SettingReader, object], object]
"""Merges the values of a setting. Arguments: the values, and the default."""


def last_wins(reader: SettingReader, default: object) -> object:
    kept = default
    for parsed in reader.values():
        kept = parsed.setting
    return kept


def without_project(merge: MergeSetting) -> MergeSetting:
    """The strategy, ignoring project settings even if they are trusted."""

    def merged(reader: SettingReader, default: object) -> object:
        return merge(reader.without_project(), default)

    return merged


def project_may_tighten(*order: object) -> MergeSetting:
    """Like `last_wins`, but a project can only make the setting stricter, wherever its file stands among the others.

    `order` has all values, the strictest last: `False, True` for a setting that restricts if it is true. Without a
    default and other files, a project can only ask for the strictest value.
    """

    def merged(reader: SettingReader, default: object) -> object:
        kept = cast("Setting[object] | None", last_wins(reader.without_project(), default))
        for parsed in reader.of_project().values():
            strictness = len(order) - 2 if kept is None else order.index(kept.value)
            if order.index(parsed.value) > strictness:
                kept = parsed.setting
        return kept

    return merged


def project_may_lower(reader: SettingReader, default: object) -> object:
    """Like `last_wins` for a limit, None for no limit: a project can only lower it."""
    kept = cast("Setting[int | None]", last_wins(reader.without_project(), default))
    for parsed in reader.of_project().values():
        limit = cast("int | None", parsed.value)
        if limit is not None and (kept.value is None or limit < kept.value):
            kept = Setting(limit, parsed.found.source, parsed.found.file.tier)
    return kept


def strict_value_wins(*, strict: object) -> MergeSetting:
    """The strict value if any file gives it, with the source of the last one; another value changes nothing."""

    def merged(reader: SettingReader, default: object) -> object:
        kept = default
        for parsed in reader.values():
            if parsed.value == strict:
                kept = parsed.setting
        return kept

    return merged


def project_may_complete(reader: SettingReader, default: object) -> object:
    """Like `last_wins`, but a project counts only where no other file gives a value."""
    kept = last_wins(reader.without_project(), None)
    return last_wins(reader.of_project(), default) if kept is None else kept


def every_file(reader: SettingReader, default: object) -> object:
    """The values of all files, each with its source, lowest precedence first."""
    return (*cast("tuple[Setting[object], ...]", default), *(parsed.setting for parsed in reader.values()))


def project_may_narrow(reader: SettingReader, default: object) -> object:
    """Like `last_wins` for an allowlist: a project can remove entries, not add any."""
    kept = cast("Setting[tuple[str, ...]] | None", last_wins(reader.without_project(), default))
    for parsed in reader.of_project().values():
        kept = _narrowed(kept, cast("Setting[tuple[str, ...]]", parsed.setting))
    return kept


def project_may_add_lists(reader: SettingReader, default: object) -> object:
    """The last list of the other files and every list of projects, for a value that all of them must permit.

    An empty list permits everything and is left out.
    """
    kept = cast("Setting[tuple[str, ...]] | None", last_wins(reader.without_project(), None))
    lists = [*([] if kept is None else [kept]), *(parsed.setting for parsed in reader.of_project().values())]
    return tuple(each for each in lists if each.value) or default


def intersection(reader: SettingReader, default: object) -> object:
    """The entries that are in every list, with the source of the last list that removed one."""
    kept = cast("Setting[tuple[str, ...]] | None", default)
    for parsed in reader.values():
        kept = _narrowed(kept, cast("Setting[tuple[str, ...]]", parsed.setting))
    return kept


def _narrowed(kept: Setting[tuple[str, ...]] | None, given: Setting[tuple[str, ...]]) -> Setting[tuple[str, ...]]:
    if kept is None:
        return given
    names = [name for name in kept.value if _covers(given.value, name)]
    # `run_shell_command(git)` is narrower than `run_shell_command`.
    names += [name for name in given.value if name not in names and _covers(kept.value, name)]
    return kept if tuple(names) == kept.value else Setting(tuple(names), given.source, given.tier)


def _covers(entries: tuple[str, ...], name: str) -> bool:
    """Whether the name is in a list, or the tool without its arguments is."""
    return name in entries or name.partition("(")[0].strip() in entries


def union(reader: SettingReader, default: object) -> object:
    """The entries of all lists of texts, each once, with its last source."""
    entries = {entry.value: entry for entry in cast("tuple[Setting[str], ...]", default)}
    for parsed in reader.values():
        entries |= {entry.string(): entry.setting(entry.string()) for entry in parsed.found.entries()}
    return tuple(entries.values())


def merge_by_name(reader: SettingReader, default: object) -> object:
    """The members of all objects; later ones replace earlier ones of the same name."""
    members = dict(cast("Mapping[str, Setting[object]]", default))
    members.update((name, parsed.setting) for name, parsed in reader.members())
    return members


def merge_servers(reader: SettingReader, default: object) -> object:
    """Like `merge_by_name`, but a project cannot replace a member of others: rules refer to it by name.

    Of a member that both files of the user have, the fields are merged: one of them may have fields that Gemini CLI
    does not know.
    """
    members = dict(cast("Mapping[str, Setting[object]]", default))
    of_others: dict[str, SettingValue] = {}
    for name, parsed in reader.without_project().members():
        below, above = of_others.get(name), parsed.found
        is_of_user = below is not None and below.file.tier is above.file.tier is SourceTier.USER
        of_others[name] = MergedObject(below, above) if below is not None and is_of_user else above
    members.update((name, parsed.setting) for name, parsed in reader.of_project().members() if name not in of_others)
    for name, found in of_others.items():
        members.update((name, parsed.setting) for parsed in reader.parse(found))
    return members


def find_name_conflicts(reader: SettingReader) -> tuple[Setting[str], ...]:
    """The names in project settings that are already taken."""
    of_others = dict(reader.without_project().members())
    return tuple(parsed.found.setting(name) for name, parsed in reader.of_project().members() if name in of_others)


def concatenate(reader: SettingReader, default: object) -> object:
    """The members of all objects, each with the entries of every file in order. No file drops another's."""
    members = dict(cast("Mapping[str, tuple[Setting[object], ...]]", default))
    for name, parsed in reader.member_items():
        members[name] = (*members.get(name, ()), parsed.setting)
    return members


def merge_agent_overrides(reader: SettingReader, default: object) -> object:
    """The entries of each agent in all files, lowest precedence first, those of a project last."""
    entries = dict(cast("Mapping[str, tuple[Setting[object], ...]]", default))
    for part in (reader.without_project(), reader.of_project()):
        for parsed in part.values():
            for name, override in cast("Mapping[str, object]", parsed.value).items():
                entries[name] = (*entries.get(name, ()), parsed.found.setting(override))
    return entries
