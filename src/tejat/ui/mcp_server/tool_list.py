"""The result of `tools/list`."""

from tejat.core.messages.declaration import READ_ONLY_KINDS, Kind
from tejat.core.messages.tool_names import ASK_USER, PLAN_TOOLS, WRITE_TODOS
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.ui.mcp_server.client_workspace import ClientTools
from tejat.ui.mcp_server.tool_result import FIRST_WITH_STRUCTURE

_BUILT_IN = "built-in"
_ADDITIVE_KINDS = frozenset({Kind.THINK, Kind.PLAN, Kind.COMMUNICATE, Kind.SWITCH_MODE})
"""Kinds of tools that destroy nothing."""
_OPEN_WORLD_KINDS = frozenset({Kind.FETCH, Kind.EXECUTE, Kind.AGENT, Kind.COMMUNICATE, Kind.OTHER})
_OPEN_WORLD_TOOLS = frozenset({"google_web_search"})
_IDEMPOTENT_TOOLS = frozenset({"write_file", WRITE_TODOS})
_ASKING_TOOLS = frozenset({ASK_USER, *PLAN_TOOLS})
"""Tools that need a client with elicitation."""
_SESSION_TOOLS = frozenset({WRITE_TODOS})
"""Tools that reach nothing but the session."""


def list_tools(tools: ClientTools, *, can_ask: bool, revision: str) -> list[JsonValue]:
    """Return all permitted tools in registry order, without loading them. `can_ask`: the client has elicitation."""
    return [
        {
            "name": entry.name,
            "title": entry.display_name,
            "description": entry.declaration.description,
            "inputSchema": entry.declaration.parameters_json_schema,
            "annotations": _annotations(entry.name, entry.kind, is_ours=entry.source == _BUILT_IN)
            | {"title": entry.display_name},
            **_output_schema(entry.name, entry.declaration.parameters_json_schema, revision),
        }
        for entry in tools.scheduler.registry.entries()
        if entry.is_declared() and tools.offers(entry.name)
        if can_ask or entry.name not in _ASKING_TOOLS
    ]


def is_offered(tools: ClientTools, name: str, *, can_ask: bool) -> bool:
    """Whether a client may call a tool. Without a person to approve the plan, plan mode could not be left."""
    return tools.offers(name) and (can_ask or name not in PLAN_TOOLS)


def _output_schema(name: str, input_schema: JsonObject, revision: str) -> dict[str, JsonValue]:
    """The schema of structured content. The list of todos is returned as it was given."""
    return {"outputSchema": input_schema} if name == WRITE_TODOS and revision >= FIRST_WITH_STRUCTURE else {}


def _annotations(name: str, kind: Kind, *, is_ours: bool) -> dict[str, JsonValue]:
    """Derive the annotations from the kind. External tools get the cautious ones."""
    only_reads = kind in READ_ONLY_KINDS and is_ours
    is_session = name in _SESSION_TOOLS and is_ours
    return {
        "readOnlyHint": only_reads,
        "destructiveHint": not only_reads and not is_session and not (kind in _ADDITIVE_KINDS and is_ours),
        "idempotentHint": only_reads or name in _IDEMPOTENT_TOOLS,
        "openWorldHint": not is_session and (not is_ours or kind in _OPEN_WORLD_KINDS or name in _OPEN_WORLD_TOOLS),
    }
