"""The result of `tools/list`."""

from tejat.core.approval.user_question import ASK_USER
from tejat.core.messages.types import JsonValue
from tejat.core.tools.base import READ_ONLY_KINDS, Kind
from tejat.engine.calls.scheduler import Scheduler

_BUILT_IN = "built-in"
_ADDITIVE_KINDS = frozenset({Kind.THINK, Kind.PLAN, Kind.COMMUNICATE, Kind.SWITCH_MODE})
"""Kinds of tools that destroy nothing."""
_OPEN_WORLD_KINDS = frozenset({Kind.FETCH, Kind.EXECUTE, Kind.AGENT, Kind.COMMUNICATE, Kind.OTHER})
_OPEN_WORLD_TOOLS = frozenset({"google_web_search"})
_IDEMPOTENT_TOOLS = frozenset({"write_file"})


def list_tools(scheduler: Scheduler, *, can_ask: bool) -> list[JsonValue]:
    """Return all permitted tools in registry order, without loading them. `can_ask`: the client has elicitation."""
    return [
        {
            "name": entry.name,
            "title": entry.display_name,
            "description": entry.declaration.description,
            "inputSchema": entry.declaration.parameters_json_schema,
            "annotations": _annotations(entry.name, entry.kind, is_ours=entry.source == _BUILT_IN)
            | {"title": entry.display_name},
        }
        for entry in scheduler.registry.entries()
        if entry.is_declared() and not scheduler.permission.policy.hides(entry.name)
        if can_ask or entry.name != ASK_USER
    ]


def is_offered(scheduler: Scheduler, name: str) -> bool:
    return name in scheduler.registry and not scheduler.permission.policy.hides(name)


def _annotations(name: str, kind: Kind, *, is_ours: bool) -> dict[str, JsonValue]:
    """Derive the annotations from the kind. External tools get the cautious ones."""
    only_reads = kind in READ_ONLY_KINDS and is_ours
    return {
        "readOnlyHint": only_reads,
        "destructiveHint": not only_reads and not (kind in _ADDITIVE_KINDS and is_ours),
        "idempotentHint": only_reads or name in _IDEMPOTENT_TOOLS,
        "openWorldHint": not is_ours or kind in _OPEN_WORLD_KINDS or name in _OPEN_WORLD_TOOLS,
    }
