"""Settings of approvals, trust, authentication and the environment."""

from tejat.config.settings import parsers
from tejat.config.settings.file import SettingKey, SettingValue
from tejat.config.settings.merge import last_wins, project_may_tighten, union, without_project
from tejat.config.settings.schema.spec import SettingSpec

SECURITY_SETTINGS = (
    SettingSpec(
        "yolo_disabled",
        SettingKey("security.disableYoloMode"),
        SettingValue.boolean,
        project_may_tighten(False, True),
        protects=True,
    ),
    SettingSpec(
        "folder_trust",
        SettingKey("security.folderTrust.enabled", "folderTrust"),
        SettingValue.boolean,
        without_project(last_wins),
        protects=True,
    ),
    SettingSpec(
        "auth_type",
        SettingKey("security.auth.selectedType", "selectedAuthType"),
        SettingValue.string,
        without_project(last_wins),
    ),
    SettingSpec(
        "excluded_environment",
        SettingKey("advanced.excludedEnvVars", "excludedProjectEnvVars"),
        parsers.parse_variable_names,
        union,
        protects=True,
    ),
)
