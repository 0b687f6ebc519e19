"""Effects of `admin.*` on the other settings, computed once when the settings are loaded."""

from collections.abc import Mapping

from tejat.config.paths import SourceTier
from tejat.config.settings.types import COMMAND_SERVER_NAME, McpServer, Setting, Settings
from tejat.core.errors import ConfigurationError
from tejat.core.frozen import replace
from tejat.core.i18n import lazy


def apply_admin_settings(settings: Settings) -> Settings:
    """The settings as far as the administrators' ones permit them.

    `admin.secureModeEnabled` switches off YOLO mode and lasting approvals. `admin.mcp.config` decides how servers are
    reached, and `admin.mcp.requiredConfig` adds servers. See `unlisted_source` for servers that are not permitted.
    """
    if settings.secure_mode.value:
        settings = replace(settings, yolo_disabled=settings.secure_mode, always_disabled=settings.secure_mode)
    if settings.mcp_admin_config or settings.mcp_required_config:
        servers = {name: _as_listed(name, local, settings) for name, local in settings.mcp_servers.items()}
        settings = replace(
            settings,
            mcp_servers={**servers, **required_servers(settings)},
        )
    return settings


def require_enabled(switch: Setting[bool], key: str) -> None:
    """Raise ConfigurationError if the switch of this key is off."""
    if not switch.value:
        raise ConfigurationError(lazy("{key} is false in {source}.", key=key, source=switch.source))


def require_mcp_enabled(settings: Settings) -> None:
    """Raise ConfigurationError if MCP servers are switched off."""
    if not settings.mcp_enabled.value:
        raise ConfigurationError(mcp_disabled_message(settings))


def mcp_disabled_message(settings: Settings) -> str:
    """Who switched MCP servers off."""
    return lazy(
        "MCP servers are turned off: admin.mcp.enabled is false in {source}.", source=settings.mcp_enabled.source
    )


def unlisted_source(settings: Settings, name: str) -> str | None:
    """The place of the list that keeps a server from being started because it does not name it, None if none does."""
    if name in required_servers(settings):
        return None
    # A command line has no name that a list could mean.
    is_command = name == COMMAND_SERVER_NAME and settings.mcp_server_command is not None
    return next((given.source for given in _lists(settings) if is_command or name not in given.value), None)


def required_servers(settings: Settings) -> dict[str, Setting[McpServer]]:
    """The servers of `admin.mcp.requiredConfig`. Only administrators can require one."""
    return {
        name: Setting(server, given.source, given.tier)
        for given in settings.mcp_required_config
        if given.tier is SourceTier.ADMIN
        for name, server in given.value.items()
    }


def _lists(settings: Settings) -> list[Setting[Mapping[str, McpServer]]]:
    """The lists that count: an empty one permits everything."""
    return [given for given in settings.mcp_admin_config if given.value]


def _as_listed(name: str, local: Setting[McpServer], settings: Settings) -> Setting[McpServer]:
    """The server as the administrator wants it reached; lists of others only name servers."""
    lists = [given for given in settings.mcp_admin_config if given.tier is SourceTier.ADMIN and name in given.value]
    if not lists:
        return local
    wanted = lists[-1].value[name]
    server = replace(
        local.value,
        url=wanted.url,
        type=wanted.type,
        is_trusted=wanted.is_trusted,
        command=None,
        arguments=(),
        environment={},
        directory=None,
        http_url=None,
        tcp=None,
    )
    if wanted.include_tools or wanted.exclude_tools:
        server = replace(server, include_tools=wanted.include_tools or None, exclude_tools=wanted.exclude_tools)
    return Setting(server, lists[-1].source, local.tier)
