"""All settings. A row in one of these modules and a field in `Settings` make a setting."""

from tejat.config.settings.file import SettingKey
from tejat.config.settings.schema.admin import ADMIN_SETTINGS
from tejat.config.settings.schema.context import CONTEXT_SETTINGS
from tejat.config.settings.schema.extensions import EXTENSION_SETTINGS
from tejat.config.settings.schema.general import GENERAL_SETTINGS
from tejat.config.settings.schema.hooks import HOOK_SETTINGS
from tejat.config.settings.schema.mcp import MCP_SETTINGS
from tejat.config.settings.schema.model import MODEL_SETTINGS
from tejat.config.settings.schema.model_configs import MODEL_CONFIG_SETTINGS
from tejat.config.settings.schema.sandbox import SANDBOX_SETTINGS
from tejat.config.settings.schema.security import SECURITY_SETTINGS
from tejat.config.settings.schema.tools import TOOL_SETTINGS
from tejat.config.settings.schema.ui import UI_SETTINGS

SETTINGS = (
    *TOOL_SETTINGS,
    *SANDBOX_SETTINGS,
    *MCP_SETTINGS,
    *MODEL_SETTINGS,
    *MODEL_CONFIG_SETTINGS,
    *CONTEXT_SETTINGS,
    *GENERAL_SETTINGS,
    *UI_SETTINGS,
    *SECURITY_SETTINGS,
    *HOOK_SETTINGS,
    *EXTENSION_SETTINGS,
    *ADMIN_SETTINGS,
)


def setting_key(name: str) -> SettingKey:
    """The names of the setting whose present name this is."""
    return next((row.key for row in SETTINGS if row.key.names[0] == name), SettingKey(name))
