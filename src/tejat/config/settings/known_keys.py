"""The settings of Gemini CLI and what Tejat does with each, read from `gemini_settings.json`.

`scripts/settings-table` maintains that file. It is read only when a settings file has a name that the schema does not
know, and by `tejat doctor`.
"""

import os
from collections.abc import Collection, Iterator, Mapping
from functools import cache, cached_property
from typing import cast

from tejat.core.frozen import Frozen
from tejat.core.json_text import load_json
from tejat.core.messages.types import JsonValue
from tejat.core.text.edit_distance import edit_distance
from tejat.core.text.str_enum import StrEnum

TABLE = os.path.join(os.path.dirname(__file__), "gemini_settings.json")

_MAX_DISTANCE = 2
_DISTANCE_SHARE = 5
_MAX_COMPARED_LENGTH = 120


class KeyAction(StrEnum):
    """What Tejat does with a key of Gemini CLI."""

    OBEY = "obey"
    MAP = "map"
    """Something that works in another way here has the same meaning."""
    NONE = "none"
    """The key has no meaning here."""
    REFUSE = "refuse"
    """The key protects, and something stricter takes its place."""
    LATER = "later"
    """The key has no effect yet."""


class KnownKey(Frozen):
    """A key: its types, the words it may be, its default in Gemini CLI, and what Tejat does with it.

    `text` says what it does, or why it has no effect. `members` are the only members of an object; without them they
    have free names. `project` says what the settings of a project can do: nothing (`person`, `admin`), tighten, narrow
    or add (`union`); without it they count like others. `is_own` is for keys that Gemini CLI does not know.
    """

    name: str
    types: tuple[str, ...]
    action: KeyAction
    text: str
    words: tuple[str, ...] = ()
    default: JsonValue = None
    members: tuple[str, ...] = ()
    protects: bool = False
    project: str | None = None
    is_own: bool = False


class FormerName(Frozen):
    """The present name of a setting under a former one. `is_negated`: the values have the opposite meaning."""

    present: str
    is_negated: bool


class KnownKeys:
    """All known names: keys of Gemini CLI, our own, former and retired ones."""

    def __init__(self, table: Mapping[str, Mapping[str, JsonValue]]) -> None:
        self._keys = cast("Mapping[str, Mapping[str, JsonValue]]", table["keys"])
        self._own = cast("Mapping[str, Mapping[str, JsonValue]]", table["own"])
        self._former = cast("Mapping[str, str]", table["old"])
        self.retired = cast("Mapping[str, str]", table["retired"])
        """Why each of these names, which Gemini CLI no longer has, has no effect."""
        self.ignored = cast("Mapping[str, str]", table["ignored"])
        """Names that are no settings, and what they are."""

    @cached_property
    def groups(self) -> frozenset[str]:
        """The objects that settings are in."""
        found: set[str] = set()
        for section in (self._keys, self._own, self._former, self.retired):
            for name in section:
                group = name.rpartition(".")[0]
                while group and group not in found:
                    found.add(group)
                    group = group.rpartition(".")[0]
        return frozenset(found)

    def find(self, name: str) -> KnownKey | None:
        """The key of this name, not of a former one."""
        entry = self._keys.get(name)
        if entry is not None:
            return _known_key(name, entry, is_own=False)
        entry = self._own.get(name)
        return None if entry is None else _known_key(name, entry, is_own=True)

    def find_former(self, name: str) -> FormerName | None:
        present = self._former.get(name)
        return None if present is None else FormerName(present.removeprefix("!"), present.startswith("!"))

    @property
    def gemini_keys(self) -> Iterator[KnownKey]:
        """The keys of Gemini CLI."""
        return (_known_key(name, entry, is_own=False) for name, entry in self._keys.items())

    @property
    def own_names(self) -> Collection[str]:
        return self._own.keys()

    @property
    def former_names(self) -> Collection[str]:
        return self._former.keys()

    def nearest(self, name: str, *, is_object: bool = False) -> str | None:
        """The known name that is probably meant: the same in another case, in another group, or nearly the same."""
        known = {each: each for each in (*self._keys, *self._own)}
        known |= {former: present.removeprefix("!") for former, present in self._former.items()}
        if is_object:
            known |= {group: group for group in self.groups if "." not in group}
        folded = name.casefold()
        same = sorted(present for each, present in known.items() if each.casefold() == folded)
        if same:
            return same[0]
        last = folded.rpartition(".")[2]
        elsewhere = {present for present in known.values() if present.casefold().rpartition(".")[2] == last}
        if len(elsewhere) == 1:
            return elsewhere.pop()
        return _nearest(name, known | self._members) or self._nearest_object(name)

    @cached_property
    def _members(self) -> dict[str, str]:
        """The members of objects that have no others."""
        names = (f"{name}.{member}" for name, entry in self._keys.items() for member in _strings(entry.get("members")))
        return {name: name for name in names}

    def _nearest_object(self, name: str) -> str | None:
        """The object with free names that a name is probably in, such as `mcpServers` for `mcpServer.docs.command`."""
        objects = {
            each: each
            for each, entry in self._keys.items()
            if "object" in str(entry["type"]) and "members" not in entry
        }
        parts = name.split(".")
        starts = (".".join(parts[:count]) for count in range(len(parts) - 1, 0, -1))
        return next(filter(None, (_nearest(start, objects) for start in starts)), None)


def _nearest(name: str, known: Mapping[str, str]) -> str | None:
    """The value for the key that is nearly this name; of several, the first in the alphabet."""
    limit = min(_MAX_DISTANCE, len(name) // _DISTANCE_SHARE)
    if limit == 0 or len(name) > _MAX_COMPARED_LENGTH:
        return None
    folded = name.casefold()
    near = [
        (edit_distance(folded, each.casefold()), present)
        for each, present in known.items()
        if abs(len(each) - len(name)) <= limit and _shares_part(folded, each.casefold(), limit)
    ]
    distance, present = min(near, default=(limit + 1, None))
    return present if distance <= limit else None


def _shares_part(name: str, other: str, limit: int) -> bool:
    """Whether the names can be within `limit` edits: of this many parts, each edit spoils at most two."""
    length = -(-len(name) // (2 * limit + 1))
    return any(name[start : start + length] in other for start in range(0, len(name), length))


@cache
def load_known_keys() -> KnownKeys:
    """The table. Takes a millisecond the first time."""
    with open(TABLE, "rb") as file:
        return KnownKeys(cast("Mapping[str, Mapping[str, JsonValue]]", load_json(file.read())))


def _known_key(name: str, entry: Mapping[str, JsonValue], *, is_own: bool) -> KnownKey:
    return KnownKey(
        name,
        tuple(str(entry["type"]).split("|")),
        KeyAction(str(entry.get("action", KeyAction.OBEY))),
        str(entry["text"]),
        words=_strings(entry.get("words")),
        default=entry.get("default"),
        members=_strings(entry.get("members")),
        protects=bool(entry.get("protects")),
        project=str(entry["project"]) if "project" in entry else None,
        is_own=is_own,
    )


def _strings(value: JsonValue) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()
