"""Parsing of hooks in the settings."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from tejat.config.paths import SourceTier
from tejat.config.settings.types import Setting
from tejat.core.agent.hooks import DEFAULT_TIMEOUT, GUARD_EVENTS, HookEvent, HookFunction
from tejat.core.frozen import Frozen, field, replace
from tejat.core.i18n import join_lazy, lazy
from tejat.core.messages.types import JsonObject, JsonValue

MAX_TIMEOUT = 3600.0

CLAUDE_EVENT_NAMES = {
    "PreToolUse": HookEvent.BEFORE_TOOL,
    "PostToolUse": HookEvent.AFTER_TOOL,
    "UserPromptSubmit": HookEvent.BEFORE_AGENT,
    "Stop": HookEvent.AFTER_AGENT,
    "PreCompact": HookEvent.PRE_COMPRESS,
}
"""Event names of Claude Code. Hooks under these names use its input and output format."""

HookSettings: TypeAlias = Mapping[str, Sequence[Setting[JsonValue]]]

_SWITCHES = ("enabled", "disabled", "notifications")


class HookConfig(Frozen):
    """A command or a Python function that runs on an event.

    `event_name` is the name as written. An empty `matcher` matches everything. `source` is file and line. An invalid
    hook has a `problem` and no command; if its event is a guard, it blocks. A hook of an `extension` gets its
    `environment` beside that of all hooks. With a `refusal` it is not started, which counts as a failure. A `function`
    of the embedding program runs instead of a command, after the hooks of the user.
    """

    event: HookEvent
    event_name: str
    name: str
    command: str
    matcher: str
    tier: SourceTier
    source: str
    timeout: float = DEFAULT_TIMEOUT
    is_sequential: bool = False
    problem: str = ""
    extension: str = ""
    environment: Mapping[str, str] = field(default_factory=dict[str, str], repr=False, compare=False)
    refusal: str = ""
    function: HookFunction | None = field(default=None, repr=False, compare=False)

    @property
    def qualified_name(self) -> str:
        """The name by which the user can always disable it."""
        return f"{self.extension}:{self.name}" if self.extension else self.name

    @property
    def uses_claude_format(self) -> bool:
        return self.event_name in CLAUDE_EVENT_NAMES


class HooksConfig(Frozen):
    """Hooks, and warnings about invalid or unused settings. `reports_running`: the user is told of running hooks."""

    hooks: tuple[HookConfig, ...]
    warnings: tuple[str, ...]
    reports_running: bool = True


def parse_hooks(hooks: HookSettings, switches: HookSettings, extensions: Sequence[HookConfig] = ()) -> HooksConfig:
    """Parse `hooks` and `hooksConfig` of all settings. Raises nothing: an invalid hook has a `problem`.

    `extensions` are the hooks of extensions. Hooks of lower precedence come first: those of the project, then of
    extensions by name, then of the user, then of the administrator. A source can only disable hooks of the same or
    lower precedence.
    """
    read, warnings = parse_hook_events(hooks)
    read += extensions
    off = _DisabledHooks()
    for source in (hooks, switches):
        for entry in source.get("disabled", ()):
            off.disable_name(entry)
        for entry in source.get("enabled", ()):
            off.apply_switch(entry)
    kept = [hook for hook in read if not off.covers(hook)]
    warnings += [join_lazy(" ", (hook.problem, _describe_consequence(hook))) for hook in kept if hook.problem]
    reports_running = [entry.value is True for entry in switches.get("notifications", ())]
    return HooksConfig(
        tuple(sorted(kept, key=precedence)),
        tuple(warnings),
        reports_running=not reports_running or reports_running[-1],
    )


def parse_hook_events(hooks: HookSettings) -> tuple[list[HookConfig], list[str]]:
    """The hooks by event, and warnings. Raises nothing."""
    warnings: list[str] = []
    return [hook for name, entries in hooks.items() for hook in _parse_event(name, entries, warnings)], warnings


def precedence(hook: HookConfig) -> tuple[int, str, bool]:
    """The precedence of a hook: that of its source, and of extensions by name. Functions come after commands."""
    return tier_rank(hook.tier), hook.extension, hook.function is not None


def tier_rank(tier: SourceTier) -> int:
    """The precedence of a source."""
    return list(SourceTier).index(tier)


def _parse_event(name: str, entries: Sequence[Setting[JsonValue]], warnings: list[str]) -> Iterator[HookConfig]:
    event = CLAUDE_EVENT_NAMES.get(name) or (HookEvent(name) if name in list(HookEvent) else None)
    if event is not None:
        for entry in entries:
            yield from _HookGroup(event, name, entry).parse()
    elif entries and name not in _SWITCHES:
        warnings.append(
            lazy(
                "{source}: hooks.{name} is not a known event, so its hooks never run. Known events: {known}.",
                source=entries[0].source,
                name=name,
                known=", ".join(HookEvent),
            )
        )


class _InvalidHook(Exception):
    """A field has an invalid value."""


class _HookGroup:
    """One entry in the list of an event: a matcher and its hooks."""

    def __init__(self, event: HookEvent, spelling: str, entry: Setting[JsonValue]) -> None:
        self._event = event
        self._spelling = spelling
        self._entry = entry
        self._matcher = ""
        self._is_sequential = False

    def parse(self) -> list[HookConfig]:
        try:
            group = _object(self._entry.value, lazy("a hook group"))
            matcher = _text(group, "matcher", default="").strip()
            self._matcher = "" if matcher == "*" else matcher
            self._is_sequential = _boolean(group, "sequential")
            entries = group.get("hooks")
            if not isinstance(entries, Sequence) or isinstance(entries, str):
                raise _InvalidHook(lazy("hooks must be a list of hooks"))
        except _InvalidHook as unclear:
            return [self._invalid_hook(str(unclear))]
        return [self._parse_hook(entry) for entry in entries]

    def _parse_hook(self, entry: JsonValue) -> HookConfig:
        name = ""
        try:
            given = _object(entry, lazy("a hook"))
            name = _text(given, "name", default="").strip()
            kind = _text(given, "type", default="command")
            if kind != "command":
                raise _InvalidHook(lazy("the type of a hook must be command, not {kind!r}", kind=kind[:_MAX_SHOWN]))
            command = _text(given, "command").strip()
            if not command or "\0" in command:
                raise _InvalidHook(lazy("command must be a non-empty string"))
            seconds = self._parse_timeout(given)
            variables = self._parse_environment(given)
        except _InvalidHook as unclear:
            return self._invalid_hook(str(unclear), name)
        return replace(
            self._hook(name or command),
            command=command,
            timeout=seconds,
            is_sequential=self._is_sequential,
            environment=variables,
        )

    def _parse_environment(self, given: JsonObject) -> Mapping[str, str]:
        """The variables that a hook of an extension sets for itself; other hooks set them in their command."""
        if self._entry.tier is not SourceTier.EXTENSION or given.get("env") is None:
            return {}
        variables = _object(given["env"], "env")
        return {name: _text(variables, name) for name in variables}

    def _parse_timeout(self, given: JsonObject) -> float:
        """The timeout is in milliseconds, and in seconds for event names of Claude Code."""
        limit = given.get("timeout")
        if limit is None:
            return DEFAULT_TIMEOUT
        if isinstance(limit, str) and re.fullmatch(r"[0-9]{1,9}(?:\.[0-9]{1,9})?", limit.strip()):
            limit = float(limit)
        if isinstance(limit, bool) or not isinstance(limit, int | float) or limit <= 0:
            raise _InvalidHook(lazy("timeout must be a number greater than 0"))
        return min(limit if self._spelling in CLAUDE_EVENT_NAMES else limit / 1000, MAX_TIMEOUT)

    def _invalid_hook(self, why: str, name: str = "") -> HookConfig:
        source = self._entry.source
        problem = lazy("{source}: in hooks.{spelling}, {why}.", source=source, spelling=self._spelling, why=why)
        return replace(self._hook(name or source), problem=problem)

    def _hook(self, name: str) -> HookConfig:
        entry = self._entry
        return HookConfig(self._event, self._spelling, name, "", self._matcher, entry.tier, entry.source)


class _DisabledHooks:
    """Disabled hooks, and the precedence of who disabled them."""

    def __init__(self) -> None:
        self._names: dict[str, int] = {}
        self._all = -1

    def disable_name(self, entry: Setting[JsonValue]) -> None:
        name = str(entry.value)
        self._names[name] = max(tier_rank(entry.tier), self._names.get(name, -1))

    def apply_switch(self, entry: Setting[JsonValue]) -> None:
        if entry.value is False:
            self._all = max(tier_rank(entry.tier), self._all)

    def covers(self, hook: HookConfig) -> bool:
        named = max(self._names.get(name, -1) for name in (hook.name, hook.command, hook.qualified_name))
        return max(named, self._all) >= tier_rank(hook.tier)


def _describe_consequence(hook: HookConfig) -> str:
    match hook.event:
        case HookEvent.BEFORE_TOOL:
            matcher = hook.matcher or lazy("every tool")
            return lazy("Until it is fixed, calls of {matcher} are denied.", matcher=matcher)
        case event if event in GUARD_EVENTS:
            return lazy("Until it is fixed, prompts are refused.")
        case _:
            return lazy("This hook does not run.")


def _object(given: JsonValue, what: str) -> JsonObject:
    if not isinstance(given, Mapping):
        raise _InvalidHook(lazy("{what} must be an object", what=what))
    return given


def _text(given: JsonObject, name: str, default: str | None = None) -> str:
    found = given.get(name)
    if found is None and default is not None:
        return default
    if not isinstance(found, str):
        raise _InvalidHook(lazy("{name} must be a string", name=name))
    return found


def _boolean(given: JsonObject, name: str) -> bool:
    found = given.get(name)
    if isinstance(found, str):
        found = {"true": True, "false": False}.get(found.strip().lower(), found)
    if found is not None and not isinstance(found, bool):
        raise _InvalidHook(lazy("{name} must be true or false", name=name))
    return found is True


_MAX_SHOWN = 60
