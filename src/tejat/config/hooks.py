"""Reads hooks out of the settings: which command runs when. What cannot be understood stays a hook that says so."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from tejat.config.places import SourceTier
from tejat.config.settings import Setting
from tejat.core.hooks import GUARDS, HookEvent
from tejat.core.types import JsonObject, JsonValue
from tejat.core.value import value
from tejat.core.words import joined, phrase

DEFAULT_SECONDS = 60.0
LONGEST_SECONDS = 3600.0

OTHER_SPELLINGS = {
    "PreToolUse": HookEvent.BEFORE_TOOL,
    "PostToolUse": HookEvent.AFTER_TOOL,
    "UserPromptSubmit": HookEvent.BEFORE_AGENT,
    "Stop": HookEvent.AFTER_AGENT,
    "PreCompact": HookEvent.PRE_COMPRESS,
}
"""What another common agent calls the same events. Its hooks are told and heard as that agent does it."""

GivenHooks: TypeAlias = Mapping[str, Sequence[Setting[JsonValue]]]

_SWITCHES = ("enabled", "disabled", "notifications")
_NOT_SUPPORTED = {"BeforeToolSelection": phrase("Use BeforeTool to keep a tool from running")}


@value
class Hook:
    """A command that runs when something happens.

    `spelling` is the name of the event as it was written. An empty `matcher` is for everything. `source` is file and
    line. One with a `problem` cannot be understood: it has no command, and where it stands guard nothing passes.
    """

    event: HookEvent
    spelling: str
    name: str
    command: str
    matcher: str
    tier: SourceTier
    source: str
    seconds: float = DEFAULT_SECONDS
    is_sequential: bool = False
    problem: str = ""

    @property
    def is_in_other_spelling(self) -> bool:
        return self.spelling in OTHER_SPELLINGS


@value
class ConfiguredHooks:
    """`warnings` are for the person: what is wrong with the settings, or has no effect."""

    hooks: tuple[Hook, ...]
    warnings: tuple[str, ...]


def read_hooks(given: GivenHooks, switches: GivenHooks) -> ConfiguredHooks:
    """What `hooks` and `hooksConfig` of all settings say. Raises nothing.

    Those of the project come first and those of whoever runs the machine last. Nobody can switch off the hooks of
    somebody who has more of a say: not a project the person's, not the person the machine's.
    """
    warnings: list[str] = []
    read = [hook for name, entries in given.items() for hook in _hooks_of(name, entries, warnings)]
    off = _Off()
    for source in (given, switches):
        for entry in source.get("disabled", ()):
            off.note_name(entry, warnings)
        for entry in source.get("enabled", ()):
            off.note_switch(entry, warnings)
    kept = [hook for hook in read if not off.covers(hook)]
    warnings += [joined(" ", (hook.problem, _consequence(hook))) for hook in kept if hook.problem]
    return ConfiguredHooks(tuple(sorted(kept, key=lambda hook: rank(hook.tier))), tuple(warnings))


def rank(tier: SourceTier) -> int:
    """How much of a say somebody has."""
    return list(SourceTier).index(tier)


def _hooks_of(name: str, entries: Sequence[Setting[JsonValue]], warnings: list[str]) -> Iterator[Hook]:
    event = OTHER_SPELLINGS.get(name) or (HookEvent(name) if name in list(HookEvent) else None)
    if event is not None:
        for entry in entries:
            yield from _Group(event, name, entry).hooks()
    elif entries and name not in _SWITCHES:
        source, hint = entries[0].source, _NOT_SUPPORTED.get(name)
        warnings.append(
            phrase(
                "{source}: hooks.{name} is no event that is known, so nothing is run for it. Known are {known}.",
                source=source,
                name=name,
                known=", ".join(HookEvent),
            )
            if hint is None
            else phrase(
                "{source}: hooks.{name} is not supported, so nothing is run for it. {hint}.",
                source=source,
                name=name,
                hint=hint,
            )
        )


class _Unclear(Exception):
    """A field is not what it should be."""


class _Group:
    """One entry in the list of an event: a matcher, and the hooks that it is for."""

    def __init__(self, event: HookEvent, spelling: str, entry: Setting[JsonValue]) -> None:
        self._event = event
        self._spelling = spelling
        self._entry = entry
        self._matcher = ""
        self._is_sequential = False

    def hooks(self) -> list[Hook]:
        try:
            group = _object(self._entry.value, phrase("a group of hooks"))
            self._matcher = _text(group, "matcher", default="").strip()
            self._is_sequential = _boolean(group, "sequential")
            entries = group.get("hooks")
            if not isinstance(entries, Sequence) or isinstance(entries, str):
                raise _Unclear(phrase("hooks must be a list of hooks"))
        except _Unclear as unclear:
            return [self._broken(str(unclear))]
        return [self._hook(entry) for entry in entries]

    def _hook(self, entry: JsonValue) -> Hook:
        name = ""
        try:
            given = _object(entry, phrase("a hook"))
            name = _text(given, "name", default="").strip()
            kind = _text(given, "type", default="command")
            if kind != "command":
                raise _Unclear(phrase("the type of a hook must be command, but is {kind!r}", kind=kind[:_SHOWN]))
            command = _text(given, "command").strip()
            if not command or "\0" in command:
                raise _Unclear(phrase("command must be a command line"))
            seconds = self._seconds(given)
        except _Unclear as unclear:
            return self._broken(str(unclear), name)
        return Hook(
            self._event,
            self._spelling,
            name or command,
            command,
            "" if self._matcher == "*" else self._matcher,
            self._entry.tier,
            self._entry.source,
            seconds,
            self._is_sequential,
        )

    def _seconds(self, given: JsonObject) -> float:
        """The limit is in milliseconds here, and in seconds where the other agent's names are used."""
        limit = given.get("timeout")
        if limit is None:
            return DEFAULT_SECONDS
        if isinstance(limit, bool) or not isinstance(limit, int | float) or limit <= 0:
            raise _Unclear(phrase("timeout must be a number above 0"))
        return min(limit if self._spelling in OTHER_SPELLINGS else limit / 1000, LONGEST_SECONDS)

    def _broken(self, why: str, name: str = "") -> Hook:
        source = self._entry.source
        return Hook(
            self._event,
            self._spelling,
            name or source,
            "",
            "" if self._matcher == "*" else self._matcher,
            self._entry.tier,
            source,
            problem=phrase("{source}: in hooks.{spelling}, {why}.", source=source, spelling=self._spelling, why=why),
        )


