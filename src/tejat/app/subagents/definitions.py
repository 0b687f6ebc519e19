"""The sub-agents of a session."""

import hashlib
from typing import TYPE_CHECKING

from tejat.app.run_config import RunConfig
from tejat.config.agents.places import find_agent_directories
from tejat.config.agents.registry import SubagentRegistry, SubagentSources
from tejat.config.paths import SourceTier
from tejat.config.settings.types import configured_servers
from tejat.core.i18n import lazy
from tejat.tools.registry import ToolRegistry

if TYPE_CHECKING:
    from tejat.config.agents.tool_list import KnownTools

_DOCS_TOOL = "get_internal_docs"


def load_subagents(run_config: RunConfig, tools: ToolRegistry, *, max_turns: int | None = None) -> SubagentRegistry:
    """Find the built-in agents and those of the project, the user and extensions. `max_turns` limits the run."""
    return SubagentRegistry(subagent_sources(run_config, tools, max_turns=max_turns))


def subagent_sources(run_config: RunConfig, tools: ToolRegistry, *, max_turns: int | None = None) -> SubagentSources:
    """Where the agents of a run come from, and the settings about them."""
    settings = run_config.settings
    directories = find_agent_directories(
        run_config.paths,
        run_config.roots[0],
        run_config.trust,
        run_config.extensions,
        reads_claude=settings.agents_claude.value,
    )
    tokens = settings.agents_catalog_tokens
    return SubagentSources(
        tuple(directories),
        known_tools=lambda: known_tools(run_config, tools),
        overrides=settings.agent_overrides,
        excluded=frozenset(entry.value for entry in settings.exclude),
        has_docs_tool=_DOCS_TOOL in tools,
        max_turns=max_turns,
        catalogue_tokens=None if tokens.tier is SourceTier.DEFAULT else tokens.value or 0,
        cache_path=run_config.paths.yaml_cache,
        is_enabled=settings.agents_enabled.value,
    )


def known_tools(run_config: RunConfig, tools: ToolRegistry) -> "KnownTools":
    """The tools that agents may list."""
    # Imported late: most users have no agent files.
    from tejat.config.agents.tool_list import KnownTools

    settings = run_config.settings
    has_discovery = settings.discovery_command is not None
    return KnownTools(tools.spellings(), frozenset(configured_servers(settings)), has_discovery=has_discovery)


def subagent_notes(run_config: RunConfig, agents: SubagentRegistry) -> tuple[str, ...]:
    """What the user should know about agent files. Agents that hide others are named once per content."""
    notes = list(agents.problems)
    shadowed = agents.shadowed()
    if not shadowed:
        return tuple(notes)
    from tejat.config.files.reported import report_once

    for hidden, owner in shadowed:
        prompt = "" if owner.definition is None else owner.definition.prompt
        content = hashlib.sha256(f"{owner.qualified_name}\0{prompt}".encode("utf-8", "surrogatepass")).hexdigest()
        key = f"{run_config.roots[0]}:{hidden.qualified_name}"
        if report_once(run_config.paths.reported_agents, {key: content}):
            notes.append(
                lazy(
                    "The agent {name} is {owner} here. Its other meaning is {hidden}.",
                    name=hidden.name,
                    owner=owner.qualified_name,
                    hidden=hidden.qualified_name,
                )
            )
    return tuple(notes)
