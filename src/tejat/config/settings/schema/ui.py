"""Settings of the terminal."""

from tejat.config.settings import parsers
from tejat.config.settings.file import SettingKey, SettingValue
from tejat.config.settings.merge import last_wins, merge_by_name, project_may_tighten, without_project
from tejat.config.settings.schema.spec import SettingSpec

UI_SETTINGS = (
    SettingSpec("theme", SettingKey("ui.theme", "theme"), SettingValue.string, is_text=True),
    SettingSpec("auto_theme", SettingKey("ui.autoThemeSwitching"), SettingValue.boolean),
    SettingSpec(
        "custom_themes", SettingKey("ui.customThemes", "customThemes"), parsers.parse_custom_theme, merge_by_name
    ),
    SettingSpec("uses_backgrounds", SettingKey("ui.useBackgroundColor"), SettingValue.boolean),
    SettingSpec("shows_line_numbers", SettingKey("ui.showLineNumbers", "showLineNumbers"), SettingValue.boolean),
    SettingSpec(
        "screen_reader",
        SettingKey("ui.screenReader", "ui.accessibility.screenReader", "accessibility.screenReader"),
        SettingValue.boolean,
        without_project(last_wins),
    ),
    SettingSpec(
        "escape_pasted_at",
        SettingKey("ui.escapePastedAtSymbols"),
        SettingValue.boolean,
        project_may_tighten(False, True),
        protects=True,
    ),
    SettingSpec("animations", SettingKey("ui.animations", "ui.showSpinner"), SettingValue.boolean),
    SettingSpec("inline_thinking", SettingKey("ui.inlineThinkingMode"), parsers.parse_inline_thinking),
    SettingSpec("compact_tool_output", SettingKey("ui.compactToolOutput"), SettingValue.boolean),
    SettingSpec("shows_model_in_chat", SettingKey("ui.showModelInfoInChat"), SettingValue.boolean),
    SettingSpec("hides_banner", SettingKey("ui.hideBanner", "hideBanner"), SettingValue.boolean),
    SettingSpec("hides_tips", SettingKey("ui.hideTips", "hideTips"), SettingValue.boolean),
    SettingSpec("hides_window_title", SettingKey("ui.hideWindowTitle", "hideWindowTitle"), SettingValue.boolean),
    SettingSpec("dynamic_window_title", SettingKey("ui.dynamicWindowTitle"), SettingValue.boolean),
    SettingSpec("shows_status_in_title", SettingKey("ui.showStatusInTitle", "showStatusInTitle"), SettingValue.boolean),
    SettingSpec("footer_items", SettingKey("ui.footer.items"), parsers.parse_status_items),
    SettingSpec("footer_hides_folder", SettingKey("ui.footer.hideCWD", "hideCWD"), SettingValue.boolean),
    SettingSpec(
        "footer_hides_sandbox", SettingKey("ui.footer.hideSandboxStatus", "hideSandboxStatus"), SettingValue.boolean
    ),
    SettingSpec("footer_hides_model", SettingKey("ui.footer.hideModelInfo", "hideModelInfo"), SettingValue.boolean),
    SettingSpec("footer_hides_context", SettingKey("ui.footer.hideContextPercentage"), SettingValue.boolean),
    SettingSpec("hides_footer", SettingKey("ui.hideFooter", "hideFooter"), SettingValue.boolean),
    SettingSpec("home_directory_warning", SettingKey("ui.showHomeDirectoryWarning"), SettingValue.boolean),
)
