"""The definition of a sub-agent from the front matter and the body of its file."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tejat.config.agents.errors import BrokenAgent
from tejat.config.agents.servers import parse_servers
from tejat.config.agents.tool_list import KnownTools, resolve_tools
from tejat.core.agent.subagents import SubagentDefinition
from tejat.core.i18n import lazy, lazy_plural
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.core.provenance import Provenance

MAX_BODY_BYTES = 64 * 1024
MAX_NAME_LENGTH = 64
MAX_TURNS = 200
MAX_MINUTES = 120
MAX_TEMPERATURE = 2.0
DEFAULT_TURNS = 30
DEFAULT_MINUTES = 10
NAME_PATTERN = r"[a-z0-9_-]+"

_SPELLINGS = {
    "displayName": "display_name",
    "mcpServers": "mcp_servers",
    "maxTurns": "max_turns",
    "timeoutMins": "timeout_mins",
    "disallowed_tools": "disallowedTools",
    "permission_mode": "permissionMode",
    "agentCardUrl": "agent_card_url",
    "agentCardJson": "agent_card_json",
}
"""Other accepted names of keys."""
_KEYS = frozenset(
    {
        *("name", "description", "display_name", "kind", "tools", "mcp_servers", "model", "temperature"),
        *("max_turns", "timeout_mins", "disallowedTools", "permissionMode"),
    }
)
_MAX_SHOWN = 60


class ParsedAgent(NamedTuple):
    """A definition, and what the user should know about its file."""

    definition: SubagentDefinition
    notes: tuple[str, ...]


def parse_definition(
    fields: Mapping[str, JsonValue], body: str, *, provenance: Provenance, known: KnownTools
) -> ParsedAgent:
    """Check the fields of a local agent and build its definition. Raises BrokenAgent."""
    given = normalize_keys(fields)
    reader = _FieldReader(given)
    name = parse_name(given, known)
    description = reader.text("description")
    if not description:
        raise BrokenAgent(lazy("it has no description"))
    if "hooks" in given:
        raise BrokenAgent(lazy("it has hooks, which agents cannot have here. Move them to the settings"))
    _check_body(body)
    notes = _unknown_keys(given)
    servers = _parse_servers(given, known, notes)
    model = reader.text("model")
    definition = SubagentDefinition(
        name,
        description,
        body,
        provenance,
        display_name=reader.text("display_name"),
        tools=_parse_tools(reader, known, servers, notes),
        excluded_tools=_parse_excluded_tools(reader, known, servers, notes),
        servers=servers,
        model=None if model in ("", "inherit") else model,
        temperature=reader.number("temperature", MAX_TEMPERATURE),
        max_turns=reader.count("max_turns", MAX_TURNS) or DEFAULT_TURNS,
        timeout_minutes=float(reader.count("timeout_mins", MAX_MINUTES) or DEFAULT_MINUTES),
        plan_only=_is_plan_only(reader, notes),
    )
    return ParsedAgent(definition, tuple(notes))


def normalize_keys(fields: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The fields by their documented names, without empty ones. Raises BrokenAgent for two spellings of one key."""
    given: dict[str, JsonValue] = {}
    for key, value in fields.items():
        name = _SPELLINGS.get(key, key)
        if name in given:
            raise BrokenAgent(lazy("{key} is defined twice", key=name))
        if value is not None or name == "hooks":
            given[name] = value
    return given


def parse_name(given: Mapping[str, JsonValue], known: KnownTools) -> str:
    """Raises BrokenAgent for a name that is missing, malformed, or that of a tool."""
    name = given.get("name")
    if not isinstance(name, str) or not name:
        raise BrokenAgent(lazy("it has no name"))
    if len(name) > MAX_NAME_LENGTH or not re.fullmatch(NAME_PATTERN, name):
        raise BrokenAgent(
            lazy(
                "the name {name!r} must consist of lower-case letters, digits, _ and -, at most {most}",
                name=name[:MAX_NAME_LENGTH],
                most=MAX_NAME_LENGTH,
            )
        )
    if known.takes(name):
        raise BrokenAgent(lazy("{name} is the name of a tool. Choose another one", name=name))
    return name


