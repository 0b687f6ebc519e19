"""Settings of the sandbox."""

from tejat.config.settings.file import SettingKey, SettingValue
from tejat.config.settings.merge import every_file, last_wins, project_may_tighten, strict_value_wins, without_project
from tejat.config.settings.sandbox import merge_sandbox, parse_absolute_paths, parse_sandbox
from tejat.config.settings.schema.spec import SettingSpec

SANDBOX_SETTINGS = (
    SettingSpec(
        "sandbox", SettingKey("tools.sandbox", "sandbox"), parse_sandbox, merge_sandbox, protects=True, is_text=True
    ),
    SettingSpec(
        "sandbox_network",
        SettingKey("tools.sandboxNetworkAccess"),
        SettingValue.boolean,
        project_may_tighten(True, False),
        protects=True,
    ),
    SettingSpec(
        "sandbox_allowed_paths",
        SettingKey("tools.sandboxAllowedPaths"),
        parse_absolute_paths,
        every_file,
        protects=True,
    ),
    SettingSpec(
        "sandbox_image", SettingKey("sandbox.image"), SettingValue.string, without_project(last_wins), is_text=True
    ),
    SettingSpec(
        "tool_sandboxing",
        SettingKey("security.toolSandboxing"),
        SettingValue.boolean,
        strict_value_wins(strict=True),
        protects=True,
    ),
)
