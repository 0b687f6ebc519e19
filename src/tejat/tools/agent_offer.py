"""Declaration of the sub-agents that can be started, and their names as further names of `invoke_agent`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tejat.core.frozen import replace
from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.tool_names import INVOKE_AGENT
from tejat.tools.registry import ToolEntry, ToolRegistry, entry_for

if TYPE_CHECKING:
    from tejat.core.agent.subagents import SubagentLauncher


def offer_agents(
    registry: ToolRegistry, launcher: Callable[[], SubagentLauncher], agents: Sequence[tuple[str, str]]
) -> None:
    """Offer these agents, each with the parameter that takes its task, or remove `invoke_agent` if there are none.

    The names of agents are further names of the tool, which are not declared.
    """
    registered = registry.builtin_entry(INVOKE_AGENT)
    registry.unregister(INVOKE_AGENT)
    if registered is None or not agents:
        registry.find_undeclared = lambda _: None
        return
    names = tuple(name for name, _ in agents)
    registry.register_entry(
        replace(registered, declaration=_with_agents(registered.declaration, names), is_declared=lambda: True)
    )
    inputs = dict(agents)

    def find(name: str) -> ToolEntry | None:
        if name not in inputs or INVOKE_AGENT not in registry:
            return None
        from tejat.tools.invoke_agent import NamedAgentTool

        return entry_for(NamedAgentTool(name, inputs[name], launcher))

    registry.find_undeclared = find


def _with_agents(declaration: FunctionDeclaration, names: tuple[str, ...]) -> FunctionDeclaration:
    """Return the declaration of `invoke_agent` with the names of the agents that can be started."""
    schema: Any = declaration.parameters_json_schema
    properties = {**schema["properties"], "agent_name": {**schema["properties"]["agent_name"], "enum": list(names)}}
    return replace(declaration, parameters_json_schema={**schema, "properties": properties})