class _Off:
    """What is switched off, and by whom."""

    def __init__(self) -> None:
        self._names: dict[str, int] = {}
        self._everything = -1

    def note_name(self, entry: Setting[JsonValue], warnings: list[str]) -> None:
        if isinstance(entry.value, str):
            self._names[entry.value] = max(rank(entry.tier), self._names.get(entry.value, -1))
        else:
            warnings.append(
                phrase("{source}: hooks.disabled must be a list of names. It is passed over.", source=entry.source)
            )

    def note_switch(self, entry: Setting[JsonValue], warnings: list[str]) -> None:
        if not isinstance(entry.value, bool):
            warnings.append(
                phrase("{source}: hooks.enabled must be true or false. It is passed over.", source=entry.source)
            )
        elif not entry.value:
            self._everything = max(rank(entry.tier), self._everything)

    def covers(self, hook: Hook) -> bool:
        named = max(self._names.get(name, -1) for name in (hook.name, hook.command))
        return max(named, self._everything) >= rank(hook.tier)


def _consequence(hook: Hook) -> str:
    match hook.event:
        case HookEvent.BEFORE_TOOL:
            return phrase(
                "Until it is put right, calls of {matcher} are denied.", matcher=hook.matcher or phrase("every tool")
            )
        case event if event in GUARDS:
            return phrase("Until it is put right, no prompt is answered.")
        case _:
            return phrase("This hook is not run.")


def _object(given: JsonValue, what: str) -> JsonObject:
    if not isinstance(given, Mapping):
        raise _Unclear(phrase("{what} must be an object", what=what))
    return given


def _text(given: JsonObject, name: str, default: str | None = None) -> str:
    found = given.get(name)
    if found is None and default is not None:
        return default
    if not isinstance(found, str):
        raise _Unclear(phrase("{name} must be a text", name=name))
    return found


def _boolean(given: JsonObject, name: str) -> bool:
    found = given.get(name)
    if found is not None and not isinstance(found, bool):
        raise _Unclear(phrase("{name} must be true or false", name=name))
    return found is True


_SHOWN = 60
