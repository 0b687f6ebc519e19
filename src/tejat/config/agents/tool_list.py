"""Tools in the file of a sub-agent: names of this program, of Claude Code, and patterns."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from tejat.core.frozen import Frozen
from tejat.core.tools.claude_names import CLAUDE_TOOL_NAMES

ALL_TOOLS = "*"
ALL_SERVERS = "mcp_*"
"""Every tool of every MCP server."""

_FROM_CLAUDE = {other: name for name, other in CLAUDE_TOOL_NAMES.items()}


class KnownTools(Frozen):
    """The tools of a session, as far as they are known when agents are read.

    `names` maps every spelling of a tool to its name. `servers` are the configured MCP servers, whose tools appear
    later. With `has_discovery`, a command may add tools of any name.
    """

    names: Mapping[str, str] = MappingProxyType({})
    servers: frozenset[str] = frozenset()
    has_discovery: bool = False

    def takes(self, name: str) -> bool:
        """Whether a tool has this name, or may have it later."""
        server, separator, _tool = name.partition("__")
        return name in self.names or bool(separator and server in self.servers)


class ToolList(NamedTuple):
    """The listed tools by the names they have here, and what is left of the list: names of no tool."""

    tools: tuple[str, ...]
    unknown: tuple[str, ...]


def resolve_tools(listed: Sequence[str], known: KnownTools, own_servers: Iterable[str] = ()) -> ToolList:
    """Resolve names and patterns. Tools of servers become `SERVER__TOOL`, all tools of one `SERVER__*`."""
    servers = known.servers | set(own_servers)
    tools: dict[str, None] = {}
    unknown: list[str] = []
    for name in listed:
        found = _resolve(name, known, servers)
        if found is None:
            unknown.append(name)
        else:
            tools[found] = None
    return ToolList(tuple(tools), tuple(unknown))


def intersect_tools(first: Sequence[str] | None, second: Sequence[str]) -> tuple[str, ...]:
    """The resolved tools and patterns that both lists have. None is a list of all tools."""
    if first is None:
        return tuple(second)
    common = [name for name in first if _covers(second, name)]
    return tuple(dict.fromkeys([*common, *(name for name in second if _covers(first, name))]))


def _covers(patterns: Sequence[str], name: str) -> bool:
    server, separator, _tool = name.partition("__")
    is_of_server = bool(separator) and (ALL_SERVERS in patterns or f"{server}__*" in patterns)
    return name in patterns or ALL_TOOLS in patterns or is_of_server


def _resolve(name: str, known: KnownTools, servers: frozenset[str]) -> str | None:
    if name == ALL_TOOLS:
        return ALL_TOOLS
    if name in (ALL_SERVERS, "mcp__*"):
        return ALL_SERVERS
    if name in known.names:
        return known.names[name]
    if _FROM_CLAUDE.get(name) in known.names:
        return known.names[_FROM_CLAUDE[name]]
    if found := _resolve_server_tool(name, servers):
        return found
    is_plain = "__" not in name and "(" not in name and not name.startswith("mcp_")
    return name if known.has_discovery and is_plain else None


def _resolve_server_tool(name: str, servers: frozenset[str]) -> str | None:
    """`SERVER__TOOL` for the spellings of a tool of a server: with `mcp__` or `mcp_` before it, or as it is."""
    server, separator, tool = name.removeprefix("mcp__").partition("__")
    if separator and tool and server in servers:
        return f"{server}__{tool}"
    if name.startswith("mcp_"):
        rest = name.removeprefix("mcp_")
        # The longest name: one server may be called like the beginning of another.
        for server in sorted(servers, key=len, reverse=True):
            if rest.startswith(f"{server}_") and len(rest) > len(server) + 1:
                return f"{server}__{rest[len(server) + 1 :]}"
    return None
