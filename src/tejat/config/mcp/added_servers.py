"""MCP servers that the embedding program adds to those of the settings."""

from collections.abc import Mapping

from tejat.config.jsonc import parse_jsonc
from tejat.config.mcp.server_parser import parse_mcp_server
from tejat.config.paths import SourceTier
from tejat.config.settings.file import SettingKey, SettingsError, SettingsFile
from tejat.config.settings.types import McpServer, Setting
from tejat.core.errors import UsageError
from tejat.core.json_text import dump_json
from tejat.core.messages.types import JsonObject

_KEY = "mcp_servers"
_SOURCE = "the calling program"


def parse_added_servers(servers: Mapping[str, JsonObject]) -> dict[str, Setting[McpServer]]:
    """Parse servers in the format of the settings, as the user's own. Raises UsageError.

    A `$` in them means itself, except in `env`, whose values are expanded when a server starts.
    """
    members = parse_jsonc(dump_json({_KEY: servers})).value
    file = SettingsFile(_SOURCE, SourceTier.USER, members if isinstance(members, dict) else {}, lambda text: text)
    found = file.find(SettingKey(_KEY))
    entries = {} if found is None else found.members()
    try:
        return {name: Setting(parse_mcp_server(entry), _SOURCE, SourceTier.USER) for name, entry in entries.items()}
    except SettingsError as error:
        raise UsageError(error.problem if error.value is None else f"{error.value.text}.") from None
