"""Sub-agents as commands list them."""

import os
from collections.abc import Sequence

from tejat.app.run_config import RunConfig
from tejat.app.subagents.definitions import known_tools, load_subagents
from tejat.config.agents.catalogue import item_tokens
from tejat.config.agents.directory import AgentReader
from tejat.config.agents.entries import STATE_LABELS, SubagentEntry, SubagentState
from tejat.config.agents.places import AgentDirectory
from tejat.config.agents.registry import SubagentRegistry
from tejat.config.yaml_values import parse_yaml
from tejat.core.agent.subagents import SubagentDefinition
from tejat.core.errors import UsageError
from tejat.core.frozen import Frozen
from tejat.core.i18n import _, ngettext, translate
from tejat.core.messages.declaration import READ_ONLY_KINDS
from tejat.core.messages.tokens import estimate_text_tokens
from tejat.core.messages.types import JsonObject
from tejat.core.provenance import Party
from tejat.core.text.catalogue import CatalogueItem
from tejat.engine.subagents.tool_view import OWN_TOOLS, is_available
from tejat.tools.registry import ToolRegistry


class SubagentSummary(Frozen):
    """An agent with what it may use and what it costs.

    `tools` are those of its tools that are known now, `changing` how many of them change something. `catalogue_tokens`
    are part of every request while the agent is offered, `prompt_tokens` of every request of the agent.
    """

    entry: SubagentEntry
    tools: tuple[str, ...] = ()
    changing: int = 0
    catalogue_tokens: int = 0
    prompt_tokens: int = 0

    @property
    def state(self) -> str:
        """The state in words, with the reason if it cannot be used."""
        label = translate(STATE_LABELS[self.entry.state])
        return f"{label}: {translate(self.entry.reason)}" if self.entry.reason else label

    @property
    def model(self) -> str:
        definition = self.entry.definition
        return "" if definition is None else definition.model or _("inherit")

    @property
    def tool_label(self) -> str:
        if self.entry.definition is None:
            return ""
        label = _("{count} ({changing} change things)", count=len(self.tools), changing=self.changing)
        servers = len(self.entry.definition.servers)
        return label + (", " + ngettext("{count} MCP server", "{count} MCP servers", servers) if servers else "")

    @property
    def limits(self) -> str:
        definition = self.entry.definition
        if definition is None:
            return ""
        turns = ngettext("{count} turn", "{count} turns", definition.max_turns)
        limits = [turns, _("{minutes:g} min", minutes=definition.timeout_minutes)]
        if definition.max_tokens is not None:
            limits.append(ngettext("{count} token", "{count} tokens", definition.max_tokens))
        if definition.max_cost is not None:
            limits.append(f"${definition.max_cost:g}")
        return ", ".join(limits)

    def to_json(self) -> JsonObject:
        entry, definition = self.entry, self.entry.definition
        values: JsonObject = {
            "name": entry.name,
            "qualifiedName": entry.qualified_name,
            "party": entry.provenance.party.value,
            "extension": entry.provenance.extension or None,
            "source": entry.provenance.path or None,
            "state": entry.state.value,
            "reason": translate(entry.reason) or None,
            "notes": [translate(note) for note in entry.notes],
        }
        return values if definition is None else {**values, **self._definition_json(definition)}

    def _definition_json(self, definition: SubagentDefinition) -> JsonObject:
        return {
            "displayName": definition.display_name or None,
            "description": definition.description,
            "model": definition.model,
            "temperature": definition.temperature,
            "tools": list(self.tools),
            "changingTools": self.changing,
            "mcpServers": list(definition.servers),
            "maxTurns": definition.max_turns,
            "timeoutMinutes": definition.timeout_minutes,
            "maxTokens": definition.max_tokens,
            "maxCost": definition.max_cost,
            "planOnly": definition.plan_only,
            "copy": definition.copy_mode.value,
            "catalogueTokens": self.catalogue_tokens,
            "promptTokens": self.prompt_tokens,
        }


def summarize_subagents(agents: SubagentRegistry, tools: ToolRegistry) -> list[SubagentSummary]:
    """All agents that were found, highest precedence first."""
    return [_summarize(entry, tools) for entry in agents.entries]


def inspect_subagents(run_config: RunConfig, tools: ToolRegistry) -> tuple[list[SubagentSummary], Sequence[str]]:
    """The agents of a session here, and the problems with others. Starts nothing."""
    agents = load_subagents(run_config, tools)
    return summarize_subagents(agents, tools), agents.problems


def _summarize(entry: SubagentEntry, tools: ToolRegistry) -> SubagentSummary:
    definition = entry.definition
    if definition is None:
        return SubagentSummary(entry)
    usable = [tool for tool in tools.entries() if is_available(tool, definition)]
    changing = [tool for tool in usable if tool.kind not in READ_ONLY_KINDS and tool.name not in OWN_TOOLS]
    is_offered = entry.state is SubagentState.AVAILABLE
    return SubagentSummary(
        entry,
        tuple(tool.name for tool in usable),
        len(changing),
        item_tokens(CatalogueItem(entry.name, definition.description)) if is_offered else 0,
        estimate_text_tokens(definition.prompt),
    )


def validate_agent_file(run_config: RunConfig, tools: ToolRegistry, path: str) -> list[SubagentEntry]:
    """Read an agent file, or all of a directory, as a session would. Raises UsageError if there is nothing there."""
    is_directory = os.path.isdir(path)
    if not is_directory and not os.path.exists(path):
        raise UsageError(_("{path} does not exist.", path=path))
    reader = AgentReader(known_tools(run_config, tools), parse_yaml)
    directory = AgentDirectory(path if is_directory else os.path.dirname(path), Party.PROJECT)
    entries = list(reader.read(directory) if is_directory else reader.read_file(path, directory))
    if reader.problems:
        raise UsageError(reader.problems[0])
    return entries
