"""Setting of sub-agents: the overrides of single agents, and who may change what."""

from collections.abc import Mapping
from typing import cast

from tejat.config.mcp.server_parser import parse_mcp_server
from tejat.config.settings.file import SettingKey, SettingValue
from tejat.config.settings.reader import SettingReader
from tejat.config.settings.types import McpServer, Setting, SubagentOverride
from tejat.core.frozen import replace
from tejat.core.i18n import lazy

FORMER_OVERRIDES = {
    "experimental.codebaseInvestigatorSettings": "codebase_investigator",
    "experimental.cliHelpAgentSettings": "cli_help",
    "experimental.introspectionAgentSettings": "cli_help",
}
"""Settings of single agents before there was `agents.overrides`, and the names of the agents."""

_COPY_MODES = ("never", "ask", "always")
_MAX_TEMPERATURE = 2


def parse_overrides(found: SettingValue) -> dict[str, SubagentOverride]:
    """Parse `agents.overrides`, or all of its predecessors in the same file. Raises SettingsError."""
    if found.name not in FORMER_OVERRIDES:
        return {name: _parse_override(member) for name, member in found.members().items()}
    overrides: dict[str, SubagentOverride] = {}
    # The first name has precedence: two of them mean the same agent.
    for name, agent in reversed(FORMER_OVERRIDES.items()):
        former = found.file.find(SettingKey(name))
        if former is not None:
            overrides[agent] = _parse_former_override(former)
    return overrides


def merge_overrides(reader: SettingReader, default: object) -> object:
    """The entries of each agent in all files, lowest precedence first, those of a project last."""
    entries = dict(cast("Mapping[str, tuple[Setting[SubagentOverride], ...]]", default))
    for part in (reader.without_project(), reader.of_project()):
        for parsed in part.values():
            for name, override in cast("Mapping[str, SubagentOverride]", parsed.value).items():
                entries[name] = (*entries.get(name, ()), parsed.found.setting(override))
    return entries


def _parse_override(found: SettingValue) -> SubagentOverride:
    given = found.members()
    limits = given["runConfig"].members() if "runConfig" in given else {}
    model = given["modelConfig"].members() if "modelConfig" in given else {}
    content = model["generateContentConfig"].members() if "generateContentConfig" in model else {}
    servers = given["mcpServers"].members() if "mcpServers" in given else None
    return SubagentOverride(
        is_enabled=given["enabled"].boolean() if "enabled" in given else None,
        max_turns=limits["maxTurns"].count() if "maxTurns" in limits else None,
        timeout_minutes=_parse_amount(limits["maxTimeMinutes"]) if "maxTimeMinutes" in limits else None,
        max_tokens=given["maxTokens"].count() if "maxTokens" in given else None,
        max_cost=_parse_amount(given["maxCost"]) if "maxCost" in given else None,
        model=model["model"].string() if "model" in model else None,
        temperature=_parse_temperature(content["temperature"]) if "temperature" in content else None,
        tools=given["tools"].strings() if "tools" in given else None,
        servers=None if servers is None else {name: _parse_server(server) for name, server in servers.items()},
        copy_mode=given["copy"].choice(_COPY_MODES) if "copy" in given else None,
    )


def _parse_server(found: SettingValue) -> McpServer:
    """A server for one agent. Nothing that it says makes its calls need less approval."""
    return replace(parse_mcp_server(found), is_trusted=False, may_sample=False)


def _parse_former_override(found: SettingValue) -> SubagentOverride:
    given = found.members()
    return SubagentOverride(
        is_enabled=given["enabled"].boolean() if "enabled" in given else None,
        max_turns=given["maxNumTurns"].count() if "maxNumTurns" in given else None,
        timeout_minutes=_parse_amount(given["maxTimeMinutes"]) if "maxTimeMinutes" in given else None,
        model=given["model"].string() if "model" in given else None,
    )


def _parse_amount(found: SettingValue) -> float:
    amount = found.number()
    if amount == 0:
        raise found.error(lazy("a number greater than 0"))
    return amount


def _parse_temperature(found: SettingValue) -> float:
    temperature = found.number()
    if temperature > _MAX_TEMPERATURE:
        raise found.error(lazy("a number from 0 to 2"))
    return temperature
