"""Settings of MCP servers."""

from tejat.config.mcp.server_parser import parse_mcp_server
from tejat.config.settings import parsers
from tejat.config.settings.file import SettingKey, SettingValue
from tejat.config.settings.merge import intersection, merge_servers, union
from tejat.config.settings.schema.spec import SettingSpec

MCP_SETTINGS = (
    SettingSpec(
        "mcp_allowed", SettingKey("mcp.allowed", "allowMCPServers"), SettingValue.strings, intersection, protects=True
    ),
    SettingSpec(
        "mcp_excluded",
        SettingKey("mcp.excluded", "excludeMCPServers"),
        SettingValue.strings,
        union,
        protects=True,
        restricts=True,
    ),
    SettingSpec("mcp_servers", SettingKey("mcpServers"), parse_mcp_server, merge_servers, protects=True),
    SettingSpec(
        "mcp_server_command",
        SettingKey("mcp.serverCommand", "mcpServerCommand"),
        parsers.parse_command,
        must_be_valid=True,
        is_text=True,
    ),
)
