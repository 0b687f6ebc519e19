"""Settings of editors, sessions and reports."""

from tejat.config.settings import parsers
from tejat.config.settings.file import SettingKey, SettingValue
from tejat.config.settings.merge import every_file, last_wins, without_project
from tejat.config.settings.schema.spec import SettingSpec

GENERAL_SETTINGS = (
    SettingSpec(
        "strict_settings",
        SettingKey("strictSettings"),
        SettingValue.boolean,
        without_project(last_wins),
        protects=True,
    ),
    SettingSpec(
        "preferred_editor",
        SettingKey("general.preferredEditor", "preferredEditor"),
        SettingValue.string,
        without_project(last_wins),
        is_text=True,
    ),
    SettingSpec("editor_new_window", SettingKey("general.openEditorInNewWindow"), SettingValue.boolean),
    SettingSpec("output_format", SettingKey("output.format"), parsers.parse_output_format),
    SettingSpec("notifications_enabled", SettingKey("general.enableNotifications"), SettingValue.boolean),
    SettingSpec("notification_method", SettingKey("general.notificationMethod"), parsers.parse_notification_method),
    SettingSpec("vim_mode", SettingKey("general.vimMode", "vimMode"), SettingValue.boolean),
    SettingSpec("session_server", SettingKey("sessions.server"), SettingValue.boolean, without_project(last_wins)),
    SettingSpec(
        "session_retention",
        SettingKey("general.sessionRetention"),
        parsers.parse_session_retention,
        without_project(last_wins),
    ),
    SettingSpec("telemetry", SettingKey("telemetry"), parsers.parse_telemetry, without_project(every_file)),
    SettingSpec(
        "bug_command",
        SettingKey("advanced.bugCommand.urlTemplate", "bugCommand.urlTemplate"),
        SettingValue.url,
        without_project(last_wins),
    ),
)
