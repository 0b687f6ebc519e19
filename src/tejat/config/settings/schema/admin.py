"""Settings of administrators. Everybody may use them, and no file can take back what another one forbids."""

from tejat.config.mcp.server_parser import parse_allowed_servers, parse_required_servers
from tejat.config.settings.file import SettingKey, SettingValue
from tejat.config.settings.merge import every_file, strict_value_wins
from tejat.config.settings.schema.spec import SettingSpec

_unless_forbidden = strict_value_wins(strict=False)

ADMIN_SETTINGS = (
    SettingSpec(
        "secure_mode",
        SettingKey("admin.secureModeEnabled"),
        SettingValue.boolean,
        strict_value_wins(strict=True),
        protects=True,
    ),
    SettingSpec(
        "extensions_enabled",
        SettingKey("admin.extensions.enabled"),
        SettingValue.boolean,
        _unless_forbidden,
        protects=True,
    ),
    SettingSpec(
        "skills_enabled", SettingKey("admin.skills.enabled"), SettingValue.boolean, _unless_forbidden, protects=True
    ),
    SettingSpec("mcp_enabled", SettingKey("admin.mcp.enabled"), SettingValue.boolean, _unless_forbidden, protects=True),
    SettingSpec("mcp_admin_config", SettingKey("admin.mcp.config"), parse_allowed_servers, every_file, protects=True),
    SettingSpec(
        "mcp_required_config", SettingKey("admin.mcp.requiredConfig"), parse_required_servers, every_file, protects=True
    ),
)
