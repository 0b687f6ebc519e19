"""Settings of hooks."""

from tejat.config.settings import parsers
from tejat.config.settings.file import SettingKey
from tejat.config.settings.merge import concatenate
from tejat.config.settings.schema.spec import SettingSpec

HOOK_SETTINGS = (
    SettingSpec("hooks", SettingKey("hooks"), parsers.parse_hook_entry, concatenate, protects=True),
    SettingSpec("hooks_switches", SettingKey("hooksConfig"), parsers.parse_hook_entry, concatenate),
)
