"""Settings for single sub-agents: `agents.overrides`."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from tejat.config.agents.definition import MAX_MINUTES, MAX_TEMPERATURE, MAX_TURNS
from tejat.config.agents.errors import BrokenAgent
from tejat.config.agents.servers import parse_servers
from tejat.config.agents.tool_list import KnownTools, intersect_tools, resolve_tools
from tejat.config.paths import SourceTier
from tejat.core.agent.subagents import CopyMode, SubagentDefinition
from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import lazy
from tejat.core.messages.types import JsonObject, JsonValue

if TYPE_CHECKING:
    from tejat.config.settings.types import Setting


class OverriddenAgent(Frozen):
    """A definition with the settings for it, and whether they leave it on. `problems` name the file of the setting."""

    definition: SubagentDefinition
    is_enabled: bool = True
    problems: tuple[str, ...] = ()


def apply_overrides(
    definition: SubagentDefinition, settings: "Sequence[Setting[JsonObject]]", known: KnownTools
) -> OverriddenAgent:
    """Apply the settings for an agent, lowest precedence first. Those of a project come last and only tighten."""
    override = _Override(definition, known)
    for setting in sorted(settings, key=lambda each: each.tier is SourceTier.WORKSPACE):
        override.apply(setting)
    return OverriddenAgent(override.definition, override.is_enabled, tuple(override.problems))


class _Override:
    """A definition while settings are applied to it."""

    def __init__(self, definition: SubagentDefinition, known: KnownTools) -> None:
        self.definition = definition
        self.is_enabled = True
        self.problems: list[str] = []
        self._known = known
        self._tightens_only = False

    def apply(self, setting: "Setting[JsonObject]") -> None:
        self._tightens_only = setting.tier is SourceTier.WORKSPACE
        appliers: Mapping[str, Callable[[JsonValue], None]] = {
            "enabled": self._enable,
            "runConfig.maxTurns": self._limit("max_turns", MAX_TURNS),
            "runConfig.maxTimeMinutes": self._limit("timeout_minutes", MAX_MINUTES),
            "modelConfig.model": self._set_model,
            "modelConfig.generateContentConfig.temperature": self._set_temperature,
            "tools": self._set_tools,
            "mcpServers": self._set_servers,
            "copy": self._set_copy_mode,
            "maxTokens": self._limit("max_tokens", None),
            "maxCost": self._limit("max_cost", None),
        }
        for key, apply in appliers.items():
            value = _find(setting.value, key)
            if value is None:
                continue
            try:
                apply(value)
            except BrokenAgent as error:
                name = f"agents.overrides.{self.definition.name}.{key}"
                self.problems.append(lazy("{source}: {name} {why}.", source=setting.source, name=name, why=error))

    def _enable(self, value: JsonValue) -> None:
        if not isinstance(value, bool):
            raise BrokenAgent(lazy("must be true or false"))
        self.is_enabled = self.is_enabled and value if self._tightens_only else value

    def _limit(self, field: str, maximum: int | None) -> Callable[[JsonValue], None]:
        def apply(value: JsonValue) -> None:
            if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
                raise BrokenAgent(lazy("must be a number greater than 0"))
            if maximum is not None and not 1 <= value <= maximum:
                raise BrokenAgent(lazy("must be a number from 1 to {most}", most=maximum))
            number = float(value) if field in ("timeout_minutes", "max_cost") else int(value)
            present: float | None = getattr(self.definition, field)
            if self._tightens_only and present is not None and number > present:
                raise _loosens()
            self.definition = replace(self.definition, **{field: number})

        return apply

    def _set_model(self, value: JsonValue) -> None:
        if self._tightens_only:
            raise _loosens()
        if not isinstance(value, str) or not value.strip():
            raise BrokenAgent(lazy("must be the name of a model"))
        model = value.strip()
        self.definition = replace(self.definition, model=None if model == "inherit" else model)

    def _set_temperature(self, value: JsonValue) -> None:
        if self._tightens_only:
            raise _loosens()
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MAX_TEMPERATURE:
            raise BrokenAgent(lazy("must be a number from 0 to {most:g}", most=MAX_TEMPERATURE))
        self.definition = replace(self.definition, temperature=float(value))

    def _set_tools(self, value: JsonValue) -> None:
        names = [item for item in value if isinstance(item, str)] if isinstance(value, list | tuple) else []
        if not isinstance(value, list | tuple) or len(names) < len(value):
            raise BrokenAgent(lazy("must be a list of names"))
        tools, unknown = resolve_tools(names, self._known, self.definition.servers)
        if unknown:
            listed = ", ".join(unknown)
            self.problems.append(
                lazy("agents.overrides.{name}.tools: unknown tools {listed}.", name=self.definition.name, listed=listed)
            )
        if self._tightens_only:
            tools = intersect_tools(self.definition.tools, tools)
        self.definition = replace(self.definition, tools=tools)

    def _set_servers(self, value: JsonValue) -> None:
        if self._tightens_only:
            raise _loosens()
        servers = parse_servers(value)
        self.definition = replace(self.definition, servers={**self.definition.servers, **servers.entries})

    def _set_copy_mode(self, value: JsonValue) -> None:
        if self._tightens_only:
            raise _loosens()
        if value not in list(CopyMode):
            raise BrokenAgent(lazy("must be never, ask or always"))
        self.definition = replace(self.definition, copy_mode=CopyMode(str(value)))


def _find(members: JsonObject, key: str) -> JsonValue:
    value: JsonValue = members
    for step in key.split("."):
        value = value.get(step) if isinstance(value, Mapping) else None
    return value


def _loosens() -> BrokenAgent:
    return BrokenAgent(lazy("has no effect: a project can only lower limits, remove tools and disable agents"))
