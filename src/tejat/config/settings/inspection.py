"""Inspection of settings files: what becomes of each key in them."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from tejat.config.paths import SourceTier
from tejat.config.settings.file import SettingsFile, SettingValue
from tejat.config.settings.known_keys import KeyAction, KnownKey, KnownKeys, load_known_keys
from tejat.config.settings.schema.names import leaf_names
from tejat.config.settings.types import SettingProblem
from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy, lazy_data
from tejat.core.text.str_enum import StrEnum

if TYPE_CHECKING:
    from tejat.config.jsonc import JsonNode


class SettingStatus(StrEnum):
    """What becomes of a key. The values are part of the JSON reports."""

    OBEYED = "obeyed"
    MAPPED = "mapped"
    NO_EFFECT = "no effect"
    RETIRED = "retired"
    WRONG = "wrong value"
    UNKNOWN = "unknown"


STRICT_STATUSES = frozenset({SettingStatus.RETIRED, SettingStatus.WRONG, SettingStatus.UNKNOWN})
"""What `--strict-settings` does not accept."""


class SettingFinding(Frozen):
    """A key in a settings file. `reason` says why it is not simply obeyed.

    `present_name` is the name that Gemini CLI has for an old one now; if `is_overridden`, the file has it too, and it
    takes precedence.
    """

    value: SettingValue
    status: SettingStatus
    reason: str = ""
    present_name: str | None = None
    is_overridden: bool = False

    @property
    def key(self) -> str:
        return self.value.name

    @property
    def path(self) -> str:
        return self.value.file.path

    @property
    def source(self) -> str:
        return self.value.source

    @property
    def suggestion(self) -> str | None:
        """The known key that an unknown one probably means."""
        is_object = isinstance(self.value.node.value, dict)
        return (
            load_known_keys().nearest(self.key, is_object=is_object) if self.status is SettingStatus.UNKNOWN else None
        )


def inspect_settings(files: Iterable[SettingsFile], problems: Sequence[SettingProblem] = ()) -> list[SettingFinding]:
    """Look up every key of these files. `problems` are the wrong values that were found when they were loaded."""
    known = load_known_keys()
    by_path: dict[str, list[SettingProblem]] = {}
    for problem in problems:
        by_path.setdefault(problem.path, []).append(problem)
    return [
        finding for file in files for finding in _FileInspection(file, known, by_path.get(file.path, ())).findings()
    ]


class _FileInspection:
    """The keys of one file."""

    def __init__(self, file: SettingsFile, known: KnownKeys, problems: Collection[SettingProblem]) -> None:
        self._file = file
        self._known = known
        self._problems = problems

    def findings(self) -> Iterator[SettingFinding]:
        return self._walk(self._file.members, "")

    def _walk(self, members: "Mapping[str, JsonNode]", before: str) -> Iterator[SettingFinding]:
        for last, node in members.items():
            name = before + last
            if node.value is None or name in self._known.ignored:
                continue
            is_group = name in self._known.groups and isinstance(node.value, dict)
            if not is_group and (finding := self._find(SettingValue(self._file, name, node))):
                yield finding
                yield from self._unknown_members(finding)
            elif isinstance(node.value, dict) and (node.value or is_group):
                yield from self._walk(node.value, f"{name}.")
            else:
                yield self._unknown(SettingValue(self._file, name, node))

    def _find(self, value: SettingValue) -> SettingFinding | None:
        """The finding for a key that is known, under whatever name."""
        name = value.name
        former = self._known.find_former(name)
        key = self._known.find(name if former is None else former.present)
        if name in self._known.retired:
            return SettingFinding(value, SettingStatus.RETIRED, lazy_data(self._known.retired[name]))
        if key is None:
            return self._free_name(value)
        present = None if former is None else former.present
        if (wrong := self._wrong_value(value, key, is_negated=former is not None and former.is_negated)) is not None:
            return SettingFinding(value, SettingStatus.WRONG, wrong, present)
        status = _STATUSES[key.action]
        if status is not SettingStatus.NO_EFFECT and (reason := _denied_scope(self._file.tier, key)) is not None:
            return SettingFinding(value, SettingStatus.NO_EFFECT, reason, present)
        if present is not None and _is_set(self._file.members, present):
            reason = lazy("{present} takes precedence.", present=present)
            return SettingFinding(value, SettingStatus.NO_EFFECT, reason, present, is_overridden=True)
        return SettingFinding(value, status, lazy_data(key.text), present)

    def _free_name(self, value: SettingValue) -> SettingFinding | None:
        """The finding for a member of an object whose members have free names."""
        group, _, event = value.name.rpartition(".")
        if group != "hooks":
            return None
        # Imported late: the events of Gemini CLI are in the table.
        from tejat.config.hooks import CLAUDE_EVENT_NAMES
        from tejat.core.agent.hooks import HookEvent

        if event in CLAUDE_EVENT_NAMES or event in list(HookEvent):
            return SettingFinding(value, SettingStatus.OBEYED)
        return SettingFinding(value, SettingStatus.NO_EFFECT, lazy("Unknown event, so these hooks never run."))

    def _unknown_members(self, finding: SettingFinding) -> Iterator[SettingFinding]:
        key, given = self._known.find(finding.present_name or finding.key), finding.value.node.value
        if key is None or not key.members or not isinstance(given, dict):
            return
        for last, node in given.items():
            if last not in key.members and node.value is not None:
                yield self._unknown(SettingValue(self._file, f"{finding.key}.{last}", node))

    def _unknown(self, value: SettingValue) -> SettingFinding:
        for problem in self._problems:
            if problem.key == value.name:
                return SettingFinding(value, SettingStatus.WRONG, problem.text)
        if value.name in self._known.groups:
            return SettingFinding(value, SettingStatus.WRONG, _problem(value, lazy("an object")))
        return SettingFinding(value, SettingStatus.UNKNOWN)

    def _wrong_value(self, value: SettingValue, key: KnownKey, *, is_negated: bool) -> str | None:
        """What is wrong with a value. For keys that no reader checks the table says what they may be."""
        for problem in self._problems:
            if problem.key == value.name or problem.key.startswith(f"{value.name}."):
                return problem.text
        if key.action is KeyAction.OBEY or _may_be(value, ("boolean",) if is_negated else key.types, key.words):
            return None
        wanted = " | ".join(key.words) if key.words else _WANTED[key.types[0]]
        return _problem(value, wanted)


def _denied_scope(tier: SourceTier, key: KnownKey) -> str | None:
    """Why a key does not count in files of this tier."""
    if key.project == "admin" and tier is not SourceTier.ADMIN:
        return lazy("Only the administrator can set it.")
    if key.project == "person" and tier is SourceTier.WORKSPACE:
        return lazy("A project cannot set it.")
    return None


def _may_be(value: SettingValue, types: Collection[str], words: Collection[str]) -> bool:
    given = value.node.value
    text = value.file.resolve(given).strip() if isinstance(given, str) else None
    return any(
        (kind == "boolean" and (isinstance(given, bool) or (text is not None and text.lower() in ("true", "false"))))
        or (kind == "number" and not isinstance(given, bool) and (isinstance(given, int | float) or _is_number(text)))
        or (kind == "string" and text is not None)
        or (kind == "enum" and text in words)
        or (kind == "array" and isinstance(given, list))
        or (kind == "object" and isinstance(given, dict))
        for kind in types
    )


def _is_number(text: str | None) -> bool:
    try:
        return text is not None and abs(float(text)) < float("inf")
    except ValueError:
        return False


def _problem(value: SettingValue, wanted: str) -> str:
    problem = value.error(wanted).value
    assert problem is not None
    return problem.text


def _is_set(members: "Mapping[str, JsonNode]", name: str) -> bool:
    return any(each == name or each.startswith(f"{name}.") for each in leaf_names(members))


_STATUSES: Mapping[KeyAction, SettingStatus] = {
    KeyAction.OBEY: SettingStatus.OBEYED,
    KeyAction.MAP: SettingStatus.MAPPED,
    KeyAction.REFUSE: SettingStatus.MAPPED,
    KeyAction.NONE: SettingStatus.NO_EFFECT,
    KeyAction.LATER: SettingStatus.NO_EFFECT,
}
_WANTED = {
    "boolean": lazy("true or false"),
    "number": lazy("a number"),
    "string": lazy("a string"),
    "array": lazy("a list"),
    "object": lazy("an object"),
}
