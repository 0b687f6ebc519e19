"""MCP servers of extensions beside those of the settings."""

from collections.abc import Mapping

from tejat.config.env_expansion import env_resolver
from tejat.config.extensions.active import ActiveExtension
from tejat.config.paths import SourceTier
from tejat.config.settings.admin import apply_admin_settings
from tejat.config.settings.types import McpServer, Setting, Settings
from tejat.core.frozen import fields_of, replace
from tejat.core.i18n import lazy

ExtensionServers = Mapping[str, Setting[McpServer]]

_CONNECTIONS = ("command", "url", "http_url", "tcp")
_MERGED = ("environment", "exclude_tools", "include_tools", "extension_name", "unknown_fields")


def merge_servers(
    settings: Settings, found: list[tuple[ActiveExtension, ExtensionServers]], environment: Mapping[str, str]
) -> tuple[Settings, list[str]]:
    """Add the servers of extensions, which are in order of their names. Returns the settings, and notes.

    An entry of the user or the administrator is laid over that of an extension, a project's is refused. Of two
    extensions with the same alias the first counts.
    """
    servers = dict(settings.mcp_servers)
    owners: dict[str, str] = {}
    conflicts = list(settings.mcp_name_conflicts)
    notes: list[str] = []
    for extension, added in found:
        for alias, given in added.items():
            if alias in owners:
                notes.append(
                    lazy(
                        "The MCP server {alias} of the extension {name} is not used: the extension {other} has one of "
                        "this name.",
                        alias=alias,
                        name=extension.name,
                        other=owners[alias],
                    )
                )
                continue
            owners[alias] = extension.name
            own = servers.get(alias)
            if own is not None and own.tier is SourceTier.WORKSPACE:
                conflicts.append(Setting(alias, own.source, own.tier))
                own = None
            server = replace(given.value, extension_name=extension.name)
            servers[alias] = replace(given, value=server) if own is None else _lay_over(given, server, own, environment)
    merged = replace(settings, mcp_servers=servers, mcp_name_conflicts=tuple(conflicts))
    return apply_admin_settings(merged), notes


def _lay_over(
    given: Setting[McpServer], server: McpServer, own: Setting[McpServer], environment: Mapping[str, str]
) -> Setting[McpServer]:
    """The server of an extension with the fields of the user's entry over it. It stays the extension's."""
    above, defaults = own.value, McpServer()
    changes = {
        each.name: getattr(above, each.name)
        for each in fields_of(McpServer)
        if each.name not in _MERGED and getattr(above, each.name) != getattr(defaults, each.name)
    }
    if any(name in changes for name in _CONNECTIONS):
        # One of them would have precedence over the user's.
        changes |= {name: getattr(above, name) for name in _CONNECTIONS}
    resolve = env_resolver(environment, own.tier, unset="")
    variables = {**server.environment, **{name: resolve(value) for name, value in above.environment.items()}}
    merged = replace(server, **changes, **_lists(server, above), environment=variables)
    return Setting(merged, own.source, given.tier)


def _lists(server: McpServer, above: McpServer) -> dict[str, object]:
    excluded = tuple(dict.fromkeys((*server.exclude_tools, *above.exclude_tools)))
    included = server.include_tools if above.include_tools is None else above.include_tools
    if server.include_tools is not None and above.include_tools is not None:
        included = tuple(name for name in server.include_tools if name in above.include_tools)
    return {"exclude_tools": excluded, "include_tools": included}