def _check_body(body: str) -> None:
    if not body.strip():
        raise BrokenAgent(lazy("it has no system prompt: the text after the front matter is empty"))
    if len(body.encode("utf-8", "surrogatepass")) > MAX_BODY_BYTES:
        raise BrokenAgent(lazy("its system prompt is larger than {size} KB", size=MAX_BODY_BYTES // 1024))


def _unknown_keys(given: Mapping[str, JsonValue]) -> list[str]:
    unknown = [key for key in given if key not in _KEYS]
    if not unknown:
        return []
    names = ", ".join(key[:_MAX_SHOWN] for key in unknown)
    return [
        lazy_plural(
            "unknown key {names}, which has no effect",
            "unknown keys {names}, which have no effect",
            len(unknown),
            names=names,
        )
    ]


def _parse_servers(given: Mapping[str, JsonValue], known: KnownTools, notes: list[str]) -> Mapping[str, JsonObject]:
    servers = parse_servers(given.get("mcp_servers"))
    if taken := sorted(known.servers & servers.entries.keys()):
        raise BrokenAgent(
            lazy("its MCP server {name} has the name of one in the settings. Choose another one", name=taken[0])
        )
    notes += servers.notes
    return servers.entries


def _parse_tools(
    reader: "_FieldReader", known: KnownTools, servers: Mapping[str, JsonObject], notes: list[str]
) -> tuple[str, ...] | None:
    listed = reader.names("tools")
    if listed is None:
        return None
    tools, unknown = resolve_tools(listed, known, servers)
    if unknown:
        names = ", ".join(name[:_MAX_SHOWN] for name in unknown)
        if not tools:
            raise BrokenAgent(lazy("none of its tools exist here: {names}", names=names))
        notes.append(
            lazy_plural(
                "unknown tool {names}, which is left out",
                "unknown tools {names}, which are left out",
                len(unknown),
                names=names,
            )
        )
    return tools


def _parse_excluded_tools(
    reader: "_FieldReader", known: KnownTools, servers: Mapping[str, JsonObject], notes: list[str]
) -> tuple[str, ...]:
    # A part of a tool, such as `Bash(rm:*)`, cannot be taken away: the whole tool is.
    listed = [name.partition("(")[0].strip() for name in reader.names("disallowedTools") or ()]
    tools, unknown = resolve_tools(listed, known, servers)
    if unknown:
        names = ", ".join(name[:_MAX_SHOWN] for name in unknown)
        notes.append(lazy("disallowedTools names unknown tools: {names}", names=names))
    return tools


def _is_plan_only(reader: "_FieldReader", notes: list[str]) -> bool:
    mode = reader.text("permissionMode")
    if mode not in ("", "plan", "default"):
        notes.append(
            lazy("permissionMode {mode} has no effect: an agent has the permissions of the session", mode=mode)
        )
    return mode == "plan"


class _FieldReader:
    """Typed access to fields. All methods raise BrokenAgent for a wrong value."""

    def __init__(self, given: Mapping[str, JsonValue]) -> None:
        self._given = given

    def text(self, key: str) -> str:
        """A text on one line, empty if it is missing."""
        value = self._given.get(key, "")
        if not isinstance(value, str):
            raise BrokenAgent(lazy("{key} must be a text", key=key))
        return value.strip()

    def names(self, key: str) -> list[str] | None:
        """A list of names, or a text with commas. None if it is missing."""
        value = self._given.get(key)
        if value is None:
            return None
        items: Sequence[JsonValue] = value.split(",") if isinstance(value, str) else ()
        if isinstance(value, list):
            items = value
        elif not isinstance(value, str):
            raise BrokenAgent(lazy("{key} must be a list of names", key=key))
        names = [item.strip() for item in items if isinstance(item, str)]
        if len(names) < len(items):
            raise BrokenAgent(lazy("{key} must be a list of names", key=key))
        return [name for name in names if name]

    def number(self, key: str, maximum: float) -> float | None:
        """A number from 0 to `maximum`, None if it is missing."""
        value = self._given.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= maximum:
            raise BrokenAgent(lazy("{key} must be a number from 0 to {most:g}", key=key, most=maximum))
        return float(value)

    def count(self, key: str, maximum: int) -> int | None:
        """An integer from 1 to `maximum`, None if it is missing."""
        value = self._given.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= maximum:
            raise BrokenAgent(lazy("{key} must be an integer from 1 to {most}", key=key, most=maximum))
        return value
