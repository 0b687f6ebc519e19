"""Settings of hooks."""

from tejat.config.settings.file import SettingKey, SettingValue
from tejat.config.settings.merge import concatenate
from tejat.config.settings.schema.spec import SettingSpec

HOOK_SETTINGS = (
    SettingSpec("hooks", SettingKey("hooks"), SettingValue.raw_json, concatenate, protects=True),
    SettingSpec("hooks_switches", SettingKey("hooksConfig"), SettingValue.raw_json, concatenate),
)
